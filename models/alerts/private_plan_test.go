package alerts_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
	"linkwatch/models/modelstest"
)

// full fills the table of alerts. Four of five alerts are private to bob. There are no statistics, as in the program.
func (w *world) full(n int) {
	w.Helper()
	modelstest.Exec(w, w.db, `INSERT INTO alerts (id, ends_id, event, severity, group_key, subject_kind, subject_id, subject_name, subject_url, detail, subject_count, open_subject_count, flapping, changes,
			created_at, started_at, fired_at, resolved_at, private_to)
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		SELECT 'v_' || substr('0000000000000000000000' || i, -22), '', 'target.down', i % 3, 'h' || i, 'target', 't' || i, 'Target ' || i, '', '', 1, 1, 0, 1,
			i, i, i, CASE WHEN i % 2 = 0 THEN i END, CASE WHEN i % 5 = 0 THEN '' ELSE 'bob' END FROM n`, n)
}

// Reads of an account have the same plans as reads of an admin, and as many statements.
func TestPlansOfARestrictedReader(t *testing.T) {
	w := newWorld(t, modelstest.New(t))
	w.full(20_000)
	var tables []string
	w.ok(w.db.Read(w.Context()).Raw("SELECT name FROM sqlite_master WHERE type = 'table'").Scan(&tables).Error)
	middle, err := w.Alerts(w.Context(), alerts.Firing, zeroCursor, 50)
	w.ok(err)
	list := func(st alerts.State) func(context.Context) error {
		return func(ctx context.Context) error {
			p, err := w.Alerts(ctx, st, middle.Next, 50)
			if len(p.Items) != 50 {
				t.Errorf("%d alerts", len(p.Items))
			}
			return err
		}
	}
	critical := event.Critical
	modelstest.Exec(t, w.db, `INSERT INTO alert_subjects (alert_seq, subject_id, event, subject_kind, name, url, detail, since_at)
		SELECT seq, subject_id, event, subject_kind, subject_name, '', '', created_at FROM alerts`)
	filtered := func(f alerts.Filter) func(context.Context) error {
		return func(ctx context.Context) error { _, err := w.Filtered(ctx, f, middle.Next, 50); return err }
	}
	total := func(f alerts.Filter) func(context.Context) error {
		after := middle.Next
		after.Want.Total = true
		return func(ctx context.Context) error { _, err := w.Filtered(ctx, f, after, 50); return err }
	}
	for _, of := range []struct {
		name  string
		index string // that it uses; "" for the index of the list
		do    func(context.Context) error
	}{
		{"all alerts", "", list(alerts.AnyState)},
		{"open alerts", "", list(alerts.Firing)},
		{"unacknowledged alerts", "", list(alerts.Unacknowledged)},
		{"resolved alerts", "INDEX alerts_ended", list(alerts.Resolved)},
		{"alerts of an event", "INDEX alerts_by_event", filtered(alerts.Filter{Event: "system.failed"})},
		{"alerts of a severity", "INDEX alerts_by_severity", filtered(alerts.Filter{Severity: &critical})},
		{"resolved alerts of a severity", "INDEX alerts_by_severity", filtered(alerts.Filter{State: alerts.Resolved, Severity: &critical})},
		{"firing alerts of an event", "INDEX alerts_firing", filtered(alerts.Filter{State: alerts.Firing, Event: "target.down"})},
		{"unacknowledged alerts of a severity", "INDEX alerts_severity", filtered(alerts.Filter{State: alerts.Unacknowledged, Severity: &critical})},
		{"number of firing alerts", "INDEX alerts_firing", total(alerts.Filter{State: alerts.Firing})},
		{"alerts of a subject", "INDEX alert_subjects_since", filtered(alerts.Filter{Subject: "t7"})},
		{"alerts since a time", "", filtered(alerts.Filter{Since: models.At(time.UnixMicro(19_000))})},
		{"counts", "INDEX alerts_firing", func(ctx context.Context) error { _, err := w.Counts(ctx); return err }},
		{"attention", "INDEX alerts_severity", func(ctx context.Context) error { _, err := w.Attention(ctx, 5); return err }},
		{"search", "", func(ctx context.Context) error { _, err := w.Find(ctx, "Target 1", 5); return err }},
		{"open alerts of a target", "", func(ctx context.Context) error { _, err := w.OpenForTarget(ctx, targetID("one")); return err }},
		{"messages", "", func(ctx context.Context) error { _, err := w.DeliveriesOf(ctx, middle.Items, 5); return err }},
	} {
		t.Run(of.name, func(t *testing.T) {
			all := modelstest.Sent(t, w.db, func() error { return of.do(w.admin()) })
			some := modelstest.Sent(t, w.db, func() error { return of.do(w.as("alice")) })
			if len(all) != len(some) || len(all) == 0 {
				t.Errorf("%d statements, an admin takes %d", len(some), len(all))
			}
			found := of.index == ""
			for i, s := range some {
				plan := modelstest.Plan(t, w.db, s)
				if admins := modelstest.Plan(t, w.db, all[i]); strings.Join(admins, "\n") != strings.Join(plan, "\n") {
					t.Errorf("%s\nis planned\n  %s\nfor an admin\n  %s", s.SQL, strings.Join(plan, "\n  "), strings.Join(admins, "\n  "))
				}
				for _, step := range plan {
					found = found || strings.Contains(step, of.index)
					if readsAll(tables, s.SQL, step) || modelstest.Sorts(step) && !bounded(s.SQL) && !strings.Contains(s.SQL, "AS newest") && !strings.Contains(s.SQL, "WHERE subject_id = ?") { // at most 1,000 alerts, or those of a subject
						t.Errorf("%s\n  %s", s.SQL, step)
					}
				}
			}
			if !found {
				t.Errorf("no step reads the %s", of.index)
			}
		})
	}
}
