package alerts_test

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
	"linkwatch/models/modelstest"
)

// Frequent queries of pages and of the worker do not scan or sort whole tables in SQLite. Channels, rules and windows are exceptions: there
// are at most 200 of each.
func TestQueryPlans(t *testing.T) {
	w := newWorld(t, modelstest.New(t))
	ctx, c := w.Context(), w.channel("c")
	w.rule(c, func(r *alerts.Rule) { r.RepeatMinutes = 10 })
	w.happen(w.down("one@a.test", 1), w.down("two@b.test", 1), w.down("three@c.test", 1))
	w.happen(w.up("two@b.test"))
	page, err := w.Alerts(ctx, alerts.Firing, zeroCursor, 10)
	w.ok(err)
	open := page.Items
	after := models.Cursor{CreatedAt: open[0].CreatedAt, ID: open[0].ID}
	list := func(st alerts.State) func() error {
		return func() error { _, err := w.Alerts(ctx, st, after, 50); return err }
	}
	reap := func(remove func(*gorm.DB, int) (int64, error)) func() error {
		return func() error {
			return w.db.Write(ctx, func(tx *gorm.DB) error { _, err := remove(tx, 1000); return err })
		}
	}
	take := func(events ...event.Event) func() error {
		return func() error {
			modelstest.AddEvents(w, w.db, events...)
			_, err := w.ProcessEvents(ctx, 100)
			return err
		}
	}
	send := func() error {
		w.clock.Advance(11 * time.Minute)
		_, err := w.QueueMessages(ctx, 100)
		return err
	}
	var tables []string
	w.ok(w.db.Read(ctx).Raw("SELECT name FROM sqlite_master WHERE type = 'table'").Scan(&tables).Error)
	var claimed []alerts.Channel
	var next alerts.Delivery
	for _, of := range []struct {
		name string
		do   func() error
	}{
		{"all alerts", list(alerts.AnyState)},
		{"open alerts", list(alerts.Firing)},
		{"unacknowledged alerts", list(alerts.Unacknowledged)},
		{"resolved alerts", list(alerts.Resolved)},
		{"one", func() error { _, err := w.Alert(ctx, open[0].ID); return err }},
		{"subjects", func() error { _, err := w.SubjectsOf(ctx, open, 10); return err }},
		{"messages", func() error { _, err := w.DeliveriesOf(ctx, open, 10); return err }},
		{"open alerts of a target", func() error { _, err := w.OpenForTarget(ctx, targetID("one")); return err }},
		{"counts", func() error { _, err := w.Counts(ctx); return err }},
		{"waiting", func() error { _, err := w.PendingMessages(ctx); return err }},
		{"backlog", func() error { _, err := w.Backlog(ctx); return err }},
		{"attention", func() error { _, err := w.Attention(ctx, 10); return err }},
		{"acknowledge", func() error { _, err := w.Acknowledge(ctx, open[0].ID); return err }},
		{"acknowledge several", func() error { _, _, err := w.AcknowledgeAll(ctx, open[0].ID, open[1].ID); return err }},
		{"undo", func() error { _, err := w.UnacknowledgeAll(ctx, w.Now()); return err }},
		{"silence several", func() error { _, _, err := w.SilenceAll(ctx, time.Minute, open[0].ID); return err }},
		{"an outage", take(w.down("five@a.test", 1), w.down("six@e.test", 1))},
		{"its message", send},
		{"its end", take(w.up("five@a.test"), w.up("six@e.test"))},
		{"the message of its end", send},
		{"a target that is not checked any more", take(w.event("target.down", event.Closed, "one@a.test", 0))},
		{"what is due then", send},
		{"nothing to take", func() error { _, err := w.ProcessEvents(ctx, 100); return err }},
		{"nothing to send", func() error { _, err := w.QueueMessages(ctx, 100); return err }},
		{"claim", func() (err error) { claimed, err = w.ClaimChannels(ctx, w.me, 10); return err }},
		{"the next message", func() (err error) { _, next, _, err = w.Next(ctx, w.me, claimed[0].Seq); return err }},
		{"record", func() error {
			_, err := w.Record(ctx, w.me, claimed[0], next, alerts.Attempt{Error: "gone", Gone: true})
			return err
		}},
		{"release", func() error { return w.ReleaseChannel(ctx, w.me, claimed[0]) }},
		{"release others", func() error { return w.ReleaseOthers(ctx, w.me, nil) }},
		{"expire", func() error { w.clock.Advance(2 * alerts.RetryPeriod); _, err := w.ExpireMessages(ctx); return err }},
		{"reap alerts", reap(w.ReapAlerts)},
		{"reap settings", reap(w.ReapSettings)},
	} {
		t.Run(of.name, func(t *testing.T) {
			statements := modelstest.Sent(t, w.db, of.do)
			if len(statements) == 0 {
				t.Error("no statements")
			}
			for _, s := range statements {
				for _, step := range modelstest.Plan(t, w.db, s) {
					if readsAll(tables, s.SQL, step) || modelstest.Sorts(step) && !bounded(s.SQL) {
						t.Errorf("%s\n  %s", s.SQL, step)
					}
				}
			}
		})
	}
}

