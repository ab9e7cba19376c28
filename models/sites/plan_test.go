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

// large is a database with a website of 3,000 pages in all states, and another website.
type large struct {
	*fixture
	site, other sites.Website
	index, map1 sites.Sitemap
}

func newLarge(w *fixture) large {
	w.Helper()
	s := w.google(w.site("https://example.com/"))
	s, err := w.Edit(w.Context(), s.ID, sites.Edit{IndexNowKey: ptr("abcdef123456")})
	w.must(err)
	l := large{fixture: w, site: s, other: w.site("https://other.example/")}
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
		"UPDATE pages SET status = 'indexed', last_verified_at = ?, verify_attempted_at = ?, queued_for_google = false WHERE seq % 5 = 0",
		"UPDATE pages SET status = 'not_indexed', cause = 'noindex', last_verified_at = ?, verify_attempted_at = ?, queued_for_google = false WHERE seq % 5 = 1",
		"UPDATE pages SET status = 'submitted', unverified = true, last_submitted_at = ?, verify_attempted_at = ? WHERE seq % 5 = 2",
		"UPDATE pages SET status = 'failed', cause = 'not_owner', last_error = 'no', last_submitted_at = ?, submit_after = ? WHERE seq % 50 = 3",
		"UPDATE pages SET status = 'pending', last_verified_at = ?, verify_attempted_at = ? WHERE seq % 500 = 4",
		"UPDATE pages SET gone_at = ?, queued_for_google = false, queued_for_indexnow = false, verify_attempted_at = ? WHERE seq % 100 = 7",
		"UPDATE pages SET submit_requested_at = ?, verify_requested_at = ? WHERE seq % 1000 = 8",
	} {
		modelstest.Exec(w.T, w.db, sql, now, now)
	}
	modelstest.Exec(w.T, w.db, "UPDATE pages SET unverified = false, last_verified_at = last_submitted_at WHERE seq % 500 = 2") // Google gave no clear answer
	modelstest.Exec(w.T, w.db, `INSERT INTO submissions (website_seq, page_seq, url, method, action, pages, status, status_code, error, created_at)
		SELECT website_seq, seq, url, 'indexing_api', 'updated', 1, 'accepted', 200, '', created_at FROM pages`)
	w.must(w.SnapshotCoverage(w.Context()))
	return l
}

// planned is a call of the store with its expected index.
type planned struct {
	name  string
	do    func() error
	index string // a statement must use it; "" = any
}

