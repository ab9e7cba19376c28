package crawl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// FrontierEntry is an entry of the frontier in lists.
type FrontierEntry struct {
	Seq         int64
	SourceID    string
	ExecutionID string // the newest execution of its crawl; "" = added manually
	URL         string
	Depth       int
	Status      EntryStatus
	Attempts    int
	LastError   string // "" = none
	CreatedAt   models.Time
	UpdatedAt   models.Time
	CanRetry    bool // RetryEntries accepts it
}

// ID returns the public id of the entry.
func (e FrontierEntry) ID() string { return models.TimedID(models.KindFrontier, e.CreatedAt, e.Seq) }

// EntryFilter selects entries of the frontier. The zero value selects all.
type EntryFilter struct {
	SourceID    string
	ExecutionID string
	Status      EntryStatus
	Host        string // exact; without a port it matches any port
	Text        string // part of the URL
}

// entryRows selects the entries that the actor of tx can see. An open entry of a crawl that has ended counts as failed. It
// is closed when its host is next claimed.
func entryRows(tx *gorm.DB) (sql string, args []any) {
	visible, args := models.Visible(tx, "s")
	return selectEntries + visible, args
}

const selectEntries = `SELECT f.seq, s.id AS source_id, coalesce(e.id, '') AS execution_id, f.url, f.depth, f.attempts, f.created_at, f.updated_at,
		CASE WHEN ` + entryEnded + ` THEN 'failed' ELSE f.status END AS status, CASE WHEN ` + entryEnded + ` THEN '` + ReasonEnded + `' ELSE f.last_error END AS last_error,
		f.status = 'failed' AND s.enabled AND (f.crawl_seq = 0 OR coalesce(e.status, '') = 'running') AS can_retry
	FROM frontier AS f JOIN sources AS s ON s.seq = f.source_seq` + joinCrawl + `
	WHERE s.deleted_at IS NULL AND `

// joinCrawl joins entries with the newest execution of their crawl, and its job.
const joinCrawl = `
	LEFT JOIN job_executions AS e ON e.seq = (SELECT max(n.seq) FROM job_executions AS n WHERE n.crawl_seq = f.crawl_seq)
	LEFT JOIN jobs AS j ON j.seq = e.job_seq`

const entryEnded = `f.` + openEntries + ` AND f.crawl_seq <> 0 AND coalesce(e.status, '') <> 'running' AND coalesce(j.crawl_seq, 0) <> f.crawl_seq`

// Frontier returns one page of the frontier, the oldest entry first. limit comes from models.NewLimit. A filter by host or
// text reads models.MaxSearched entries.
func (s *Store) Frontier(ctx context.Context, f EntryFilter, after models.Cursor, limit int) (models.Slice[FrontierEntry], error) {
	var page models.Slice[FrontierEntry]
	err := errors.Join(
		models.CheckFilter("query.source_id", f.SourceID), models.CheckFilter("query.execution_id", f.ExecutionID),
		models.CheckFilter("query.host", f.Host), models.CheckFilter("query.q", f.Text),
	)
	if err != nil {
		return page, err
	}
	tx := s.db.Read(ctx)
	q := models.ListQuery{Table: "frontier AS f", From: "frontier AS f JOIN sources AS s ON s.seq = f.source_seq AND s.deleted_at IS NULL"}
	q.Own, q.OwnArgs = ofVisibleSource(tx, "f.source_seq")
	if f.SourceID != "" && !isID(models.KindSource, f.SourceID) ||
		f.ExecutionID != "" && !isID(models.KindExecution, f.ExecutionID) {
		return models.NoItems[FrontierEntry](after), nil // no such source or job
	}
	if f.SourceID != "" {
		q.And("f.source_seq = (SELECT seq FROM sources WHERE id = ?)", f.SourceID)
	}
	if f.ExecutionID != "" {
		q.And("f.crawl_seq = (SELECT crawl_seq FROM job_executions WHERE id = ?)", f.ExecutionID)
	}
	switch f.Status {
	case "":
	case EntryPending, EntryFetching, EntryFailed:
		q.And("f.status = ? AND f.status <> 'done'", f.Status) // the index is partial
	case EntryDone:
		q.And("f.status = ?", f.Status)
	}
	if f.Status == EntryPending || f.Status == EntryFetching {
		q.From += joinCrawl
		q.Also("NOT (" + entryEnded + ")")
	}
	if f.Host != "" {
		host := hostOf(f.Host)
		withPort := models.Beginning(host + ":")
		q.Search("f.host_seq IN (SELECT seq FROM crawl_hosts WHERE host = ? OR host >= ? AND host < ?)", host, withPort.From, withPort.Till)
	}
	if text := strings.ToLower(f.Text); text != "" {
		q.Search(`lower(f.url) LIKE ? ESCAPE '\'`, "%"+models.EscapeLike(text)+"%")
	}
	return FrontierOrders.List(tx, q, after, limit, func(p models.ListPart) (found []FrontierEntry, err error) {
		sql, who := entryRows(tx)
		if err = p.Raw(tx, sql+" AND", who...).Scan(&found).Error; err != nil {
			err = fmt.Errorf("load frontier: %w", err)
		}
		return found, err
	})
}