// reads matches the tables that a statement reads, with their aliases.
var reads = regexp.MustCompile("\\b(?:FROM|JOIN|UPDATE|INTO)\\s+[`\"]?(\\w+)[`\"]?(?:\\s+AS\\s+(\\w+))?")

// settled are the small tables, and events, which are read in batches. waiting are the partial indexes of exactly the requested rows.
var (
	settled = []string{"channels", "alert_rules", "maintenance", "events"}
	waiting = []string{"alerts_fired", "alerts_firing", "alerts_unacknowledged", "alerts_severity", "deliveries_pending", "deliveries_waiting"}
)

// readsAll reports whether a step of a plan scans a growing table, directly or through an index without a condition. A partial index with
// only the requested rows is allowed if the statement has a limit. tables are all tables; other names are subqueries and values.
func readsAll(tables []string, sql, step string) bool {
	name, through, _ := strings.Cut(strings.TrimPrefix(step, "SCAN "), " ")
	if !strings.HasPrefix(step, "SCAN ") || slices.Contains(waiting, through[strings.LastIndexByte(through, ' ')+1:]) && strings.Contains(sql, "LIMIT") {
		return false
	}
	return slices.ContainsFunc(reads.FindAllStringSubmatch(sql, -1), func(read []string) bool {
		return name == cmp.Or(read[2], read[1]) && slices.Contains(tables, read[1]) && !slices.Contains(settled, read[1])
	})
}

// The checks of plans find bad plans.
func TestReadsAll(t *testing.T) {
	tables := []string{"alerts", "channels", "deliveries"}
	for _, c := range []struct {
		sql, step string
		want      bool
	}{
		{"SELECT * FROM `alerts` WHERE x", "SCAN alerts", true},
		{"SELECT * FROM due AS r CROSS JOIN alerts AS a WHERE x", "SCAN a", true},
		{"SELECT * FROM due AS r CROSS JOIN alerts AS a WHERE x", "SCAN r", false},
		{"SELECT * FROM (SELECT 1 FROM alerts LIMIT 1) AS a", "SCAN a", false},
		{"UPDATE alerts SET x = 1", "SCAN alerts USING INDEX alerts_firing", true},
		{"SELECT event, count(*) FROM alerts WHERE created_at > ? GROUP BY event", "SCAN alerts USING COVERING INDEX alerts_recent", true},
		{"SELECT 1 FROM alerts WHERE resolved_at IS NULL LIMIT 1", "SCAN alerts USING INDEX alerts_firing", false},
		{"SELECT 1 FROM alerts WHERE resolved_at IS NULL", "SEARCH alerts USING INDEX alerts_firing (created_at>?)", false},
		{"SELECT * FROM channels AS c", "SCAN c", false},
		{"SELECT * FROM deliveries AS d JOIN channels AS c", "SCAN d USING INDEX deliveries_pending", true},
	} {
		if got := readsAll(tables, c.sql, c.step); got != c.want {
			t.Errorf("%s\n  %s: %v", c.sql, c.step, got)
		}
	}
}

// bounded reports whether a statement sorts only its own values or the rows of a few alerts.
func bounded(sql string) bool {
	return strings.Contains(sql, "batch_rows") || strings.Contains(sql, "m.subject_id = ?") || strings.Contains(sql, "LIMIT ?) AS d")
}