// planned are frequent calls of lists, filters and jobs.
func (l large) planned() []planned {
	w, ctx, s := l.fixture, l.Context(), l.site
	list, err := w.Pages(ctx, s.ID, sites.Filter{}, models.Cursor{}, 50)
	w.must(err)
	p, after := list.Items[0], list.Next
	goneList, err := w.Pages(ctx, s.ID, sites.Filter{Gone: true}, models.Cursor{}, 5)
	w.must(err)
	subs, err := w.Submissions(ctx, s.ID, sites.SubmissionFilter{}, models.Cursor{}, 5)
	w.must(err)
	page := func(s sites.Website, f sites.Filter, after models.Cursor) func() error {
		return func() error { _, err := w.Pages(ctx, s.ID, f, after, 100); return err }
	}
	reap := func(remove func(*gorm.DB, int) (int64, error)) func() error {
		return func() error {
			return w.db.Write(ctx, func(tx *gorm.DB) error { _, err := remove(tx, 100); return err })
		}
	}
	sub, err := w.BeginSubmission(ctx, s, sites.Submission{PageSeq: &p.Seq, URL: p.URL, Method: sites.ByIndexingAPI, Action: sites.Updated, Pages: 1})
	w.must(err)
	entry := w.entry(p.URL, 3)
	return []planned{
		{"pages", page(s, sites.Filter{}, after), "pages_queue"},
		{"pending pages", page(s, sites.Filter{Status: sites.Pending}, after), "pages_queue"},
		{"indexed pages", page(s, sites.Filter{Status: sites.Indexed}, after), ""},
		{"queued pages", page(s, sites.Filter{Queued: true}, after), "pages_google "},
		{"pages queued for IndexNow", page(l.other, sites.Filter{Queued: true}, after), "pages_indexnow"},
		{"pages of a cause", page(s, sites.Filter{Cause: "noindex"}, after), "pages_cause"},
		{"unindexed pages", page(s, sites.Filter{Unindexed: true}, after), "pages_unclear"},
		{"unindexed submitted pages", page(s, sites.Filter{Unindexed: true}, after), "pages_submitted_unclear"},
		{"unindexed pages of a cause", page(s, sites.Filter{Unindexed: true, Cause: "noindex"}, after), ""},
		{"gone pages", page(s, sites.Filter{Gone: true}, goneList.Next), "pages_gone "},
		{"pages of a pattern", page(s, sites.Filter{Match: "/blog/1*"}, after), ""},
		{"indexed pages of a pattern", page(s, sites.Filter{Match: "/blog/1*", Status: sites.Indexed}, after), ""},
		{"page", func() error { _, err := w.Page(ctx, p.ID()); return err }, ""},
		{"pages by id", func() error { _, err := w.PagesByID(ctx, s.ID, p.ID()); return err }, ""},
		{"pages by URL", func() error { _, err := w.PagesByURL(ctx, strings.TrimSuffix(p.URL, "/")); return err }, ""},
		{"find pages", func() error { _, err := w.FindPages(ctx, "https://example.com/blog/1", 10); return err }, ""},
		{"named items", func() error { _, err := w.NamedItems(ctx, []string{s.ID, p.ID()}); return err }, ""},
		{"counts", func() error { _, err := w.CountsOf(ctx, []sites.Website{s, l.other}); return err }, ""},
		{"coverage", func() error { _, err := w.Coverage(ctx, s, models.Time{}); return err }, ""},
		{"submissions", func() error { _, err := w.Submissions(ctx, s.ID, sites.SubmissionFilter{}, subs.Next, 50); return err }, "submissions_website"},
		{"submissions with a status", func() error {
			_, err := w.Submissions(ctx, s.ID, sites.SubmissionFilter{Status: sites.Refused}, subs.Next, 50)
			return err
		}, "submissions_status"},
		{"submissions of a page", func() error {
			_, err := w.Submissions(ctx, s.ID, sites.SubmissionFilter{PageID: p.ID()}, models.Cursor{}, 20)
			return err
		}, "submissions_page"},
		{"websites", func() error { _, err := w.List(ctx, models.Cursor{}, 50); return err }, ""},
		{"website", func() error { _, err := w.Get(ctx, s.ID); return err }, ""},
		{"sitemaps", func() error { _, err := w.SitemapsOf(ctx, s.ID, models.Cursor{}, 50); return err }, ""},
		{"set a priority", func() error { _, err := w.SetPriority(ctx, p.ID(), ptr(90)); return err }, ""},
		{"set priorities", func() error {
			_, err := w.SetPriorities(ctx, s.ID, sites.Filter{Status: sites.Indexed}, ptr(90))
			return err
		}, ""},
		{"set priorities by ID", func() error { _, err := w.SetPrioritiesByID(ctx, s.ID, ptr(80), p.ID()); return err }, ""},
		{"undo priorities", func() error { _, err := w.UndoPriorities(ctx, s.ID, w.Now()); return err }, ""},
		{"request a submission", func() error { _, err := w.RequestSubmission(ctx, p.ID(), false); return err }, ""},
		{"request submissions", func() error { _, err := w.RequestSubmissions(ctx, s.ID, p.ID()); return err }, ""},
		{"request a verification", func() error { _, err := w.RequestVerification(ctx, p.ID()); return err }, ""},
		{"request verifications", func() error { _, err := w.RequestVerifications(ctx, s.ID, p.ID()); return err }, ""},
		{"requested websites", func() error { _, err := w.RequestedWebsites(ctx, sites.Submitting, 10); return err }, ""},
		{"claim", func() error { _, _, err := w.Claim(ctx, w.me, sites.Submitting, s.Seq, true); return err }, ""},
		{"reload", func() error { _, _, err := w.Reload(ctx, w.me, sites.Submitting, s.Seq); return err }, ""},
		{"release", func() error { return w.Release(ctx, w.me, sites.Submitting, s, false) }, ""},
		{"reprioritize", func() error { _, err := w.Reprioritize(ctx); return err }, "pages_reprior"},
		{"sitemaps to read", func() error { _, err := w.SitemapsToRead(ctx, s, 0); return err }, ""},
		{"store entries", func() error { _, err := w.StoreEntries(ctx, s, l.map1, []sites.Entry{entry}); return err }, ""},
		{"found sitemaps", func() error {
			_, _, err := w.AddFound(ctx, s, &l.index, []string{"https://example.com/2.xml"})
			return err
		}, ""},
		{"detach", func() error { _, err := w.DetachPages(ctx, s, l.map1, false); return err }, ""},
		{"detach all", func() error { _, err := w.DetachPages(ctx, s, l.map1, true); return err }, ""},
		{"deleted sitemaps", func() error { _, err := w.DeletedSitemaps(ctx, s); return err }, ""},
		{"purge", func() error { return w.PurgeSitemap(ctx, l.index) }, ""},
		{"pages to publish", func() error { _, err := w.PagesToPublish(ctx, s, 100); return err }, "pages_wanted"},
		{"pages for IndexNow", func() error { _, err := w.PagesForIndexNow(ctx, s); return err }, "pages_indexnow"},
		{"sitemaps to submit", func() error { _, err := w.SitemapsToSubmit(ctx, s); return err }, ""},
		{"mark submitted", func() error { _, err := w.MarkSubmitted(ctx, s, l.map1, 0); return err }, ""},
		{"record outcome", func() error {
			return w.RecordOutcome(ctx, sub, []int64{p.Seq}, sites.Outcome{Status: sites.Accepted, StatusCode: 200})
		}, ""},
		{"record failure", func() error {
			return w.RecordOutcome(ctx, sub, []int64{p.Seq}, sites.Outcome{Status: sites.Retried, Error: "x"})
		}, ""},
		{"pages to verify", func() error { _, err := w.PagesToVerify(ctx, s, 1000); return err }, "pages_queue"},
		{"record verification", func() error {
			return w.RecordVerification(ctx, sites.Verification{Page: p, Inspection: sites.Inspection{Verdict: "PASS"}})
		}, ""},
		{"reap submissions", reap(w.ReapSubmissions), ""},
		{"reap coverage", reap(w.ReapCoverage), ""},
		{"reap pages", reap(w.ReapPages), ""},
		{"reap websites", reap(w.ReapWebsites), ""},
	}
}

