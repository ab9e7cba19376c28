package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/schedule"
	"linkwatch/models/sites"
)

const (
	siteHistory = 90 * day                               // how long the websites are known
	lastmods    = 200 * day                              // how far back the last changes of their pages go
	grownAt     = 6 * day                                // ago: when their sitemaps last grew
	toldAgo     = 20 * time.Minute                       // when their sitemaps were last submitted
	siteAccount = "linkwatch@northwind-search.example"   // of the made-up service account
	siteProject = "northwind-search"                     // its Google project
	siteKey     = "7d1f0c2b9a4e4f6c8d3b5a6e7f809112"     // for IndexNow
	staleMap    = "The server answered with status 404." // what is wrong with the sitemap that cannot be read
	lostAnswer  = "Google did not answer. It may have received the request."
)

// siteMaker makes up websites with the history of their pages.
type siteMaker struct {
	db      *models.DB
	store   *sites.Store
	rand    *rand.Rand
	now, at time.Time
}

// madeSite is a website and how it does.
type madeSite struct {
	name, url string
	google    bool // it has credentials, which no key opens: nothing is ever sent to Google
	indexing  bool // and uses the Indexing API
	indexNow  bool
	sections  []madeSection
	crawled   []string // URLs that the made-up crawls, targets and links have
	broken    bool     // a sitemap cannot be read, and one has entries that are skipped
}

// madeSection is a part of a website with a sitemap of its own.
type madeSection struct {
	root, path string // https://example.com/ and blog/
	words      []string
	pages      int
}

// allSites are those of the made-up company.
func allSites() []madeSite {
	const (
		shop      = "https://shop.northwind.example/"
		careers   = "https://jobs.northwind.example/"
		northwind = ".northwind.example/"
	)
	var crawled, domain []string
	for _, section := range []string{"catalogues", "kitchen", "garden", "sale", "help"} {
		crawled = append(crawled, shop+section)
		for i := range 8 {
			crawled = append(crawled, fmt.Sprintf("%s%s/%d", shop, section, i+1))
		}
	}
	for _, section := range []string{"docs" + northwind + "guides", "docs" + northwind + "api", "docs" + northwind + "changes", "blog" + northwind + "news"} {
		for i := range 8 {
			domain = append(domain, fmt.Sprintf("https://%s/%d", section, i+1))
		}
	}
	return []madeSite{
		{
			name: "Northwind shop", url: shop, google: true, indexNow: true, broken: true, crawled: append(crawled, shop+"checkout"),
			sections: []madeSection{
				{shop, "products/", []string{"oak", "cast-iron", "copper", "linen", "steel", "pan", "board", "kettle", "knife", "lamp", "bowl"}, 1300},
				{shop, "blog/", []string{"how", "we", "made", "tested", "garden", "kitchen", "winter", "recipes", "tools"}, 600},
			},
		},
		{
			name: "Northwind careers", url: careers, google: true, indexing: true,
			sections: []madeSection{{careers, "jobs/", []string{"berlin", "oslo", "lisbon", "engineer", "designer", "warehouse", "support", "buyer"}, 320}},
		},
		{
			name: "All of Northwind", url: "sc-domain:northwind.example", indexNow: true, crawled: append(domain, "https://help"+northwind, "https://docs"+northwind),
			sections: []madeSection{{"https://letters" + northwind, "issues/", []string{"spring", "summer", "autumn", "winter", "news"}, 60}},
		},
	}
}

// Sites makes up websites, and says how many. job is the schedule of the job that reads their sitemaps.
func Sites(ctx context.Context, r *Run, job schedule.Job) (did string, err error) {
	if !r.Fresh {
		return "0 websites", nil
	}
	m := &siteMaker{db: r.DB, rand: random(6), now: r.Now}
	m.store = sites.NewStore(r.DB, func() time.Time { return m.at }, sites.Options{})
	pages, all := 0, allSites()
	for i, s := range all {
		n, err := m.add(ctx, s)
		if pages += n; err != nil {
			return "", fmt.Errorf("after %d websites: %w", i, err)
		}
	}
	if err := m.rest(ctx, job); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d websites with %d pages", len(all), pages), nil
}

// rest keeps the websites as they are for Rest: their hosts do not exist, so their sitemaps could not be read.
func (m *siteMaker) rest(ctx context.Context, job schedule.Job) error {
	m.at = m.now
	for n := sites.StoreBatch; n == sites.StoreBatch; {
		var err error
		if n, err = m.store.Reprioritize(ctx); err != nil {
			return err
		}
	}
	runs := schedule.NewStore(m.db, func() time.Time { return m.now })
	jobs, err := runs.Jobs(ctx)
	if err != nil {
		return err
	}
	job.NextRunAt = models.At(m.now.Add(Rest))
	return runs.Declare(ctx, append(jobs, job)...)
}

// add makes up a website, and says how many pages it has.
func (m *siteMaker) add(ctx context.Context, s madeSite) (pages int, err error) {
	m.at = m.now.Add(-siteHistory)
	w, err := m.store.Add(ctx, sites.NewWebsite{Name: s.name, SiteURL: s.url, IndexingEnabled: s.indexing})
	if err != nil {
		return 0, err
	}
	if s.indexNow {
		key := siteKey
		if w, err = m.store.Edit(ctx, w.ID, sites.Edit{IndexNowKey: &key}); err == nil {
			err = m.store.KeyChecked(ctx, w, "")
		}
		if err != nil {
			return 0, err
		}
	}
	if err := m.sitemaps(ctx, w, s); err != nil {
		return 0, err
	}
	made, err := m.live(ctx, w, s)
	if err != nil {
		return 0, err
	}
	return len(made), m.history(ctx, w, s, made)
}