// Entry returns an entry by id. The error is CodeNotFound if there is none.
func (s *Store) Entry(ctx context.Context, id string) (FrontierEntry, error) {
	return entry(s.db.Read(ctx), id)
}

func entry(tx *gorm.DB, id string) (e FrontierEntry, err error) {
	at, seq, err := models.ParseTimedID(models.KindFrontier, id)
	if err != nil {
		return e, models.NotFound("frontier entry")
	}
	var found []FrontierEntry
	sql, args := entryRows(tx)
	if err := tx.Raw(sql+" AND f.seq = ? AND f.created_at = ?", append(args, seq, at)...).Scan(&found).Error; err != nil {
		return e, fmt.Errorf("load frontier entry: %w", err)
	}
	if len(found) == 0 {
		return e, models.NotFound("frontier entry")
	}
	return found[0], nil
}

// AddEntry adds a URL to the frontier manually. It is fetched once with the settings of its source, and its links are not
// followed. If sourceID is "", the source is one of the URL's host, and is created if there is none. If the URL is already
// waiting, that entry is returned and created is false. Errors are CodeInvalid ("url", "source_id"), and CodeConflict if the
// source is disabled.
func (s *Store) AddEntry(ctx context.Context, url, sourceID string) (e FrontierEntry, created bool, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if _, err := models.ParseURL("url", url); err != nil {
			return err
		}
		normal, ok := Normalize(url)
		if !ok {
			return models.Invalid("url", "cannot be crawled; check it for stray characters")
		}
		src, err := s.sourceFor(tx, NewJob{SourceID: sourceID, URL: url})
		if err != nil {
			return err
		}
		u, err := models.ParseURL("url", normal)
		switch {
		case err != nil:
			return err
		case !src.Allows(u.Canonical):
			return models.Invalid("url", "is outside the allowed domains of its source; add its host and port to them first")
		case !src.Enabled:
			return models.Conflict("The source is disabled. Enable it first.")
		}
		n, err := s.enqueueManual(tx, src, []string{normal})
		if err != nil {
			return err
		}
		created = n > 0
		h := hashOf(normal)
		var found []FrontierEntry
		sql, args := entryRows(tx)
		if err := tx.Raw(sql+" AND f.crawl_seq = 0 AND f.url_hash = ? AND f.scope_seq = ?", append(args, h[:], src.scope())...).Scan(&found).Error; err != nil {
			return err
		}
		if len(found) == 0 {
			return errors.New("added frontier entry not found")
		}
		if e = found[0]; !created {
			return nil
		}
		return audit.Add(tx, s.clock.Now(), audit.Change{
			Action: "frontier_entry.add", Subject: audit.Subject{Kind: "frontier_entry", ID: e.ID(), Name: e.URL},
			After: audit.Values{"url": e.URL, "source_id": e.SourceID},
		})
	})
	if err == nil {
		signal(s.urls)
	}
	return e, created, err
}

// scope returns the scope in which a manually added URL waits only once. All shared sources are one scope (0). Each private
// source is a scope.
func (s Source) scope() int64 {
	if s.Private() {
		return s.Seq
	}
	return 0
}

// enqueueManual adds normalized URLs to the frontier, to be fetched once. It returns the number of URLs that were not
// already waiting.
func (s *Store) enqueueManual(tx *gorm.DB, src Source, urls []string) (added int, err error) {
	rows, found := models.NewRows("url_hash bytes"), make([]FoundURL, len(urls))
	for i, url := range urls {
		h := hashOf(url)
		rows.Add(h[:])
		found[i] = FoundURL{Source: src.Seq, URL: url}
	}
	// A finished entry, or one that is no longer fetched, is replaced.
	err = rows.Exec(tx, `DELETE FROM frontier WHERE crawl_seq = 0 AND url_hash IN (SELECT url_hash FROM {rows} AS r) AND scope_seq = ? AND (status IN ('done', 'failed')
		OR source_seq IN (SELECT seq FROM sources WHERE deleted_at IS NOT NULL OR NOT enabled))`, src.scope()).Error
	if err != nil {
		return 0, err
	}
	all, err := s.enqueue(tx, found)
	return len(all), err
}
