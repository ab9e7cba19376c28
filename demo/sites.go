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
	siteHistory  = 90 * day                                // age of the websites
	lastmods     = 200 * day                               // maximum age of lastmod
	grownAt      = 6 * day                                 // time since the sitemaps last grew
	submittedAgo = 20 * time.Minute                        // time since the last submission of sitemaps
	siteAccount  = "linkwatch@northwind-search.example"    // service account
	siteProject  = "northwind-search"                      // Google project
	siteKey      = "7d1f0c2b9a4e4f6c8d3b5a6e7f809112"      // IndexNow key
	sitemapError = "The server responded with status 404." // of the sitemap that cannot be read
	lostAnswer   = "Google did not respond. It may have received the request."
)

type siteMaker struct {
	db      *models.DB
	store   *sites.Store
	rand    *rand.Rand
	now, at time.Time
}

type siteSpec struct {
	name, url string
	google    bool // has credentials that cannot be decrypted, so nothing is sent to Google
	indexing  bool // uses the Indexing API
	indexNow  bool
	sections  []sectionSpec
	crawled   []string // URLs of the crawls, targets and links of the demo
	broken    bool     // one sitemap cannot be read, another has skipped entries
}

// sectionSpec is a part of a website with its own sitemap.
type sectionSpec struct {
	root, path string // https://example.com/ and blog/
	words      []string
	pages      int
}

func allSites() []siteSpec {
	const (
		shop      = "https://shop.northwind.example/"
		careers   = "https://jobs.northwind.example/"
		northwind = ".northwind.example/"
	)
	var crawled, domain []string
	for _, section := range []string{"catalogs", "kitchen", "garden", "sale", "help"} {
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
	return []siteSpec{
		{
			name: "Northwind shop", url: shop, google: true, indexNow: true, broken: true, crawled: append(crawled, shop+"checkout"),
			sections: []sectionSpec{
				{shop, "products/", []string{"oak", "cast-iron", "copper", "linen", "steel", "pan", "board", "kettle", "knife", "lamp", "bowl"}, 1300},
				{shop, "blog/", []string{"how", "we", "made", "tested", "garden", "kitchen", "winter", "recipes", "tools"}, 600},
			},
		},
		{
			name: "Northwind careers", url: careers, google: true, indexing: true,
			sections: []sectionSpec{{careers, "jobs/", []string{"berlin", "oslo", "lisbon", "engineer", "designer", "warehouse", "support", "buyer"}, 320}},
		},
		{
			name: "All of Northwind", url: "sc-domain:northwind.example", indexNow: true, crawled: append(domain, "https://help"+northwind, "https://docs"+northwind),
			sections: []sectionSpec{{"https://letters" + northwind, "issues/", []string{"spring", "summer", "autumn", "winter", "news"}, 60}},
		},
	}
}

// Sites creates the websites and returns a summary. job is the scheduled job that reads sitemaps.
func Sites(ctx context.Context, r *Run, job schedule.Job) (summary string, err error) {
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
	if err := m.freeze(ctx, job); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d websites with %d pages", len(all), pages), nil
}

// freeze keeps the jobs from changing the websites for Rest: their hosts do not exist, so reading their sitemaps would fail.
func (m *siteMaker) freeze(ctx context.Context, job schedule.Job) error {
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

// add creates a website and returns its number of pages.
func (m *siteMaker) add(ctx context.Context, s siteSpec) (pages int, err error) {
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
	made, err := m.setPages(ctx, w, s)
	if err != nil {
		return 0, err
	}
	return len(made), m.history(ctx, w, s, made)
}

func (m *siteMaker) sitemaps(ctx context.Context, w sites.Website, s siteSpec) error {
	root := w.Property().Root()
	if _, _, err := m.store.AddFound(ctx, w, nil, []string{root + "sitemap.xml"}); err != nil {
		return err
	}
	top, err := m.store.SitemapsToRead(ctx, w, 0)
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
	if err := m.store.RecordRead(ctx, top[0], sites.ReadResult{Stored: true, Kind: sites.KindIndex, Pages: len(urls)}); err != nil {
		return err
	}
	parts, err := m.store.SitemapsToRead(ctx, w, 1)
	if err != nil {
		return err
	}
	for i, part := range parts {
		if err := m.read(ctx, w, s, part, lists, i); err != nil {
			return err
		}
	}
	m.at = m.now.Add(-25 * time.Minute)
	if err := m.store.RecordRead(ctx, top[0], sites.ReadResult{Unchanged: true}); err != nil {
		return err
	}
	return m.store.FinishReading(ctx, w, "")
}

// read reads the i-th sitemap of a website with the pages lists[i].
func (m *siteMaker) read(ctx context.Context, w sites.Website, s siteSpec, part sites.Sitemap, lists [][]string, i int) error {
	if i == len(lists) {
		m.at = m.now.Add(-25 * time.Minute)
		return m.store.RecordRead(ctx, part, sites.ReadResult{Error: sitemapError})
	}
	r := sites.ReadResult{Stored: true, Kind: sites.KindSitemap, Pages: len(lists[i])}
	if s.broken && i == 0 {
		r.Skipped, r.Reasons = 3, []string{"2 entries are outside the website", "1 entry has no URL"}
	}
	if err := m.store.BeginReading(ctx, part); err != nil {
		return err
	}
	old, added := siteHistory, len(lists[i])*9/10 // the last tenth was added recently
	for _, urls := range [][]string{lists[i][:added], lists[i][added:]} {
		m.at = m.now.Add(-old)
		var entries []sites.Entry
		for _, url := range urls {
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

func (m *siteMaker) urls(s sectionSpec) (urls []string) {
	for i := range s.pages {
		word := func() string { return s.words[m.rand.IntN(len(s.words))] }
		urls = append(urls, fmt.Sprintf("%s%s%s-%s-%d", s.root, s.path, word(), word(), i+1))
	}
	return urls
}

func (m *siteMaker) history(ctx context.Context, w sites.Website, s siteSpec, made []sites.Page) error {
	m.at = m.now
	until := models.At(m.now.Add(Rest)) // no requests to services before
	set := map[string]any{"sitemaps_requested_at": nil, "submit_requested_at": nil}
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
			err := tx.Exec("UPDATE sitemaps SET submitted_at = ? WHERE website_seq = ? AND root_seq IS NULL", models.At(m.now.Add(-submittedAgo)), w.Seq).Error
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
