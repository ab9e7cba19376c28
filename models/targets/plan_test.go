package targets_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
)

// TestQueryPlans checks the plans of frequent statements on SQLite: none scans or sorts a
// whole table.
func TestQueryPlans(t *testing.T) {
	f := newFixture(t, modelstest.New(t))
	ids := f.addMany(500)
	for _, claimed := range f.claim() {
		f.record(claimed, up(1))
	}
	page, err := f.AddPage(t.Context(), targets.PageSettings{Slug: "s", Title: "S", TargetIDs: ids[:5]})
	f.must(err)
	ctx, some := t.Context(), models.Cursor{CreatedAt: f.Now(), ID: ids[100]}
	newest := f.results(targets.ResultFilter{})[0]
	after := models.Cursor{CreatedAt: newest.CheckedAt, ID: newest.ID()}
	list := func(filter targets.Filter) func() error {
		return func() error { _, err := f.List(ctx, filter, some, 50); return err }
	}
	results := func(filter targets.ResultFilter) func() error {
		return func() error { _, err := f.Results(ctx, filter, after, 50); return err }
	}
	reap := func(remove remove) func() error {
		return func() error {
			return f.db.Write(ctx, func(tx *gorm.DB) error { _, err := remove(tx, 1000); return err })
		}
	}
	f.insertOutage(ids[9], f.Now(), time.Minute)
	f.must(f.Delete(ctx, ids[9]))
	f.clock.Advance(targets.KeepDeleted + 2*time.Minute)
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"list", list(targets.Filter{})},
		{"by host", list(targets.Filter{Host: "h3.test"})},
		{"by text", list(targets.Filter{Text: "h3"})},
		{"by text and status", list(targets.Filter{Text: "h3", Status: targets.Up})},
		{"by certificate", list(targets.Filter{Certificate: targets.CertificateExpiring})},
		{"by status", list(targets.Filter{Status: targets.Down})},
		{"newest", func() error { _, err := f.Newest(ctx, 10); return err }},
		{"get", func() error { _, err := f.Get(ctx, ids[0]); return err }},
		{"by URL", func() error { _, _, err := f.ByURL(ctx, "https://h1.test"); return err }},
		{"status by URL", func() error { _, err := f.StatusOf(ctx, []string{"https://h1.test", "https://h2.test"}); return err }},
		{"counts", func() error { _, err := f.Counts(ctx); return err }},
		{"down", func() error { _, err := f.NeedAttention(ctx, 5); return err }},
		{"expiring", func() error { _, _, err := f.Certificates(ctx, targets.CertificateExpiring, 10); return err }},
		{"expired", func() error { _, _, err := f.Certificates(ctx, targets.CertificateExpired, 10); return err }},
		{"add", func() error {
			_, _, err := f.Add(ctx, targets.New{URL: "https://new.test", IdempotencyKey: "k"})
			return err
		}},
		{"edit", func() error { _, err := f.Edit(ctx, ids[0], targets.Edit{Paused: new(true)}); return err }},
		{"delete", func() error { return f.Delete(ctx, ids[1]) }},
		{"restore", func() error { _, err := f.Restore(ctx, ids[1]); return err }},
		{"results", results(targets.ResultFilter{})},
		{"results since", results(targets.ResultFilter{Since: f.Now().Add(-day)})},
		{"failed results", results(targets.ResultFilter{Failed: true})},
		{"results of one", results(targets.ResultFilter{TargetID: ids[2]})},
		{"failed results of one", results(targets.ResultFilter{TargetID: ids[2], Failed: true})},
		{"outages", func() error { _, err := f.Outages(ctx, "", models.Cursor{}, 50); return err }},
		{"outages of one", func() error { _, err := f.Outages(ctx, ids[2], models.Cursor{}, 50); return err }},
		{"history", func() error { _, err := f.History(ctx, f.get(ids[2]), targets.Last30d); return err }},
		{"idle tick", func() error { _, _, err := f.Claim(ctx, checker, 0); return err }},
		{"release", func() error {
			return f.Release(ctx, lease.Released[targets.Target]{Item: f.get(ids[7])})
		}},
		{"release others", func() error { return f.ReleaseOthers(ctx, checker, f.get(ids[7])) }},
		{"started", func() error { return f.Started(ctx, checker, map[int64]models.Time{7: f.Now()}) }},
		{"requested", func() error { _, err := f.Requested(ctx, checker); return err }},
		{"lateness", func() error { _, _, err := f.Lateness(ctx); return err }},
		{"overdue", func() error { _, _, err := f.Overdue(ctx, 5); return err }},
		{"claim", func() error { _, _, err := f.Claim(ctx, checker, 10); return err }},
		{"record", func() error {
			r := down()
			r.CheckedAt = f.Now()
			return f.Record(ctx, targets.Checked{Target: f.get(ids[5]), Result: r})
		}},
		{"choose", func() error { _, err := f.ByIDs(ctx, ids[:60]); return err }},
		{"status page", func() error { _, err := f.PageBySlug(ctx, "s"); return err }},
		{"status page days", func() error { _, err := f.PageDays(ctx, page); return err }},
		{"badge", func() error { _, err := f.PublicTarget(ctx, ids[0]); return err }},
		{"reap results", reap(f.ReapResults)},
		{"reap outages", reap(f.ReapOutages)},
		{"reap targets", reap(f.ReapTargets)},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, s := range modelstest.Sent(t, f.db, c.do) {
				small := strings.Contains(s.SQL, "status_page") || strings.Contains(s.SQL, "GROUP BY state") || // the states of row_counts
					strings.Contains(s.SQL, "tls_expires_at > ?") && strings.Contains(s.SQL, "seq IN") // keys from an index
				for _, step := range modelstest.Plan(t, f.db, s) {
					given := step == "SCAN due" || step == "SCAN r" || step == "SCAN c" || step == "SCAN waiting" // rows claimed, of the statement, counted up to a limit, and due
					if modelstest.ReadsAll(step) && !given || modelstest.Sorts(step) && !small {
						t.Errorf("%s\n  %s", s.SQL, step)
					}
				}
			}
		})
	}
}

