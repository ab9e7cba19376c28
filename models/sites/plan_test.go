package sites_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
)

// large is a website with a few thousand pages in all states, beside another one.
type large struct {
	*world
	site, other sites.Website
	index, map1 sites.Sitemap
}

func newLarge(w *world) large {
	w.Helper()
	s := w.google(w.site("https://example.com/"))
	s, err := w.Edit(w.Context(), s.ID, sites.Edit{IndexNowKey: ptr("abcdef123456")})
	w.ok(err)
	l := large{world: w, site: s, other: w.site("https://other.example/")}
	l.index, l.map1 = w.sitemap(s, "https://example.com/index.xml"), w.sitemap(s, "https://example.com/1.xml")
	for _, site := range []sites.Website{l.other, l.site} {
		m := l.map1
		if site.Seq == l.other.Seq {
			m = w.sitemap(site, "https://other.example/sitemap.xml")
		}
		var entries []sites.Entry
		for i := range 3000 {
			entries = append(entries, w.entry(fmt.Sprintf("%sblog/%d", site.SiteURL, i), i%200-1))
		}
		w.read(site, m, entries...)
	}
	now := w.Now().UnixMicro()
	for _, sql := range []string{
		"UPDATE pages SET status = 'indexed', last_verified_at = ?, asked_at = ?, for_google = false WHERE seq % 5 = 0",
		"UPDATE pages SET status = 'not_indexed', cause = 'noindex', last_verified_at = ?, asked_at = ?, for_google = false WHERE seq % 5 = 1",
		"UPDATE pages SET status = 'submitted', unverified = true, last_submitted_at = ?, asked_at = ? WHERE seq % 5 = 2",
		"UPDATE pages SET status = 'failed', cause = 'not_owner', last_error = 'no', last_submitted_at = ?, submit_after = ? WHERE seq % 50 = 3",
		"UPDATE pages SET status = 'pending', last_verified_at = ?, asked_at = ? WHERE seq % 500 = 4",
		"UPDATE pages SET gone_at = ?, for_google = false, for_indexnow = false, asked_at = ? WHERE seq % 100 = 7",
		"UPDATE pages SET submit_wanted_at = ?, verify_wanted_at = ? WHERE seq % 1000 = 8",
	} {
		modelstest.Exec(w.T, w.db, sql, now, now)
	}
	modelstest.Exec(w.T, w.db, `INSERT INTO submissions (website_seq, page_seq, url, method, action, pages, status, status_code, error, created_at)
		SELECT website_seq, seq, url, 'indexing_api', 'updated', 1, 'accepted', 200, '', created_at FROM pages`)
	w.ok(w.SnapCoverage(w.Context()))
	return l
}

// planned is a call of the store of which the plan is looked at.
type planned struct {
	name  string
	do    func() error
	index string // that one of its statements must use; "" = the test does not say
}

