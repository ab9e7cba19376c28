package sites_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models/sites"
)

// Under concurrent changes, page counts match the pages, queue_rank matches the priority, and exactly the pages in no sitemap are
// gone and not queued.
func TestInvariants(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site("https://example.com/"))
		s, err := w.Edit(w.Context(), s.ID, sites.Edit{IndexNowKey: ptr("0123456789"), IndexingEnabled: ptr(true)})
		w.must(err)
		seed := uint64(time.Now().UnixNano())
		t.Logf("seed %d", seed)
		var group sync.WaitGroup
		for n := range uint64(3) {
			m := w.sitemap(s, fmt.Sprintf("https://example.com/%d.xml", n))
			w.must(w.BeginReading(w.Context(), m))
			group.Go(func() {
				a := randomActor{w, rand.New(rand.NewPCG(seed, n)), s, m}
				for range 100 {
					if err := a.act(); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		group.Wait()
		for what, sql := range map[string]string{
			"page counts differ": `SELECT count(*) FROM (SELECT status, cause FROM (
				SELECT status, cause, pages FROM page_counts UNION ALL
				SELECT CASE WHEN gone_at IS NULL THEN status ELSE 'gone' END, CASE WHEN gone_at IS NULL THEN cause ELSE '' END, -1 FROM pages) AS x
				GROUP BY status, cause HAVING sum(pages) <> 0) AS y`,
			"pages have a wrong queue_rank": "SELECT count(*) FROM pages WHERE queue_rank <> 100 - COALESCE(manual_priority, auto_priority)",
			"gone pages are queued":         "SELECT count(*) FROM pages WHERE gone_at IS NOT NULL AND (queued_for_google OR queued_for_indexnow OR removal)",
			"pages have a wrong gone_at":    "SELECT count(*) FROM pages AS p WHERE (p.gone_at IS NULL) <> EXISTS (SELECT 1 FROM sitemap_pages AS o WHERE o.page_seq = p.seq)",
		} {
			var wrong int
			if w.must(w.db.Read(w.Context()).Raw(sql).Scan(&wrong).Error); wrong > 0 {
				t.Errorf("%d %s", wrong, what)
			}
		}
	})
}

// randomActor runs random operations on a website and one of its sitemaps.
type randomActor struct {
	*fixture
	*rand.Rand
	site    sites.Website
	sitemap sites.Sitemap
}

func (a randomActor) act() error {
	ctx := a.Context()
	switch a.IntN(9) {
	case 0, 1:
		var entries []sites.Entry
		for range a.IntN(20) {
			entries = append(entries, a.entry(fmt.Sprintf("https://example.com/%d", a.IntN(40)), a.IntN(60)-1))
		}
		_, err := a.StoreEntries(ctx, a.site, a.sitemap, entries)
		return err
	case 2:
		_, err := a.DetachPages(ctx, a.site, a.sitemap, a.IntN(2) == 0)
		return err
	case 3, 4:
		return a.submit()
	case 5:
		ps, err := a.PagesToVerify(ctx, a.site, 5)
		for _, p := range ps {
			i := sites.Inspection{Verdict: []string{"PASS", "FAIL", "NEUTRAL", "VERDICT_UNSPECIFIED", ""}[a.IntN(5)]}
			if err == nil {
				err = a.RecordVerification(ctx, sites.Verification{Page: p, Inspection: i, Cause: sites.CauseOf(i)})
			}
		}
		return err
	case 6:
		_, err := a.MarkSubmitted(ctx, a.site, a.sitemap, 0)
		return err
	case 7:
		a.clock.Advance(time.Duration(a.IntN(72)) * time.Hour)
		_, err := a.Reprioritize(ctx)
		return err
	default:
		if a.IntN(4) == 0 {
			return a.db.Write(ctx, func(tx *gorm.DB) error { _, err := a.ReapPages(tx, 100); return err })
		}
		_, err := a.SetPriorities(ctx, a.site.ID, sites.Filter{Match: fmt.Sprint(a.IntN(40))}, ptr(1+a.IntN(100)))
		return err
	}
}

func (a randomActor) submit() error {
	ctx, method, next := a.Context(), sites.ByIndexNow, func() ([]sites.Page, error) { return a.PagesForIndexNow(a.Context(), a.site) }
	if a.IntN(2) == 0 {
		method, next = sites.ByIndexingAPI, func() ([]sites.Page, error) { return a.PagesToPublish(ctx, a.site, 10) }
	}
	ps, err := next()
	if err != nil || len(ps) == 0 {
		return err
	}
	var seqs []int64
	for _, p := range ps {
		seqs = append(seqs, p.Seq)
	}
	sub, err := a.BeginSubmission(ctx, a.site, sites.Submission{Method: method, Action: sites.Updated, Pages: len(seqs), LoadedAt: ps[0].LoadedAt})
	if err != nil {
		return err
	}
	status := []sites.SubmissionStatus{sites.Accepted, sites.Refused, sites.Retried, sites.Sent}[a.IntN(4)]
	return a.RecordOutcome(ctx, sub, seqs, sites.Outcome{Status: status, Error: "e", Cause: "refused", RateLimited: a.IntN(5) == 0})
}