// A batch of results is joined with the schedules by target. By claim, which is the same
// for all, it would take quadratic time. PostgreSQL does not know that if its statistics
// are from a time when nothing was claimed.
func TestResultsAreNotJoinedByClaim(t *testing.T) {
	each(t, func(f fixture) {
		if f.db.Engine != models.Postgres {
			return
		}
		f.addMany(500)
		modelstest.Exec(f, f.db, "ANALYZE target_schedule")
		var done []targets.Checked
		for _, c := range f.claim() {
			r := up(1)
			r.CheckedAt = f.Now()
			done = append(done, targets.Checked{Target: c, Result: r})
		}
		for _, s := range modelstest.Sent(f, f.db, func() error { return f.Record(f.Context(), done...) }) {
			if !strings.HasPrefix(s.SQL, "UPDATE target_schedule") {
				continue
			}
			var plan []map[string]any
			f.must(f.db.Read(f.Context()).Raw("EXPLAIN "+s.SQL, s.Vars...).Scan(&plan).Error)
			if strings.Contains(fmt.Sprint(plan), "Join Filter") { // of the target, after a join by claim
				f.Errorf("%s\n%v", s.SQL, plan)
			}
		}
	})
}

// Certificates are counted and sorted without reading targets, which are spread over the table.
func TestCertificatesAreReadFromTheirIndex(t *testing.T) {
	f := newFixture(t, modelstest.New(t))
	f.addMany(3)
	for name, do := range map[string]func() error{
		"overview": func() error { _, _, err := f.Certificates(f.as("bob"), targets.CertificateExpiring, 5); return err },
		"list": func() error {
			_, err := f.List(f.as("bob"), targets.Filter{Certificate: targets.CertificateExpiring}, models.Cursor{}, 5)
			return err
		},
	} {
		covered := 0
		for _, s := range modelstest.Sent(t, f.db, do) {
			if strings.Contains(fmt.Sprint(modelstest.Plan(t, f.db, s)), "COVERING INDEX targets_tls") {
				covered++
			}
		}
		if want := map[string]int{"overview": 1, "list": 2}[name]; covered < want {
			t.Errorf("%s: %d statements read only the index, want %d", name, covered, want)
		}
	}
}

// Few checks fail, so a list of failed checks must not scan all others.
func TestFailedResultsUseTheirIndex(t *testing.T) {
	f := newFixture(t, modelstest.New(t))
	made := f.add("https://a.test")
	f.check(down())
	for index, filter := range map[string]targets.ResultFilter{
		"check_results_failed": {Failed: true}, "check_results_target_failed": {Failed: true, TargetID: made.ID},
	} {
		stop := modelstest.Statements(t, f.db)
		f.results(filter)
		var plan []string
		for _, s := range stop() {
			plan = append(plan, modelstest.Plan(t, f.db, s)...)
		}
		if !strings.Contains(fmt.Sprint(plan), index) {
			t.Errorf("%+v does not use %s: %q", filter, index, plan)
		}
	}
}
