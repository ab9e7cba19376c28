package alerts_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/models/alerts"
	"linkwatch/models/audit"
)

// audited returns the audit entries since its last call.
func (w *world) audited(from *int64) (texts []string) {
	w.Helper()
	var es []audit.Entry
	w.ok(w.db.Read(w.Context()).Where("seq > ?", *from).Order("seq").Find(&es).Error)
	for _, e := range es {
		*from = e.Seq
		texts = append(texts, strings.TrimSpace(e.Actor+" "+e.Action+" "+e.SubjectKind+" "+e.SubjectName+" "+e.Before+" "+e.After))
	}
	return texts
}

// Each change by a request has one audit entry, with the changed values and without secrets. Changes by the worker have none.
func TestAudit(t *testing.T) {
	each(t, func(w *world) {
		var seq int64
		ctx := w.as("bob")
		expect := func(want ...string) {
			w.Helper()
			if got := w.audited(&seq); !slices.Equal(got, want) {
				w.Errorf("audited\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		c, err := w.AddChannel(ctx, alerts.NewChannel{Name: "ops", Kind: alerts.KindWebhook, Address: alerts.Address{URL: "https://canary.test/canary", Secret: "canary-secret"}, Private: true})
		w.ok(err)
		expect(`bob channel.add channel ops  {"enabled":true,"kind":"webhook","name":"ops","private":true}`)
		off, name, url := false, "team", "https://canary.test/other-canary"
		_, err = w.EditChannel(ctx, c.ID, alerts.ChannelEdit{Name: &name, Private: &off, URL: &url})
		w.ok(err)
		expect(`bob channel.edit channel team {"name":"ops","private":true} {"credentials":"changed","name":"team","private":false,"secret":"removed"}`)
		_, err = w.EditChannel(ctx, c.ID, alerts.ChannelEdit{Name: &name})
		w.ok(err)
		expect()
		w.ok(w.RecordTest(ctx, c, "refused: canary"))
		expect(`bob channel.test channel ops  {"delivered":false}`)
		w.ok(w.DeleteChannel(ctx, c.ID))
		_, err = w.RestoreChannel(ctx, c.ID)
		w.ok(err)
		expect(`bob channel.delete channel team {"enabled":true,"kind":"webhook","name":"team","private":false}`, `bob channel.restore channel team  {"enabled":true,"kind":"webhook","name":"team","private":false}`)

		r := w.ruleOf("bob", false, c)
		w.audited(&seq)
		_, err = w.EditRule(ctx, r.ID, func(r *alerts.Rule) {
			r.AfterMinutes, r.Scope.Tags, r.Quiet = 5, alerts.List{"shop"}, alerts.Quiet{From: "22:00", To: "07:00"}
		})
		w.ok(err)
		expect(`bob alert_rule.edit alert_rule Rule of bob {"after_minutes":0,"quiet":null,"tags":[]} {"after_minutes":5,"quiet":{"from":"22:00","time_zone":"UTC","to":"07:00"},"tags":["shop"]}`)
		_, err = w.EditRule(ctx, r.ID, func(r *alerts.Rule) {
			r.AfterMinutes, r.Scope.Tags, r.Quiet = 0, nil, alerts.Quiet{}
		})
		w.ok(err)
		w.ok(w.DeleteRule(ctx, r.ID))
		_, err = w.RestoreRule(ctx, r.ID)
		w.ok(err)
		if got := w.audited(&seq); len(got) != 3 || !strings.HasPrefix(got[1], `bob alert_rule.delete alert_rule Rule of bob {"after_failures":1,`) || !strings.HasPrefix(got[2], "bob alert_rule.restore ") {
			w.Errorf("audited %q", got)
		}
		m, err := w.AddMaintenance(ctx, alerts.Maintenance{Name: "Upgrade", StartsAt: w.Now().Add(time.Hour), EndsAt: w.Now().Add(2 * time.Hour)})
		w.ok(err)
		_, err = w.EditMaintenance(ctx, m.ID, func(m *alerts.Maintenance) { m.Name = "Move" })
		w.ok(err)
		w.ok(w.DeleteMaintenance(ctx, m.ID))
		_, err = w.RestoreMaintenance(ctx, m.ID)
		w.ok(err)
		if got := w.audited(&seq); len(got) != 4 || got[1] != `bob maintenance.edit maintenance Move {"name":"Upgrade"} {"name":"Move"}` {
			w.Errorf("audited %q", got)
		}
		_, did, err := w.AlertMe(ctx, alerts.AlertMeRequest{})
		w.ok(err)
		if got := w.audited(&seq); did != alerts.AlertMeAdded || len(got) != 1 || !strings.HasPrefix(got[0], "bob alert_rule.add alert_rule Important alerts") {
			w.Errorf("%v, audited %q", did, got)
		}

		w.happen(w.down("a@h.test", 1), w.down("b@x.test", 1), w.down("c@y.test", 1))
		expect() // background work
		ids := w.open()
		a := ids[0]
		_, err = w.Acknowledge(ctx, a)
		w.ok(err)
		_, err = w.Acknowledge(ctx, a) // changes nothing
		w.ok(err)
		_, err = w.Unacknowledge(ctx, a)
		w.ok(err)
		_, err = w.Silence(ctx, a, time.Hour)
		w.ok(err)
		_, err = w.Silence(ctx, a, 0)
		w.ok(err)
		at, _, err := w.AcknowledgeAll(ctx, ids...)
		w.ok(err)
		_, err = w.UnacknowledgeAll(ctx, at)
		w.ok(err)
		until, _, err := w.SilenceAll(ctx, time.Minute, ids[:2]...)
		w.ok(err)
		_, err = w.UnsilenceAll(ctx, until)
		w.ok(err)
		_, _, err = w.AcknowledgeAll(ctx, "v_unknown")
		w.ok(err)
		var actions []string
		for _, text := range w.audited(&seq) {
			actions = append(actions, strings.Fields(text)[1])
			if strings.Contains(text, "All") || strings.Count(text, "alert.") != 1 {
				w.Error(text)
			}
		}
		want := []string{
			"alert.acknowledge", "alert.unacknowledge", "alert.silence", "alert.unsilence", "alert.acknowledge", "alert.unacknowledge", "alert.silence", "alert.unsilence",
		}
		if !slices.Equal(actions, want) {
			w.Errorf("actions %q", actions)
		}
		var secrets int
		w.ok(w.db.Read(w.Context()).Raw("SELECT count(*) FROM audit_entries WHERE before LIKE '%canary%' OR after LIKE '%canary%' OR subject_name LIKE '%canary%'").Scan(&secrets).Error)
		if secrets != 0 {
			w.Errorf("%d entries hold a secret", secrets)
		}
	})
}