// planned are the lists, the filters and what jobs ask for.
func (l large) planned() []planned {
	w, ctx, s := l.world, l.Context(), l.site
	list, err := w.Pages(ctx, s.ID, sites.Filter{}, models.Cursor{}, 50)
	w.ok(err)
	p, after := list.Items[0], list.Next
	goneList, err := w.Pages(ctx, s.ID, sites.Filter{Gone: true}, models.Cursor{}, 5)
	w.ok(err)
	subs, err := w.Submissions(ctx, s.ID, "", models.Cursor{}, 5)
	w.ok(err)
	page := func(s sites.Website, f sites.Filter, after models.Cursor) func() error {
		return func() error { _, err := w.Pages(ctx, s.ID, f, after, 100); return err }
	}
	reap := func(remove func(*gorm.DB, int) (int64, error)) func() error {
		return func() error {
			return w.db.Write(ctx, func(tx *gorm.DB) error { _, err := remove(tx, 100); return err })
		}
	}
	sub, err := w.Begin(ctx, s, sites.Submission{PageSeq: &p.Seq, URL: p.URL, Method: sites.ByIndexingAPI, Action: sites.Updated, Pages: 1})
	w.ok(err)
	entry := w.entry(p.URL, 3)
	return []planned{
		{"pages", page(s, sites.Filter{}, after), "pages_queue"},
		{"pending pages", page(s, sites.Filter{Status: sites.Pending}, after), "pages_queue"},
		{"indexed pages", page(s, sites.Filter{Status: sites.Indexed}, after), ""},
		{"queued pages", page(s, sites.Filter{Queued: true}, after), "pages_google "},
		{"pages queued for IndexNow", page(l.other, sites.Filter{Queued: true}, after), "pages_indexnow"},
		{"pages of a cause", page(s, sites.Filter{Cause: "noindex"}, after), "pages_cause"},
		{"unindexed pages", page(s, sites.Filter{Unindexed: true}, after), "pages_unclear"},
		{"unindexed pages of a cause", page(s, sites.Filter{Unindexed: true, Cause: "noindex"}, after), ""},
		{"gone pages", page(s, sites.Filter{Gone: true}, goneList.Next), "pages_gone "},
		{"pages of a pattern", page(s, sites.Filter{Match: "/blog/1*"}, after), ""},
		{"indexed pages of a pattern", page(s, sites.Filter{Match: "/blog/1*", Status: sites.Indexed}, after), ""},
		{"page", func() error { _, err := w.Page(ctx, p.ID()); return err }, ""},
		{"pages by id", func() error { _, err := w.PagesByID(ctx, s.ID, p.ID()); return err }, ""},
		{"pages by URL", func() error { _, err := w.ByURLs(ctx, strings.TrimSuffix(p.URL, "/")); return err }, ""},
		{"counts", func() error { _, err := w.CountsOf(ctx, []sites.Website{s, l.other}); return err }, ""},
		{"coverage", func() error { _, err := w.Coverage(ctx, s, models.Time{}); return err }, ""},
		{"submissions", func() error { _, err := w.Submissions(ctx, s.ID, "", subs.Next, 50); return err }, "submissions_website"},
		{"submissions of a page", func() error { _, err := w.Submissions(ctx, s.ID, p.ID(), models.Cursor{}, 20); return err }, "submissions_page"},
		{"websites", func() error { _, err := w.List(ctx, models.Cursor{}, 50); return err }, ""},
		{"website", func() error { _, err := w.Get(ctx, s.ID); return err }, ""},
		{"sitemaps", func() error { _, err := w.SitemapsOf(ctx, s.ID, models.Cursor{}, 50); return err }, ""},
		{"set a priority", func() error { _, err := w.SetPriority(ctx, p.ID(), ptr(90)); return err }, ""},
		{"set priorities", func() error {
			_, err := w.SetPriorities(ctx, s.ID, sites.Filter{Status: sites.Indexed}, ptr(90))
			return err
		}, ""},
		{"set priorities of some", func() error { _, err := w.SetPrioritiesOf(ctx, s.ID, ptr(80), p.ID()); return err }, ""},
		{"undo priorities", func() error { _, err := w.UndoPriorities(ctx, s.ID, w.Now()); return err }, ""},
		{"want a submission", func() error { _, err := w.WantSubmission(ctx, p.ID(), false); return err }, ""},
		{"want submissions", func() error { _, err := w.WantSubmissions(ctx, s.ID, p.ID()); return err }, ""},
		{"want a verification", func() error { _, err := w.WantVerification(ctx, p.ID()); return err }, ""},
		{"want verifications", func() error { _, err := w.WantVerifications(ctx, s.ID, p.ID()); return err }, ""},
		{"wanted websites", func() error { _, err := w.WantedFor(ctx, sites.Submitting, 10); return err }, ""},
		{"claim", func() error { _, _, err := w.Claim(ctx, w.me, sites.Submitting, s.Seq, true); return err }, ""},
		{"refresh", func() error { _, _, err := w.Refresh(ctx, w.me, sites.Submitting, s.Seq); return err }, ""},
		{"release", func() error { return w.Release(ctx, w.me, sites.Submitting, s, false) }, ""},
		{"reprioritize", func() error { _, err := w.Reprioritize(ctx); return err }, "pages_reprior"},
		{"to read", func() error { _, err := w.ToRead(ctx, s, 0); return err }, ""},
		{"store entries", func() error { _, err := w.StoreEntries(ctx, s, l.map1, []sites.Entry{entry}); return err }, ""},
		{"found sitemaps", func() error {
			_, _, err := w.AddFound(ctx, s, &l.index, []string{"https://example.com/2.xml"})
			return err
		}, ""},
		{"detach", func() error { _, err := w.Detach(ctx, s, l.map1, false); return err }, ""},
		{"detach all", func() error { _, err := w.Detach(ctx, s, l.map1, true); return err }, ""},
		{"deleted sitemaps", func() error { _, err := w.DeletedSitemaps(ctx, s); return err }, ""},
		{"forget", func() error { return w.Forget(ctx, l.index) }, ""},
		{"to publish", func() error { _, err := w.ToPublish(ctx, s, 100); return err }, "pages_wanted"},
		{"to submit by IndexNow", func() error { _, err := w.ToIndexNow(ctx, s); return err }, "pages_indexnow"},
		{"sitemaps to submit", func() error { _, err := w.ToSubmit(ctx, s); return err }, ""},
		{"mark submitted", func() error { _, err := w.MarkSubmitted(ctx, s, l.map1, 0); return err }, ""},
		{"answered", func() error {
			return w.Answered(ctx, sub, []int64{p.Seq}, sites.Answer{Status: sites.Accepted, StatusCode: 200})
		}, ""},
		{"answered, to be tried again", func() error {
			return w.Answered(ctx, sub, []int64{p.Seq}, sites.Answer{Status: sites.Retried, Error: "x"})
		}, ""},
		{"to verify", func() error { _, err := w.ToVerify(ctx, s, 1000); return err }, "pages_queue"},
		{"verified", func() error {
			return w.RecordVerified(ctx, sites.Verified{Page: p, Inspection: sites.Inspection{Verdict: "PASS"}})
		}, ""},
		{"reap submissions", reap(w.ReapSubmissions), ""},
		{"reap coverage", reap(w.ReapCoverage), ""},
		{"reap pages", reap(w.ReapPages), ""},
		{"reap websites", reap(w.ReapWebsites), ""},
	}
}