// TestQueryPlans checks SQLite's query plans of frequent statements: none reads or sorts a whole table.
func TestQueryPlans(t *testing.T) {
	l := newLarge(newFixture(t, modelstest.New(t)))
	for _, c := range l.planned() {
		t.Run(c.name, func(t *testing.T) {
			used := c.index == ""
			for _, s := range modelstest.Sent(t, l.db, c.do) {
				steps := modelstest.Plan(t, l.db, s)
				plan := strings.Join(steps, "\n  ")
				for i, step := range steps {
					// Rows of the statement itself, and the parts of a list, each of which is read by index up to its limit and then merged.
					joined := slices.Contains([]string{"SCAN r", "SCAN x", "SCAN due", "SCAN newest", "SCAN any_part", "SCAN begins"}, step)
					merged := i > 0 && steps[i-1] == "SCAN x" || strings.Contains(s.SQL, "batch_rows") || strings.Contains(s.SQL, "AS any_part") || strings.Contains(step, "LAST TERM") && !strings.Contains(s.SQL, "LIMIT")
					if modelstest.ReadsAll(step) && !joined || readsLarge(step) && !strings.Contains(s.SQL, "DELETE FROM websites") || modelstest.Sorts(step) && !merged && !isSmallTable(s.SQL) {
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

// TestProblemPlans checks that websites are counted, and those with failed pages found, from indexes.
func TestProblemPlans(t *testing.T) {
	l := newLarge(newFixture(t, modelstest.New(t)))
	for index, do := range map[string]func() error{
		"websites_created": func() error { _, _, err := l.ProblemCounts(l.Context()); return err },
		"websites_refused": func() error {
			_, err := l.WithProblem(l.Context(), sites.ProblemGoogle, models.Cursor{}, 50)
			return err
		},
		"websites_indexnow_refused": func() error {
			_, err := l.WithProblem(l.Context(), sites.ProblemIndexNow, models.Cursor{}, 50)
			return err
		},
		"page_counts_failed": func() error {
			_, err := l.WithProblem(l.Context(), sites.ProblemPages, models.Cursor{}, 50)
			return err
		},
	} {
		var plan []string
		for _, s := range modelstest.Sent(t, l.db, do) {
			plan = append(plan, modelstest.Plan(t, l.db, s)...)
		}
		if !strings.Contains(strings.Join(plan, "\n"), index) || slices.ContainsFunc(plan, modelstest.ReadsAll) {
			t.Errorf("%s: got %q", index, plan)
		}
	}
}

// TestQueryPlansOnPostgres checks the plans of PostgreSQL, with sequential scans disabled: a plan that still has one has no usable
// index.
func TestQueryPlansOnPostgres(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		if db.Engine != models.Postgres {
			t.Skip("PostgreSQL only")
		}
		l := newLarge(newFixture(t, db))
		modelstest.Exec(t, db, "ANALYZE pages")
		modelstest.Exec(t, db, "ANALYZE submissions")
		for _, c := range l.planned() {
			t.Run(c.name, func(t *testing.T) {
				// In a table this small, the primary key also gives the order of seq.
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

// explained is the plan of PostgreSQL for a statement, with sequential scans, sorts and bitmap scans disabled.
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

// readsLarge reports whether a step reads a whole large table or index.
func readsLarge(step string) bool {
	words := strings.Fields(step)
	return words[0] == "SCAN" && slices.Contains([]string{"pages", "p", "o", "sitemap_pages", "sp", "submissions"}, words[1])
}

// isSmallTable reports whether a statement reads only websites, or the sitemaps of one.
func isSmallTable(sql string) bool {
	return strings.Contains(sql, "FROM websites") || strings.Contains(sql, "FROM sitemaps WHERE")
}
