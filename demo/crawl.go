package demo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/lease"
)

// crawlMaker creates demo crawls. It advances a clock through their days.
type crawlMaker struct {
	db    *models.DB
	store *crawl.Store
	rand  *rand.Rand
	at    time.Time
}

// madeCrawl is a job and the results of its crawls.
type madeCrawl struct {
	name, url string
	every     crawl.Interval
	runs      int
	sections  []string
	failed    string // error of its last crawls; "" = none
	paused    bool
	feed      string // path of its feed; "" = none
	feedFails string // error of its last poll; "" = none
}

// allCrawls returns the crawls of the fictional company, with jobs in several states.
func allCrawls() []madeCrawl {
	return []madeCrawl{
		{name: "Documentation", url: "https://docs.northwind.example/", every: crawl.Interval{Count: 1, Type: crawl.Days}, runs: 7, sections: []string{"guides", "api", "changes", "faq"}, feed: "changes.atom"},
		{name: "Shop", url: "https://shop.northwind.example/", every: crawl.Interval{Count: 6, Type: crawl.Hours}, runs: 9, sections: []string{"catalogs", "kitchen", "garden", "sale", "help"}},
		{name: "Blog", url: "https://blog.northwind.example/", every: crawl.Interval{Count: 12, Type: crawl.Hours}, runs: 5, sections: []string{"news", "people"}, feed: "feed.xml"},
		{name: "Archive", url: "https://archive.northwind.example/", every: crawl.Interval{Count: 7, Type: crawl.Days}, runs: 2, sections: []string{"2019", "2020"}, failed: "status 503", feed: "rss", feedFails: "status 503"},
		{name: "Partners", url: "https://partners.northwind.example/", every: crawl.Interval{Count: 1, Type: crawl.Days}, runs: 3, sections: []string{"contracts"}, paused: true},
		{name: "Launch page", url: "https://launch.northwind.example/", runs: 1, sections: []string{"press"}},
	}
}

// Crawls creates sources and jobs with their executions. summary has their numbers.
func Crawls(ctx context.Context, r *Run) (summary string, err error) {
	if !r.Fresh {
		return "0 crawl jobs", nil
	}
	m := &crawlMaker{db: r.DB, rand: random(5), at: r.Now.Add(-20 * day)}
	m.store = crawl.NewStore(r.DB, func() time.Time { return m.at }, crawl.Options{StaleAfter: day, FeedInterval: 15 * time.Minute})
	err = r.DB.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("INSERT INTO instances (id, started_at, heartbeat_at) VALUES (?, 1, 1)", demoLease).Error
	})
	n := 0
	for _, c := range allCrawls() {
		if err == nil {
			err = m.add(ctx, r.Now, c)
			n++
		}
	}
	if err == nil {
		err = m.postponeRuns(ctx, r.Now)
	}
	if err != nil {
		return "", fmt.Errorf("after %d crawl jobs: %w", n, err)
	}
	return fmt.Sprintf("%d crawl jobs", n), nil
}

// demoLease is the lease of the instance that creates the demo crawls.
const demoLease lease.ID = "i_demo"

// postponeRuns postpones the next runs, because the fictional hosts do not exist.
func (m *crawlMaker) postponeRuns(ctx context.Context, now time.Time) error {
	until := models.At(now.Add(Rest))
	return m.db.Write(ctx, func(tx *gorm.DB) error {
		// The runs stay spread out.
		err := tx.Exec("UPDATE jobs SET next_run_at = ? + seq * 3600000000, planned_at = ? + seq * 3600000000 WHERE next_run_at IS NOT NULL", until, until).Error
		if err == nil {
			err = tx.Exec("UPDATE feeds SET next_poll_at = ? + seq * 3600000000 WHERE next_poll_at IS NOT NULL", until).Error
		}
		if err != nil {
			return err
		}
		return tx.Exec("DELETE FROM instances WHERE id = ?", demoLease).Error
	})
}

