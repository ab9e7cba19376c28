package crawl

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// MaxSiteURLs is the maximum number of URLs for CrawlSite.
const MaxSiteURLs = 500

// CrawlSite crawls a site now, together with pages from a list such as a sitemap. The crawl follows links from n.URL. The
// listed pages are manual entries of the frontier, so pages without links to them are fetched too. A listed page that the
// crawl also finds is fetched twice.
//
// If the source has a scheduled or running job for n.URL, that job runs now. Otherwise n is added. URLs that cannot be
// crawled or are outside the allowed domains of the source are skipped. Errors are those of AddJob, CodeInvalid ("urls") for
// more than MaxSiteURLs URLs, and CodeConflict if the source is disabled. After an error nothing is changed.
func (s *Store) CrawlSite(ctx context.Context, n NewJob, urls []string) (Job, error) {
	if len(urls) > MaxSiteURLs {
		return Job{}, models.TooLong("urls", MaxSiteURLs, "URLs")
	}
	start, err := models.ParseURL("url", n.URL)
	if err != nil {
		return Job{}, err
	}
	var id string
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		src, err := s.sourceFor(tx, n)
		switch {
		case err != nil:
			return err
		case !src.Enabled:
			return models.Conflict("The source is disabled. Enable it first.")
		}
		if id, err = s.runNow(tx, src, start); err != nil {
			return err
		}
		if id == "" {
			if id, err = s.addJob(tx, src, n); err != nil {
				return err
			}
		}
		n, err := s.enqueueManual(tx, src, src.allowed(urls))
		if err != nil || n == 0 {
			return err
		}
		return audit.Add(tx, s.clock.Now(), audit.Change{
			Action: "frontier_entry.add", Subject: audit.Subject{Kind: "frontier_entry"}, After: audit.Values{"source_id": src.ID, "count": n},
		})
	})
	if err != nil {
		return Job{}, err
	}
	signal(s.jobsChanged)
	signal(s.urls)
	return s.Job(ctx, id)
}

// runNow makes a job of the source for a start page run now. id is "" if no such job is scheduled or running. A job that is
// already running continues.
func (s *Store) runNow(tx *gorm.DB, src Source, start models.URL) (id string, err error) {
	var open []Job
	err = tx.Raw("SELECT id, url FROM jobs WHERE source_seq = ? AND deleted_at IS NULL AND status IN ('pending', 'scheduled', 'running') ORDER BY seq", src.Seq).Scan(&open).Error
	if err != nil {
		return "", fmt.Errorf("find job: %w", err)
	}
	for _, o := range open {
		if u, err := models.ParseURL("url", o.URL); err != nil || u.Canonical != start.Canonical {
			continue
		}
		j, err := lockJob(tx, o.ID)
		if err != nil {
			return "", err
		}
		switch j.Status {
		case Running:
			return j.ID, nil
		case Pending, Scheduled:
			j.NextRunAt, j.Forced, j.UpdatedAt = s.clock.Now(), true, s.clock.Now()
			if err := audit.Add(tx, j.UpdatedAt, ForceRun.change(j, j.Status)); err != nil {
				return "", err
			}
			return j.ID, saveJob(tx, &j, "next_run_at", "forced")
		case Paused, Completed, Failed, Cancelled: // changed since it was read
		}
	}
	return "", nil
}

// allowed returns the normalized URLs that the source crawls, without duplicates.
func (s Source) allowed(urls []string) (all []string) {
	seen := map[string]bool{}
	for _, given := range urls {
		normal, ok := Normalize(given)
		if !ok || seen[normal] {
			continue
		}
		if _, err := models.ParseURL("url", normal); err == nil && s.Allows(normal) {
			seen[normal] = true
			all = append(all, normal)
		}
	}
	return all
}