// sitemaps makes up an index with sitemaps, and reads them: first the old entries, then the new ones.
func (m *siteMaker) sitemaps(ctx context.Context, w sites.Website, s madeSite) error {
	root := w.Property().Root()
	if _, _, err := m.store.AddFound(ctx, w, nil, []string{root + "sitemap.xml"}); err != nil {
		return err
	}
	top, err := m.store.ToRead(ctx, w, 0)
	if err != nil {
		return err
	}
	var urls []string
	var lists [][]string
	for _, part := range s.sections {
		urls, lists = append(urls, part.root+"sitemap-"+strings.Trim(part.path, "/")+".xml"), append(lists, m.urls(part))
	}
	if len(s.crawled) > 0 {
		urls, lists = append(urls, root+"sitemap-pages.xml"), append(lists, append([]string{root}, s.crawled...))
	}
	if s.broken {
		urls = append(urls, root+"sitemap-2019.xml")
	}
	if _, _, err := m.store.AddFound(ctx, w, &top[0], urls); err != nil {
		return err
	}
	if err := m.store.RecordRead(ctx, top[0], sites.Read{Stored: true, Kind: sites.KindIndex, Pages: len(urls)}); err != nil {
		return err
	}
	parts, err := m.store.ToRead(ctx, w, 1)
	if err != nil {
		return err
	}
	for i, part := range parts {
		if err := m.read(ctx, w, s, part, lists, i); err != nil {
			return err
		}
	}
	m.at = m.now.Add(-25 * time.Minute)
	if err := m.store.RecordRead(ctx, top[0], sites.Read{Unchanged: true}); err != nil {
		return err
	}
	return m.store.ReadEnded(ctx, w, "")
}

// read reads the sitemap i of a website, which has the pages lists[i].
func (m *siteMaker) read(ctx context.Context, w sites.Website, s madeSite, part sites.Sitemap, lists [][]string, i int) error {
	if i == len(lists) {
		m.at = m.now.Add(-25 * time.Minute)
		return m.store.RecordRead(ctx, part, sites.Read{Error: staleMap})
	}
	r := sites.Read{Stored: true, Kind: sites.KindSitemap, Pages: len(lists[i])}
	if s.broken && i == 0 {
		r.Skipped, r.Reasons = 3, []string{"2 entries are outside the website", "1 entry has no URL"}
	}
	if err := m.store.BeginReading(ctx, part); err != nil {
		return err
	}
	old, added := siteHistory, len(lists[i])*9/10 // the last ones were added lately
	for _, some := range [][]string{lists[i][:added], lists[i][added:]} {
		m.at = m.now.Add(-old)
		var entries []sites.Entry
		for _, url := range some {
			u, err := models.ParseURL("url", url)
			if err != nil {
				return err
			}
			age := time.Duration(m.rand.Float64() * float64(lastmods))
			if old < siteHistory {
				age = time.Duration(m.rand.Float64() * float64(old))
			}
			entries = append(entries, sites.Entry{URL: u, Lastmod: models.At(m.now.Add(-age).Truncate(time.Minute))})
		}
		if _, err := m.store.StoreEntries(ctx, w, part, entries); err != nil {
			return err
		}
		old = grownAt
	}
	m.at = m.now.Add(-25 * time.Minute)
	return m.store.RecordRead(ctx, part, r)
}

// urls makes up the URLs of a section.
func (m *siteMaker) urls(s madeSection) (urls []string) {
	for i := range s.pages {
		word := func() string { return s.words[m.rand.IntN(len(s.words))] }
		urls = append(urls, fmt.Sprintf("%s%s%s-%s-%d", s.root, s.path, word(), word(), i+1))
	}
	return urls
}

// history makes up what happened to a website in its months.
func (m *siteMaker) history(ctx context.Context, w sites.Website, s madeSite, made []sites.Page) error {
	m.at = m.now
	until := models.At(m.now.Add(Rest)) // no service that it uses is called before
	set := map[string]any{"sitemaps_wanted_at": nil, "submit_wanted_at": nil}
	if s.indexNow {
		set["indexnow_retry_at"] = until
	}
	if s.google {
		set["indexing_retry_at"], set["console_retry_at"] = until, until
		set["credentials"], set["client_email"], set["project_id"] = []byte("made up"), siteAccount, siteProject
		w.ProjectID = siteProject
	}
	quota, err := m.store.Quota(ctx, w)
	if err != nil {
		return err
	}
	err = m.db.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Model(&sites.Website{}).Where("seq = ?", w.Seq).Updates(set).Error; err != nil {
			return err
		}
		if err := m.coverage(tx, w, made); err != nil {
			return err
		}
		if err := tx.CreateInBatches(m.submissions(w, s, made), 100).Error; err != nil {
			return err
		}
		if !s.google {
			return nil
		}
		if !s.indexing {
			err := tx.Exec("UPDATE sitemaps SET submitted_at = ? WHERE website_seq = ? AND root_seq IS NULL", models.At(m.now.Add(-toldAgo)), w.Seq).Error
			if err != nil {
				return err
			}
		}
		used := models.NewRows("scope text, kind text, ends_at bigint, used bigint")
		used.Add("property:"+w.SiteURL, sites.CallInspect, quota.Inspections.ResetsAt, 900+m.rand.IntN(900))
		if s.indexing {
			used.Add("project:"+siteProject, sites.CallPublish, quota.Publish.ResetsAt, 137)
		}
		return used.Exec(tx, "INSERT INTO quota_days (scope, kind, ends_at, used) SELECT scope, kind, ends_at, used FROM {rows} AS r").Error
	})
	if err != nil {
		return err
	}
	if s.indexing {
		high := 95
		_, err = m.store.SetPriorities(ctx, w.ID, sites.Filter{Match: "/jobs/berlin-*"}, &high)
	}
	return err
}