// TestQueryPlans asks SQLite how it runs each statement of what people and jobs do often:
// none reads a whole table, and none sorts one.
func TestQueryPlans(t *testing.T) {
	l := newLarge(newWorld(t, modelstest.New(t)))
	for _, c := range l.planned() {
		t.Run(c.name, func(t *testing.T) {
			used := c.index == ""
			for _, s := range modelstest.Sent(t, l.db, c.do) {
				steps := modelstest.Plan(t, l.db, s)
				plan := strings.Join(steps, "\n  ")
				for i, step := range steps {
					// What the statement brings, and the parts of a list: each is read by an index up to its limit, and then merged.
					given := step == "SCAN r" || step == "SCAN x" || step == "SCAN due"
					merged := i > 0 && steps[i-1] == "SCAN x" || strings.Contains(s.SQL, "jsonb_each") || strings.Contains(step, "LAST TERM") && !strings.Contains(s.SQL, "LIMIT")
					if modelstest.ReadsAll(step) && !given || readsLarge(step) && !strings.Contains(s.SQL, "DELETE FROM websites") || modelstest.Sorts(step) && !merged && !few(s.SQL) {
						t.Errorf("%s\n  %s", s.SQL, plan)
					}
				}
				if strings.HasPrefix(s.SQL, "SELECT") && strings.Contains(plan, " USING INDEX "+c.index) {
					used = true
				}
			}
			if !used {
				t.Errorf("no statement uses the index %s", c.index)
			}
		})
	}
}

// TestQueryPlansOnPostgres asks PostgreSQL the same. A small table is read whole whatever its indexes are, unless that is
// forbidden: then a plan that still does so has no index to use.
func TestQueryPlansOnPostgres(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		if db.Engine != models.Postgres {
			t.Skip("TestQueryPlans is for SQLite")
		}
		l := newLarge(newWorld(t, db))
		modelstest.Exec(t, db, "ANALYZE pages")
		modelstest.Exec(t, db, "ANALYZE submissions")
		for _, c := range l.planned() {
			t.Run(c.name, func(t *testing.T) {
				// Of a table this small the primary key gives the order of seq as well.
				used := slices.Contains([]string{"", "submissions_website"}, c.index)
				for _, s := range modelstest.Sent(t, db, c.do) {
					if !strings.HasPrefix(s.SQL, "SELECT") && !strings.HasPrefix(s.SQL, "UPDATE") && !strings.HasPrefix(s.SQL, "DELETE") && !strings.HasPrefix(s.SQL, "WITH") {
						continue
					}
					plan := explained(t, db, s)
					for _, table := range []string{"pages", "sitemap_pages", "submissions"} {
						if strings.Contains(plan, "Seq Scan on "+table+" ") {
							t.Errorf("%s\n%s", s.SQL, plan)
						}
					}
					used = used || strings.Contains(plan, " using "+c.index)
				}
				if !used {
					t.Errorf("no statement uses the index %s", c.index)
				}
			})
		}
	})
}

// explained is how PostgreSQL would run a statement if it had to use indexes, and their order.
func explained(t *testing.T, db *models.DB, s modelstest.Statement) string {
	t.Helper()
	var lines []string
	err := db.Write(t.Context(), func(tx *gorm.DB) error {
		lines = nil
		for _, set := range []string{"enable_seqscan", "enable_sort", "enable_bitmapscan"} {
			if err := tx.Exec("SET LOCAL " + set + " = off").Error; err != nil {
				return err
			}
		}
		rows, err := tx.Statement.ConnPool.QueryContext(t.Context(), "EXPLAIN "+s.SQL, s.Vars...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				return err
			}
			lines = append(lines, line)
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatalf("%s: %v", s.SQL, err)
	}
	return strings.Join(lines, "\n")
}

// readsLarge says whether a step reads all of a large table, or of an index of it.
func readsLarge(step string) bool {
	words := strings.Fields(step)
	return words[0] == "SCAN" && slices.Contains([]string{"pages", "p", "o", "sitemap_pages", "sp", "submissions"}, words[1])
}

// few says whether a statement is about websites or about the sitemaps of one, of which there are few.
func few(sql string) bool {
	return strings.Contains(sql, "FROM websites") || strings.Contains(sql, "FROM sitemaps WHERE")
}
