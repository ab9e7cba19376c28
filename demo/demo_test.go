package demo_test

import (
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/app"
	"linkwatch/demo"
	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
	"linkwatch/models/schedule"
	"linkwatch/models/secret"
	"linkwatch/models/shortlinks"
	"linkwatch/models/sites"
	"linkwatch/models/targets"
)

// env is a getenv of a program with a database of the test's own.
func env(t *testing.T) func(string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "test.db")
	return func(name string) string {
		return map[string]string{"DATABASE_URL": file, "LOG_FORMAT": "json"}[name]
	}
}

// TestDemo looks at one demo from all sides: to make it is most of the work.
func TestDemo(t *testing.T) {
	t.Parallel()
	getenv, begun := env(t), time.Now()
	var out strings.Builder
	if err := app.Run(t.Context(), []string{"demo", "--links", "1700"}, getenv, &out); err != nil || !strings.Contains(out.String(), "Added 1700") {
		t.Fatalf("%s: %v", out.String(), err) // 200 of them are not lived with
	}
	db, err := models.Open(t.Context(), models.SQLite, getenv("DATABASE_URL"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	t.Run("is lived in", func(t *testing.T) { demoIsLivedIn(t, db, begun) })
	t.Run("is watched", func(t *testing.T) { demoIsWatched(t, db, begun) })
	t.Run("is frozen", func(t *testing.T) { demoIsFrozen(t, db, begun) })
	t.Run("is shortened", func(t *testing.T) { demoIsShortened(t, db) })
	t.Run("is indexed", func(t *testing.T) { demoIsIndexed(t, db, begun) })
	t.Run("can be sent", func(t *testing.T) { demoCanBeSent(t, db, getenv("DATABASE_URL")) })
	t.Run("agrees on a certificate", func(t *testing.T) { demoCertificate(t, db) })
	t.Run("refuses a full store", func(t *testing.T) {
		if err := app.Run(t.Context(), []string{"demo"}, getenv, io.Discard); err == nil || !strings.Contains(err.Error(), "--force") {
			t.Errorf("got %v", err)
		}
		var out strings.Builder
		err := app.Run(t.Context(), []string{"demo", "--links", "1", "--force"}, getenv, &out)
		if err != nil || !strings.Contains(out.String(), "Added 0 links. The database already has the other sample links") { // the same first link
			t.Errorf("%s: %v", out.String(), err)
		}
	})
}

// demoIsLivedIn checks that links exist in every state, that some were viewed, and that none was saved or checked in the
// future.
func demoIsLivedIn(t *testing.T, db *models.DB, begun time.Time) {
	store := links.NewStore(db, nil, nil, links.Options{CheckInterval: time.Hour})
	counts, err := store.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range links.Healths {
		if counts.Health[h] == 0 {
			t.Errorf("no link is %s", h)
		}
	}
	if counts.Active+counts.Expired != 1700 || counts.Expired == 0 || counts.Health[links.OK] < 1300 {
		t.Errorf("the counts are %+v", counts)
	}
	popular, err := store.Popular(t.Context(), models.Page{Number: 1, Size: 100})
	if err != nil || popular.Items[0].ViewCount < 50 || popular.Items[99].ViewCount > 20 {
		t.Errorf("views are %d and %d: %v", popular.Items[0].ViewCount, popular.Items[99].ViewCount, err)
	}
	var before time.Time
	for page := 17; page > 0; page-- {
		found, err := store.List(t.Context(), links.Filter{Shown: links.ShowAll}, models.Page{Number: page, Size: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range slices.Backward(found.Items) {
			if l.CreatedAt.Before(before) || l.LastCheckedAt.After(time.Now()) || l.Title == "" || l.Title[:1] != strings.ToUpper(l.Title[:1]) {
				t.Errorf("not as lived with: %+v", l)
			}
			before = l.CreatedAt.Time
		}
	}
	if age := begun.Sub(before); age > 24*time.Hour {
		t.Errorf("the newest link was saved %s ago", age)
	}
}

// demoIsWatched checks that the targets have months of history up to now and all kinds of
// states, and that none of them is due soon.
func demoIsWatched(t *testing.T, db *models.DB, begun time.Time) {
	store := targets.NewStore(db, nil, targets.Options{CheckInterval: 15 * time.Second})
	counts, err := store.Counts(t.Context())
	if err != nil || counts.All() != 24 || counts[targets.Down] != 1 || counts[targets.Paused] != 1 || counts[targets.Pending] != 0 {
		t.Errorf("the targets are %v: %v", counts, err)
	}
	all, err := store.List(t.Context(), targets.Filter{}, models.Cursor{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	perfect, throttled := 0, 0
	for _, x := range all.Items {
		if x.Name == "" || len(x.RecentChecks) != targets.MaxRecentChecks || x.LastCheckedAt.After(time.Now()) || begun.Sub(x.LastCheckedAt.Time) > 3*time.Minute {
			t.Errorf("%s has %d recent checks, the last at %s", x.Name, len(x.RecentChecks), x.LastCheckedAt)
		}
		if !x.Paused && x.NextCheckAt.Before(begun.Add(demo.Rest-time.Hour)) {
			t.Errorf("%s is due soon, at %s, and would be found down", x.Name, x.NextCheckAt)
		}
		ratio, ok := x.Uptime[targets.Last90d].Ratio()
		if !ok || ratio < 0.8 || x.RecentChecks[0].LatencyMS == 0 {
			t.Errorf("%s: uptime %v (%v), recent checks %v", x.Name, ratio, ok, x.RecentChecks[:3])
		}
		if ratio == 1 {
			perfect++
		}
		if x.RecentChecks[len(x.RecentChecks)-1].Outcome == targets.ThrottledOutcome {
			throttled++
		}
	}
	if perfect == 0 || perfect > 12 || throttled != 1 {
		t.Errorf("%d of 24 were never down, %d are throttled", perfect, throttled)
	}
	outages, err := store.Outages(t.Context(), "", models.Cursor{}, 500)
	if err != nil || len(outages.Items) < 50 {
		t.Errorf("there were %d outages: %v", len(outages.Items), err)
	}
	if p, err := store.PageBySlug(t.Context(), "demo"); err != nil || len(p.Targets) != 9 {
		t.Errorf("the status page has %d targets: %v", len(p.Targets), err)
	}
}

// demoIsFrozen: no link is rechecked for a week, and so none changes.
func demoIsFrozen(t *testing.T, db *models.DB, begun time.Time) {
	later := begun.Add(demo.Rest - time.Minute)
	store := links.NewStore(db, func() time.Time { return later }, nil, links.Options{CheckInterval: time.Hour})
	due, _, err := store.Claim(t.Context(), modelstest.Lease(t, db, "k_test"), 10_000)
	if err != nil || len(due) != 0 {
		t.Errorf("within a week %d links are rechecked: %v", len(due), err)
	}
	later = begun.Add(demo.Rest + time.Hour)
	counts, err := store.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if due, _, err = store.Claim(t.Context(), modelstest.Lease(t, db, "k_test"), 10_000); err != nil || len(due) < counts.Active*9/10 {
		t.Errorf("after it only %d of %d: %v", len(due), counts.Active, err)
	}
}

// demoIsShortened checks that short links exist in every state, have visits by people and bots until now, and that one
// redirects to a saved link.
func demoIsShortened(t *testing.T, db *models.DB) {
	store := shortlinks.NewStore(db, nil, nil, nil, shortlinks.Options{})
	all, err := store.List(t.Context(), shortlinks.Filter{}, models.Cursor{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	statuses, usedUp := map[shortlinks.Status]int{}, 0
	for _, l := range all.Items {
		statuses[l.Status(store.Now())]++
		if l.LimitReached() {
			usedUp++
		}
		if l.CreatedAt.After(time.Now()) || l.LastVisitedAt.After(time.Now()) || l.MaxVisits > 0 && l.Visits > l.MaxVisits {
			t.Errorf("not as lived with: %+v", l)
		}
	}
	if len(all.Items) != 14 || statuses[shortlinks.Active] != 11 || statuses[shortlinks.Disabled] != 1 || usedUp != 1 {
		t.Errorf("%d short links: %v, %d used up", len(all.Items), statuses, usedUp)
	}
	van, err := store.Stats(t.Context(), "northwind", shortlinks.KeepDays)
	if err != nil {
		t.Fatal(err)
	}
	visited := 0
	for _, d := range van.Days {
		if d.Visits() > 0 {
			visited++
		}
	}
	if visited < 150 || van.Devices.Bots < 50 || van.Devices.Previews < 50 || van.Devices.Mobile < van.Devices.Tablet || len(van.Referrers) < 4 {
		t.Errorf("on the van: %d days, %+v, %+v", visited, van.Devices, van.Referrers)
	}
	saved := links.NewStore(db, nil, nil, links.Options{CheckInterval: time.Hour})
	if _, ok, err := saved.ByURL(t.Context(), all.Items[len(all.Items)-1].CanonicalURL); err != nil || !ok {
		t.Errorf("no short link redirects to a saved link: %v", err)
	}
}

// demoIsIndexed: the websites have pages in every state, months of coverage and submissions of each kind, and nothing is
// sent or read within a week.
func demoIsIndexed(t *testing.T, db *models.DB, begun time.Time) {
	limits := sites.Limits{PublishPerDay: 200, InspectionsPerDay: 2000}
	store := sites.NewStore(db, nil, sites.Options{Limits: limits, Open: func([]byte, string) ([]byte, error) { return nil, secret.ErrKey }})
	list, err := store.List(t.Context(), models.Cursor{}, 10)
	if err != nil || len(list.Items) != 3 {
		t.Fatalf("%d websites: %v", len(list.Items), err)
	}
	rest := begun.Add(demo.Rest - time.Minute)
	statuses, causes, answers, methods := map[sites.Status]int{}, map[string]int{}, map[sites.SubmissionStatus]int{}, map[sites.Method]int{}
	broken, skipped, domains := 0, 0, 0
	for _, w := range list.Items {
		for _, service := range []sites.Service{sites.Indexing, sites.SearchConsole, sites.IndexNow} {
			uses := w.UsesGoogle()
			if service == sites.IndexNow {
				uses = w.UsesIndexNow()
			}
			if w.Paused(service, models.At(rest)) != uses {
				t.Errorf("%s: %s, which it uses (%v), is called within a week, or rests without use", w.Name, service, uses)
			}
		}
		if _, err := store.Key(w); err == nil {
			t.Errorf("%s has credentials that work", w.Name)
		}
		if w.Property().Domain() {
			domains++
			if w.UsesGoogle() || !w.UsesIndexNow() {
				t.Errorf("%s has %q and the key %q", w.Name, w.ClientEmail, w.IndexNowKey)
			}
		}
		counts, err := store.Counts(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		for s, n := range counts.ByStatus {
			statuses[s] += n
		}
		for _, c := range counts.ByCause {
			causes[c.Cause] += c.Pages
		}
		days, err := store.Coverage(t.Context(), w, models.Time{})
		if yesterday, today := days[len(days)-2].ByStatus, days[len(days)-1].ByStatus; yesterday[sites.Indexed] < today[sites.Indexed]*95/100 || total(yesterday) != total(today) {
			t.Errorf("%s: the coverage jumps from %v to %v", w.Name, yesterday, today)
		}
		if err != nil || len(days) < 90 || w.UsesGoogle() && days[89].ByStatus[sites.Indexed] <= days[20].ByStatus[sites.Indexed] {
			t.Errorf("%s: %d days of coverage: %v", w.Name, len(days), err)
		}
		subs, err := store.Submissions(t.Context(), w.ID, sites.SubmissionFilter{}, models.Cursor{}, 500)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range subs.Items {
			answers[s.Status]++
			methods[s.Method]++
			if s.CreatedAt.After(time.Now()) || s.AnsweredAt.After(time.Now()) {
				t.Errorf("a submission of the future: %+v", s)
			}
		}
		maps, err := store.SitemapsOf(t.Context(), w.ID, models.Cursor{}, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range maps.Items {
			skipped += m.Skipped
			if m.LastError != "" {
				broken++
			}
		}
		q, err := store.Quota(t.Context(), w)
		if err != nil || q.Publish.Used > q.Publish.Limit || w.UsesGoogle() && (q.Inspections.Used == 0 || q.Publish.Used == 0) {
			t.Errorf("%s has used %+v: %v", w.Name, q, err)
		}
	}
	if domains != 1 || broken != 1 || skipped != 3 || len(answers) != 4 || len(methods) != 3 || len(causes) < 12 {
		t.Errorf("%d domains, %d broken sitemaps, %d skipped entries, answers %v, methods %v, causes %v", domains, broken, skipped, answers, methods, causes)
	}
	for _, s := range sites.Statuses() {
		if statuses[s] == 0 {
			t.Errorf("no page is %s", s)
		}
	}
	for _, a := range sites.Activities() {
		if wanted, err := store.RequestedWebsites(t.Context(), a, 10); err != nil || len(wanted) != 0 {
			t.Errorf("%s of %v is wanted: %v", a, wanted, err)
		}
	}
	if j, err := schedule.NewStore(db, nil).Job(t.Context(), string(sites.Reading)); err != nil || j.NextRunAt.Before(rest) {
		t.Errorf("sitemaps are read at %s: %v", j.NextRunAt, err)
	}
	demoPagesAreKnown(t, db, store, list.Items)
}

// total is the number of pages in all statuses.
func total(by map[sites.Status]int) (n int) {
	for _, pages := range by {
		n += pages
	}
	return n
}

// Demo websites are added once on each engine, and only if all links are new.
func TestSites(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		job := schedule.Job{ID: string(sites.Reading), Schedule: "@every 6h"}
		store, runs := sites.NewStore(db, nil, sites.Options{}), schedule.NewStore(db, nil)
		if err := runs.Declare(t.Context(), schedule.Job{ID: "reaper", Schedule: "@every 15m"}); err != nil {
			t.Fatal(err)
		}
		for _, try := range []struct {
			fresh bool
			did   string
			fails bool
			sites int
		}{{false, "0 websites", false, 0}, {true, "3 websites with 2362 pages", false, 3}, {true, "", true, 3}} {
			did, err := demo.Sites(t.Context(), &demo.Run{DB: db, Now: time.Now(), Fresh: try.fresh}, job)
			if did != try.did || (err != nil) != try.fails {
				t.Errorf("fresh=%v: %q %v, want %q", try.fresh, did, err, try.did)
			}
			if list, err := store.List(t.Context(), models.Cursor{}, 10); err != nil || len(list.Items) != try.sites {
				t.Errorf("fresh=%v: %d websites: %v", try.fresh, len(list.Items), err)
			}
		}
		if jobs, err := runs.Jobs(t.Context()); err != nil || len(jobs) != 2 {
			t.Errorf("the jobs are %+v: %v", jobs, err)
		}
	})
}

// demoPagesAreKnown: crawls, targets and links know some pages of the websites, one has a manual priority, and the counts
// are those of the pages.
func demoPagesAreKnown(t *testing.T, db *models.DB, store *sites.Store, all []sites.Website) {
	crawled, watched, manual := 0, 0, 0
	for _, w := range all {
		list, err := store.Pages(t.Context(), w.ID, sites.Filter{}, models.Cursor{}, 5000)
		if err != nil {
			t.Fatal(err)
		}
		counts, err := store.Counts(t.Context(), w)
		if err != nil || counts.Total != len(list.Items) {
			t.Errorf("%s: %d pages are counted of %d: %v", w.Name, counts.Total, len(list.Items), err)
		}
		var urls, canonical []string
		for _, p := range list.Items {
			if p.ManualPriority != nil {
				manual++
			}
			if !p.Queued() && !p.LastSubmittedAt.IsZero() && p.LastSubmittedAt.Before(p.Lastmod.Time) {
				t.Errorf("%s changed after it was submitted, and is not queued", p.URL)
			}
			u, err := models.ParseURL("url", p.URL)
			if err != nil || !w.Property().Contains(u) {
				t.Fatalf("%s is not of %s: %v", p.URL, w.SiteURL, err)
			}
			urls, canonical = append(urls, p.URL), append(canonical, u.Canonical)
		}
		for some := range slices.Chunk(urls, crawl.MaxFacts) {
			facts, err := crawl.NewStore(db, nil, crawl.Options{}).FactsOf(t.Context(), some)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range facts {
				if f.StatusCode != 0 {
					crawled++
				}
			}
		}
		ids, err := targets.NewStore(db, nil, targets.Options{}).ByURLs(t.Context(), canonical)
		if err != nil {
			t.Fatal(err)
		}
		watched += len(ids)
	}
	if crawled < 60 || watched < 4 || manual == 0 {
		t.Errorf("%d pages are crawled, %d watched, %d have a manual priority", crawled, watched, manual)
	}
}

// The demo's links are frozen, and no others: one that was there before is still
// rechecked.
func TestDemo_ForceFreezesNoOtherLink(t *testing.T) {
	t.Parallel()
	getenv := env(t)
	db, err := models.Open(t.Context(), models.SQLite, getenv("DATABASE_URL"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	store := links.NewStore(db, nil, nil, links.Options{CheckInterval: time.Hour})
	if _, err := store.Import(t.Context(), []links.New{{URL: "https://mine.test/page"}}); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := app.Run(t.Context(), []string{"demo", "--links", "20", "--force"}, getenv, &out); err != nil || !strings.Contains(out.String(), "Added 20") {
		t.Fatalf("%s: %v", out.String(), err)
	}
	later := links.NewStore(db, func() time.Time { return time.Now().Add(2 * time.Hour) }, nil, links.Options{CheckInterval: time.Hour})
	due, _, err := later.Claim(t.Context(), modelstest.Lease(t, db, "k_test"), 100)
	if err != nil || len(due) != 1 || due[0].URL != "https://mine.test/page" {
		t.Errorf("due are %v: %v", due, err)
	}
}
