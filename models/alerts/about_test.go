package alerts_test

import (
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/alerts"
)

func TestAlertsAndRulesOfATarget(t *testing.T) {
	each(t, func(w *world) {
		ctx, to := w.Context(), w.channel("ops")
		target, other := models.NewID(models.KindTarget), models.NewID(models.KindTarget)
		w.rule(to)
		w.rule(to, func(r *alerts.Rule) { r.Name, r.Scope.Targets = "Named", alerts.List{target} })
		w.rule(to, func(r *alerts.Rule) { r.Name, r.Scope.Tags = "Tagged", alerts.List{"Ops❤\ufe0f"} })
		w.rule(to, func(r *alerts.Rule) { r.Name, r.Events = "Of pages", alerts.List{"page.changed"} })
		w.rule(to, func(r *alerts.Rule) { r.Name, r.Enabled = "Off", false })
		w.facts.tags = map[string][]string{"https://b.test/": {"ops❤"}}
		for of, want := range map[alerts.Target]int{{ID: target, CanonicalURL: "https://a.test/"}: 2, {ID: other, CanonicalURL: "https://b.test/"}: 2, {ID: other, CanonicalURL: "https://c.test/"}: 1} {
			rules, err := w.RulesForTarget(ctx, of)
			w.ok(err)
			if len(rules) != want {
				w.Errorf("%d rules cover %s, want %d", len(rules), of.CanonicalURL, want)
			}
		}
		if got := w.DefaultTargetEvents(); len(got) != 2 {
			w.Errorf("the defaults of targets are %v", got)
		}
		open, err := w.OpenForTarget(ctx, target)
		w.ok(err)
		counts, err := w.Counts(ctx)
		w.ok(err)
		waiting, err := w.PendingMessages(ctx)
		w.ok(err)
		if len(open)+counts[alerts.AnyState]+len(waiting) != 0 {
			w.Errorf("without an event there are %v, %v, %v", open, counts, waiting)
		}
	})
}

func TestNextMaintenance(t *testing.T) {
	at := func(text string) models.Time {
		parsed, err := time.Parse("2006-01-02 15:04", text)
		if err != nil {
			t.Fatal(err)
		}
		return models.At(parsed)
	}
	for _, c := range []struct {
		repeat    alerts.Repeat
		now, want string
	}{
		{alerts.RepeatNone, "2026-01-01 00:00", "2026-01-31 22:00"},
		{alerts.RepeatNone, "2026-01-31 22:30", "2026-01-31 22:00"},
		{alerts.RepeatNone, "2026-02-01 00:00", ""},
		{alerts.RepeatWeekly, "2026-02-01 00:00", "2026-02-07 22:00"},
		{alerts.RepeatWeekly, "2026-02-07 22:59", "2026-02-07 22:00"},
		{alerts.RepeatWeekly, "2026-02-07 23:00", "2026-02-14 22:00"},
		{alerts.RepeatMonthly, "2026-02-01 00:00", "2026-03-31 22:00"},
		{alerts.RepeatMonthly, "2026-03-31 23:00", "2026-05-31 22:00"},
	} {
		m := alerts.Maintenance{StartsAt: at("2026-01-31 22:00"), EndsAt: at("2026-01-31 23:00"), Repeat: c.repeat, TimeZone: "UTC"}
		from, to, ok := m.NextOccurrence(at(c.now))
		if got := from.Format("2006-01-02 15:04"); ok != (c.want != "") || ok && (got != c.want || to.Sub(from.Time) != time.Hour) {
			t.Errorf("%s after %s: %s, %v, want %q", c.repeat, c.now, got, ok, c.want)
		}
	}
}

func TestWindowsOfATarget(t *testing.T) {
	each(t, func(w *world) {
		target := alerts.Target{ID: models.NewID(models.KindTarget), CanonicalURL: "https://a.test/"}
		add := func(name string, from, to time.Duration, scope alerts.Scope) {
			w.Helper()
			_, err := w.AddMaintenance(w.Context(), alerts.Maintenance{Name: name, Scope: scope, StartsAt: w.Now().Add(from), EndsAt: w.Now().Add(to)})
			w.ok(err)
		}
		add("now", -time.Hour, time.Hour, alerts.Scope{Targets: alerts.List{target.ID}})
		add("soon", models.Day, 2*models.Day, alerts.Scope{})
		add("of its tag", models.Day, 2*models.Day, alerts.Scope{Tags: alerts.List{"مَدرسة"}})
		add("of another", -time.Hour, time.Hour, alerts.Scope{Targets: alerts.List{models.NewID(models.KindTarget)}})
		add("late", 8*models.Day, 9*models.Day, alerts.Scope{})
		add("over", -2*models.Day, -models.Day, alerts.Scope{})
		w.facts.tags = map[string][]string{target.CanonicalURL: {"مدرسة"}}
		got, err := w.WindowsForTarget(w.Context(), target, 7*models.Day)
		w.ok(err)
		names := ""
		for _, m := range got {
			names += m.Name + ", "
		}
		if names != "now, soon, of its tag, " {
			t.Errorf("got windows %s", names)
		}
	})
}