// add creates a job and runs it.
func (m *crawlMaker) add(ctx context.Context, now time.Time, c madeCrawl) error {
	m.at = now.Add(-time.Duration(c.runs)*max(c.every.Duration(), day) - time.Hour)
	retries := 0
	j, err := m.store.AddJob(ctx, crawl.NewJob{
		URL: c.url, Interval: c.every, AdaptiveScheduling: true, MaxRetries: &retries,
		Source: crawl.NewSource{Name: c.name, Interval: c.every},
	})
	for run := 0; run < c.runs && err == nil; run++ {
		if c.every.Recurring() {
			m.at = now.Add(-time.Duration(c.runs-run) * max(c.every.Duration(), 3*time.Hour)).Add(time.Duration(m.rand.IntN(3000)) * time.Second)
			if _, err = m.store.Act(ctx, j.ID, crawl.ForceRun); err != nil {
				return err
			}
		}
		problem := ""
		if run == c.runs-1 {
			problem = c.failed
		}
		err = m.crawl(ctx, c, problem)
	}
	if err == nil && c.feed != "" {
		err = m.poll(ctx, c, j.SourceID)
	}
	if err == nil && c.paused {
		_, err = m.store.Act(ctx, j.ID, crawl.Pause)
	}
	return err
}

// crawl creates one execution of the due job.
func (m *crawlMaker) crawl(ctx context.Context, c madeCrawl, problem string) error {
	seqs, _, err := m.store.DueJobs(ctx, 1)
	if err != nil || len(seqs) == 0 {
		return err
	}
	e, _, err := m.store.StartExecution(ctx, demoLease, seqs[0])
	if err != nil {
		return err
	}
	if err := m.fetch(ctx, c, problem); err != nil {
		return err
	}
	end := crawl.ExecutionEnd{Event: crawl.Succeed, MemoryPeakMB: int64(40 + m.rand.IntN(20))}
	if problem != "" {
		end.Event, end.Error = crawl.Fail, "start page: "+problem
	}
	if err := m.store.EndExecution(ctx, e, end); err != nil {
		return err
	}
	return m.report(ctx)
}

// report updates the search index and writes the report of an execution, as the crawler does after a crawl.
func (m *crawlMaker) report(ctx context.Context) error {
	r, err := m.store.NextReport(ctx)
	for done := r == nil; !done && err == nil; {
		done, err = r.Next(ctx)
	}
	for n := 1; n > 0 && err == nil; {
		n, err = m.store.IndexNext(ctx, 250)
	}
	return err
}

// poll creates a feed of a source and its polls.
func (m *crawlMaker) poll(ctx context.Context, c madeCrawl, source string) error {
	if _, _, err := m.store.AddFeed(ctx, c.url+c.feed, source); err != nil {
		return err
	}
	outcomes := []crawl.PollOutcome{crawl.PollRead, crawl.PollUnchanged}
	if c.feedFails != "" {
		outcomes[1] = crawl.PollFailed
	}
	for _, o := range outcomes {
		m.at = m.at.Add(20 * time.Minute)
		feeds, _, err := m.store.ClaimFeeds(ctx, demoLease, 1)
		if err != nil || len(feeds) == 0 {
			return err
		}
		p := &crawl.Poll{Feed: feeds[0], Outcome: o}
		if o == crawl.PollFailed {
			p.Reason = c.feedFails
		} else {
			p.Title = "Northwind " + strings.TrimSuffix(models.HostPort(feeds[0].URL), ".northwind.example")
		}
		if o == crawl.PollRead {
			for i := range 5 + m.rand.IntN(5) {
				p.Entries = append(p.Entries, fmt.Sprintf("%s%s/entry-%d", c.url, c.sections[0], i+1))
			}
		}
		if _, err := m.store.RecordPolls(ctx, p); err != nil {
			return err
		}
		if err := m.fetch(ctx, c, ""); err != nil {
			return err
		}
	}
	return nil
}

