package crawl

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"linkwatch/models"
)

// Site is the crawl data about the site of a URL.
type Site struct {
	SourceID   string
	SourceName string
	JobID      string      // of its first job; "" = none
	FetchedAt  models.Time // last fetch of the URL; zero: crawls did not find it
	StatusCode int         // of that fetch
	PrivateTo  string      // same as that of its source
}

// maxSources is the maximum number of sources of one site that SiteOf considers.
const maxSources = 20

// SiteOf returns the source, shared or the caller's own, that crawls the host and port of a URL. ok is false if there is none. Of
// several it prefers one that has the page of the URL, then shared ones, then the oldest.
func (s *Store) SiteOf(ctx context.Context, url string) (site Site, ok bool, err error) {
	normal, fine := Normalize(url)
	if !fine {
		return Site{}, false, nil // crawls cannot reach it
	}
	u, err := models.ParseURL("url", normal)
	if err != nil {
		return Site{}, false, err
	}
	h := hashOf(normal)
	var found []Site
	tx := s.db.Read(ctx)
	own, args := models.OwnScope(tx, "s")
	err = tx.Raw(`SELECT s.id AS source_id, s.name AS source_name, s.private_to, p.fetched_at, coalesce(p.status_code, 0) AS status_code,
			coalesce((SELECT j.id FROM jobs AS j WHERE j.source_seq = s.seq AND j.deleted_at IS NULL ORDER BY j.created_at, j.id LIMIT 1), '') AS job_id
		FROM sources AS s LEFT JOIN crawled_pages AS p ON p.source_seq = s.seq AND p.url_hash = ?
		WHERE s.host = ? AND s.port = ? AND s.deleted_at IS NULL AND `+own+` ORDER BY s.created_at LIMIT ?`, joinArgs([]any{h[:], u.Host, authorityOf(normal).port}, joinArgs(args, maxSources)...)...).Scan(&found).Error
	if err != nil {
		return Site{}, false, fmt.Errorf("find source of site: %w", err)
	}
	if len(found) == 0 {
		return Site{}, false, nil
	}
	slices.SortStableFunc(found, func(a, b Site) int { return cmp.Compare(a.PrivateTo, b.PrivateTo) }) // shared ones first
	for _, f := range found {
		if !f.FetchedAt.IsZero() {
			return f, true, nil
		}
	}
	return found[0], true, nil
}

// MovedJobs returns the jobs of moves by Job.Seq, with the names of their sources.
func (s *Store) MovedJobs(ctx context.Context, moves []Move) (map[int64]Job, error) {
	rows := models.NewRows("seq bigint")
	for _, m := range moves {
		rows.Add(m.Seq)
	}
	var found []Job
	tx := s.db.Read(ctx)
	visible, args := models.Visible(tx, "s")
	err := rows.Raw(tx, `SELECT j.*, s.id AS source_id, s.name AS source_name, s.private_to AS private_to FROM {rows} AS r
		CROSS JOIN jobs AS j CROSS JOIN sources AS s WHERE j.seq = r.seq AND s.seq = j.source_seq AND `+visible, args...).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("load jobs of moves: %w", err)
	}
	jobs := make(map[int64]Job, len(found))
	for _, j := range found {
		jobs[j.Seq] = j
	}
	return jobs, nil
}
