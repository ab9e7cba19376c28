package alerts_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
	"linkwatch/models/modelstest"
)

func TestChannelKeepsItsAddressSecret(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("ops")
		a, err := w.Address(c)
		w.ok(err)
		if a.URL != "https://hooks.test/ops" || a.Secret != "secret-of-ops" {
			w.Errorf("%+v", a)
		}
		other := c
		other.ID = models.NewID(models.KindChannel)
		_, err = w.Address(other)
		w.code(err, models.CodeConflict)
		for name, n := range map[string]alerts.NewChannel{
			"no URL":            {Kind: alerts.KindWebhook},
			"no web address":    {Kind: alerts.KindWebhook, Address: alerts.Address{URL: "ftp://a.test"}},
			"a short secret":    {Kind: alerts.KindWebhook, Address: alerts.Address{URL: "https://a.test", Secret: "short"}},
			"secret of another": {Kind: "slack", Address: alerts.Address{URL: "slack://x", Secret: "long enough"}},
			"a long name":       {Kind: alerts.KindWebhook, Name: strings.Repeat("x", 201), Address: alerts.Address{URL: "https://a.test"}},
		} {
			_, err := w.AddChannel(w.Context(), n)
			w.code(err, models.CodeInvalid)
			if err != nil && strings.Contains(err.Error(), "short\"") {
				w.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestChannelIsDeletedAndRestored(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("ops")
		w.rule(c)
		w.ok(w.DeleteChannel(w.Context(), c.ID))
		_, err := w.Channel(w.Context(), c.ID)
		w.code(err, models.CodeNotFound)
		w.happen(w.down("shop@a.test", 1))
		w.expect(c)
		_, err = w.RestoreChannel(w.Context(), c.ID)
		w.ok(err)
		w.ok(w.DeleteChannel(w.Context(), c.ID))
		w.clock.Advance(alerts.KeepDeleted + time.Second)
		_, err = w.RestoreChannel(w.Context(), c.ID)
		w.code(err, models.CodeNotFound)
	})
}

func TestRulesAreChecked(t *testing.T) {
	each(t, func(w *world) {
		w.facts.gone = []string{targetID("gone")}
		c := w.channel("ops")
		for location, spoil := range map[string]func(*alerts.Rule){
			"events":                 func(r *alerts.Rule) { r.Events = nil },
			"events[0]":              func(r *alerts.Rule) { r.Events = alerts.List{"target.gone"} },
			"channels":               func(r *alerts.Rule) { r.Channels = nil },
			"channels[0]":            func(r *alerts.Rule) { r.Channels = alerts.List{models.NewID(models.KindChannel)} },
			"targets[0]":             func(r *alerts.Rule) { r.Scope.Targets = alerts.List{"shop"} },
			"targets[1]":             func(r *alerts.Rule) { r.Scope.Targets = alerts.List{targetID("shop"), targetID("gone")} },
			"status_pages[0]":        func(r *alerts.Rule) { r.Scope.StatusPages = alerts.List{"shop"} },
			"after_failures":         func(r *alerts.Rule) { r.AfterFailures = 11 },
			"repeat_minutes":         func(r *alerts.Rule) { r.RepeatMinutes = -1 },
			"quiet.from":             func(r *alerts.Rule) { r.Quiet = alerts.Quiet{From: "25:00", To: "07:00"} },
			"quiet.to":               func(r *alerts.Rule) { r.Quiet = alerts.Quiet{From: "22:00"} },
			"quiet.time_zone":        func(r *alerts.Rule) { r.Quiet = alerts.Quiet{From: "22:00", To: "07:00", TimeZone: "Mars/Olympus"} },
			"escalate.channels":      func(r *alerts.Rule) { r.EscalateAfterMinutes = 5 },
			"escalate.after_minutes": func(r *alerts.Rule) { r.EscalateAfterMinutes = 1 << 20 },
		} {
			r := alerts.Rule{Name: "Rule", Events: alerts.List{"target.down"}, Channels: alerts.List{c.ID}, AfterFailures: 1}
			spoil(&r)
			_, err := w.AddRule(w.Context(), r)
			e, ok := err.(*models.Error) //nolint:errorlint // stores return it unwrapped
			if !ok || e.Code != models.CodeInvalid || e.Fields[0].Location != location {
				w.Errorf("%s: %v", location, err)
			}
		}
	})
}

func TestRuleWithADeletedChannelCanBeChanged(t *testing.T) {
	each(t, func(w *world) {
		c, d := w.channel("c"), w.channel("d")
		r := w.rule(c, func(r *alerts.Rule) { r.Channels = alerts.List{c.ID, d.ID} })
		w.ok(w.DeleteChannel(w.Context(), d.ID))
		r, err := w.EditRule(w.Context(), r.ID, func(r *alerts.Rule) { r.Name = "Renamed" })
		w.ok(err)
		if len(r.Channels) != 1 || r.Channels[0] != c.ID || r.Name != "Renamed" {
			w.Errorf("%+v", r)
		}
		w.ok(w.DeleteRule(w.Context(), r.ID))
		w.happen(w.down("shop@a.test", 1))
		w.expect(c)
	})
}

// A rule whose channels were all deleted can be renamed and disabled. A user cannot remove its last existing channel.
func TestRuleWithoutAnyChannelCanBeChanged(t *testing.T) {
	each(t, func(w *world) {
		c, boss := w.channel("c"), w.channel("boss")
		r := w.rule(c, func(r *alerts.Rule) { r.EscalateAfterMinutes, r.EscalateChannels = 5, alerts.List{boss.ID} })
		edit := func(fn func(*alerts.Rule)) error {
			var err error
			r, err = w.EditRule(w.Context(), r.ID, fn)
			return err
		}
		none := func(r *alerts.Rule) { r.Channels = nil }
		w.code(edit(none), models.CodeInvalid)
		r, err := w.Rule(w.Context(), r.ID)
		w.ok(err)
		w.ok(w.DeleteChannel(w.Context(), c.ID))
		w.ok(edit(func(r *alerts.Rule) { r.Name = "Renamed" }))
		w.ok(edit(func(r *alerts.Rule) { r.Enabled = false }))
		w.ok(edit(none))
		if r.Name != "Renamed" || r.Enabled || len(r.Channels) != 0 || len(r.EscalateChannels) != 1 || r.EscalateAfterMinutes != 5 {
			w.Errorf("%+v", r)
		}
		w.ok(w.DeleteChannel(w.Context(), boss.ID))
		w.ok(edit(func(r *alerts.Rule) { r.Enabled = true }))
		if len(r.EscalateChannels) != 0 || r.EscalateAfterMinutes != 0 {
			w.Errorf("%+v", r)
		}
		w.code(edit(func(r *alerts.Rule) { r.Channels = alerts.List{c.ID} }), models.CodeInvalid)
	})
}

// Restored settings count towards the limit.
func TestRestoringKeepsTheLimit(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		copies := func(table string, n int) {
			columns := map[string]string{
				"channels":    "name, kind, config, enabled, created_at, updated_at, last_error, failures",
				"alert_rules": "name, events, targets, tags, status_pages, channels, after_failures, after_minutes, repeat_minutes, quiet_from, quiet_to, quiet_time_zone, escalate_after_minutes, escalate_channels, enabled, created_at, updated_at",
				"maintenance": "name, targets, tags, status_pages, starts_at, ends_at, repeat, time_zone, created_at, updated_at",
			}[table]
			modelstest.Exec(w, w.db, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < `+fmt.Sprint(n)+`)
				INSERT INTO `+table+` (id, `+columns+`) SELECT 'copy-' || i, `+columns+` FROM n CROSS JOIN (SELECT * FROM `+table+` ORDER BY seq LIMIT 1) AS first`)
		}
		r := w.rule(c)
		m, err := w.AddMaintenance(w.Context(), alerts.Maintenance{StartsAt: w.Now(), EndsAt: w.Now().Add(time.Hour)})
		w.ok(err)
		w.ok(w.DeleteChannel(w.Context(), c.ID))
		w.ok(w.DeleteRule(w.Context(), r.ID))
		w.ok(w.DeleteMaintenance(w.Context(), m.ID))
		for table, most := range map[string]int{"channels": alerts.MaxChannels, "alert_rules": alerts.MaxRules, "maintenance": alerts.MaxWindows} {
			copies(table, most)
		}
		restores := []func() error{
			func() error { _, err := w.RestoreChannel(w.Context(), c.ID); return err },
			func() error { _, err := w.RestoreRule(w.Context(), r.ID); return err },
			func() error { _, err := w.RestoreMaintenance(w.Context(), m.ID); return err },
		}
		for _, restore := range restores {
			w.code(restore(), models.CodeConflict)
		}
		for _, table := range []string{"channels", "alert_rules", "maintenance"} {
			modelstest.Exec(w, w.db, "DELETE FROM "+table+" WHERE id = 'copy-7'")
		}
		for _, restore := range restores {
			w.ok(restore())
		}
	})
}

func TestWindowsAreChecked(t *testing.T) {
	each(t, func(w *world) {
		for location, m := range map[string]alerts.Maintenance{
			"starts_at": {EndsAt: w.Now()},
			"ends_at":   {StartsAt: w.Now(), EndsAt: w.Now()},
			"repeat":    {StartsAt: w.Now(), EndsAt: w.Now().Add(time.Hour), Repeat: "daily"},
			"time_zone": {StartsAt: w.Now(), EndsAt: w.Now().Add(time.Hour), TimeZone: "Nowhere"},
		} {
			_, err := w.AddMaintenance(w.Context(), m)
			e, ok := err.(*models.Error) //nolint:errorlint // stores return it unwrapped
			if !ok || e.Code != models.CodeInvalid || e.Fields[0].Location != location {
				w.Errorf("%s: %v", location, err)
			}
		}
	})
}

// The number of statements does not depend on the number of events.
func TestStatementsDoNotDependOnTheNumberOfEvents(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c, func(r *alerts.Rule) { r.Scope.Tags = alerts.List{"prod"} })
		w.facts.tags = map[string][]string{}
		sent := func(kind string, n int) int64 {
			var events []event.Event
			for i := range n {
				e := w.down(fmt.Sprintf("%s%d@%s%d.test", kind, i, kind, i), 1)
				w.facts.tags[e.URL] = []string{"prod"}
				events = append(events, e)
			}
			queries := modelstest.Queries(w, w.db)
			w.happen(events...)
			return queries.Load()
		}
		if few, many := sent("a", 2), sent("b", 90); few != many {
			w.Errorf("%d statements for 2 events, %d for 90", few, many)
		}
	})
}