// fetch creates results until the frontier is empty.
func (m *crawlMaker) fetch(ctx context.Context, c madeCrawl, problem string) error {
	for {
		m.at = m.at.Add(time.Second)
		hosts, _, err := m.store.ClaimHosts(ctx, demoLease, 1, 0)
		if err != nil {
			return err
		}
		if len(hosts) == 0 {
			return nil
		}
		t := &crawl.HostBatch{Host: hosts[0]}
		if t.Unfetched, err = m.store.LoadEntries(ctx, t.Host, crawl.MaxBatchEntries); err != nil {
			return err
		}
		for _, entry := range t.Unfetched {
			m.at = m.at.Add(time.Duration(400+m.rand.IntN(1400)) * time.Millisecond)
			t.Add(m.fetched(c, entry, problem))
		}
		t.Unfetched, t.NextAt, t.DelayMS, t.LastAttemptAt = nil, m.store.Now(), crawl.DefaultRateLimit, m.store.Now()
		if err := m.store.Record(ctx, t); err != nil {
			return err
		}
	}
}

func (m *crawlMaker) fetched(c madeCrawl, e crawl.Entry, problem string) crawl.Result {
	now := m.store.Now()
	r := crawl.Result{Entry: e, Status: crawl.EntryDone, CPU: time.Duration(m.rand.IntN(900)) * time.Microsecond}
	p := &crawl.Page{SourceSeq: e.Crawl.Source, CrawlSeq: e.CrawlSeq, URL: e.URL, StatusCode: 200, ContentType: "text/html", Language: "en", FetchedAt: now}
	path := strings.TrimPrefix(e.URL, c.url)
	switch {
	case problem != "":
		r.Status, r.Reason, r.Broken, p.StatusCode = crawl.EntryFailed, problem, true, 503
	case strings.HasSuffix(path, "/7"):
		r.Status, r.Reason, r.Broken, p.StatusCode = crawl.EntryFailed, "status 404", true, 404
	default:
		p.Title = c.name
		if path != "" {
			p.Title = cases.Title(language.English).String(strings.ReplaceAll(path, "/", " ")) + " · " + c.name
		}
		text := textOf(p.Title, path, now.Time)
		sum := sha256.Sum256([]byte(text))
		p.ContentHash, p.Text, p.WordCount = hex.EncodeToString(sum[:]), crawl.CompressText(text), len(strings.Fields(text))
		p.Description, p.Headings, p.Author = sentences[len(path)%len(sentences)], p.Title, "Northwind"
		r.TextHash = p.ContentHash
		var kept strings.Builder
		for _, to := range m.links(c, path) {
			r.Links = append(r.Links, crawl.FoundURL{Crawl: e.CrawlSeq, Source: e.Crawl.Source, URL: c.url + to, Depth: e.Depth + 1})
			fmt.Fprintf(&kept, "%s%s\t%s\n", c.url, to, cases.Title(language.English).String(strings.ReplaceAll(to, "/", " ")))
		}
		p.Links = crawl.CompressText(kept.String() + "\n")
		if path == "" {
			r.Discovered = append(r.Discovered,
				crawl.DiscoveredLink{SourceSeq: e.Crawl.Source, URL: "https://social.openbench.example/@northwind", Text: "Follow us", FoundOn: e.URL},
				crawl.DiscoveredLink{SourceSeq: e.Crawl.Source, URL: "https://maps.northwind-partners.example/", Text: "Where to find us", FoundOn: e.URL})
		}
	}
	p.LinksFound = len(r.Links)
	r.Page = p
	facts := []any{"status", p.StatusCode, "depth", e.Depth, "links", len(r.Links), "ms", 40 + m.rand.IntN(400)}
	level := "info"
	if r.Reason != "" {
		level, facts = "warn", append(facts, "error", r.Reason)
	}
	r.LogLine = crawl.FormatLogLine(now, level, "fetched", append(facts, "url", e.URL)...)
	return r
}

// links returns the paths that a page links to. The start page links to the sections, and these to their pages.
func (m *crawlMaker) links(c madeCrawl, path string) (links []string) {
	pages := 8
	if m.at.YearDay()%4 == 0 { // sometimes one page is no longer listed
		pages = 7
	}
	if path == "" {
		return c.sections
	}
	if !strings.Contains(path, "/") {
		for i := range pages {
			links = append(links, fmt.Sprintf("%s/%d", path, i+1))
		}
	}
	return links
}
