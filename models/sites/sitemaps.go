package sites

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// AddSitemap adds a sitemap, which is read within seconds, and reports whether it is new. It fetches nothing; errors of the
// sitemap are stored in LastError. Errors are CodeNotFound, CodeInvalid ("url") and CodeConflict if the website has MaxSitemaps.
func (s *Store) AddSitemap(ctx context.Context, websiteID, url string) (m Sitemap, created bool, err error) {
	u, err := models.ParseURL("url", url)
	if err != nil {
		return m, false, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		w, err := website(tx.Clauses(forUpdate), websiteID, false)
		if err != nil {
			return err
		}
		added, err := s.addSitemaps(tx, w.Seq, nil, FromUser, dedupeURLs([]string{u.Requested}))
		if err != nil {
			return err
		}
		if created = added > 0; !created {
			if err := keepForUser(tx, w, u.Requested); err != nil {
				return err
			}
		}
		if m, err = sitemapWhere(tx, "m.website_seq = ? AND m.url = ?", w.Seq, u.Requested); err != nil {
			return err
		}
		err = audit.Add(tx, s.clock.Now(), audit.Change{Action: "sitemap.add", Subject: m.subject(), After: audit.Values{"website_id": w.ID, "url": m.URL}})
		if err != nil {
			return err
		}
		return tx.Exec("UPDATE websites SET sitemaps_requested_at = ? WHERE seq = ?", s.clock.Now(), w.Seq).Error
	})
	if errors.Is(err, errNoSitemap) {
		err = models.Conflict(fmt.Sprintf("The website has the maximum of %d sitemaps. Delete one first.", MaxSitemaps))
	}
	if err != nil {
		return Sitemap{}, false, err
	}
	s.notify(Reading)
	return m, created, nil
}

// keepForUser turns a sitemap that an index lists into one added by a user, so that it stays when the index no longer lists
// it. It becomes the root of the sitemaps below it.
func keepForUser(tx *gorm.DB, w Website, url string) error {
	const below = `WITH RECURSIVE below AS (SELECT seq, depth AS up, seq AS root FROM sitemaps WHERE website_seq = ? AND url = ? AND origin = 'index'
			UNION ALL SELECT m.seq, b.up, b.root FROM sitemaps AS m JOIN below AS b ON m.parent_seq = b.seq) `
	for _, set := range []string{
		"depth = sitemaps.depth - below.up, root_seq = CASE WHEN sitemaps.seq = below.root THEN NULL ELSE below.root END FROM below WHERE sitemaps.seq = below.seq",
		"origin = 'given', parent_seq = NULL FROM below WHERE sitemaps.seq = below.root",
	} {
		if err := tx.Exec(below+"UPDATE sitemaps SET "+set, w.Seq, url).Error; err != nil {
			return fmt.Errorf("keep sitemap for user: %w", err)
		}
	}
	return nil
}

// AddFound adds the sitemaps listed by an index, or by robots.txt if parent is nil. It returns the numbers of new ones and of
// those beyond MaxSitemaps. urls is the complete list: sitemaps that an index no longer lists are deleted; sitemaps that
// robots.txt no longer lists become the user's, who may delete them. The caller has claimed the website.
func (s *Store) AddFound(ctx context.Context, w Website, parent *Sitemap, urls []string) (added, refused int, err error) {
	return s.addFound(ctx, w, parent, urls, true)
}

// AddFoundPart is AddFound for an incomplete list: it deletes nothing.
func (s *Store) AddFoundPart(ctx context.Context, w Website, parent *Sitemap, urls []string) (added, refused int, err error) {
	return s.addFound(ctx, w, parent, urls, false)
}

func (s *Store) addFound(ctx context.Context, w Website, parent *Sitemap, urls []string, all bool) (added, refused int, err error) {
	rows := dedupeURLs(urls)
	origin := FromRobots
	if parent != nil {
		origin = FromIndex
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Clauses(forUpdate).Where("seq = ?", w.Seq).Select("seq").Take(new(Website)).Error; err != nil {
			return err
		}
		if added, err = s.addSitemaps(tx, w.Seq, parent, origin, rows); err != nil {
			return err
		}
		if parent == nil { // robots.txt proves ownership of sitemaps on other hosts
			err := rows.Exec(tx, "UPDATE sitemaps SET origin = 'robots' WHERE website_seq = ? AND origin = 'given' AND (kind = '' OR last_error <> '') AND url IN (SELECT url FROM {rows} AS r)", w.Seq).Error
			if err != nil {
				return err
			}
		}
		var known int
		err := rows.Raw(tx, "SELECT count(*) FROM {rows} AS r CROSS JOIN sitemaps AS m WHERE m.website_seq = ? AND m.url = r.url", w.Seq).Scan(&known).Error
		if err != nil {
			return err
		}
		refused = rows.Len() - known
		switch {
		case !all:
			return nil
		case parent == nil:
			return rows.Raw(tx, "UPDATE sitemaps SET origin = 'given' WHERE website_seq = ? AND origin = 'robots' AND url NOT IN (SELECT url FROM {rows} AS r) RETURNING seq", w.Seq).Scan(new([]int64)).Error
		}
		var dropped []int64
		err = rows.Raw(tx, "SELECT seq FROM sitemaps WHERE parent_seq = ? AND deleted_at IS NULL AND url NOT IN (SELECT url FROM {rows} AS r)", parent.Seq).Scan(&dropped).Error
		if err != nil || len(dropped) == 0 {
			return err
		}
		if err := s.deleteSitemaps(tx, dropped); err != nil {
			return err
		}
		// Another index may list one of these too. Read it again, which adds the sitemap again.
		return tx.Exec("UPDATE sitemaps SET complete = false, etag = '', last_modified = '' WHERE website_seq = ? AND kind = 'index' AND seq <> ?", w.Seq, parent.Seq).Error
	})
	if err != nil {
		return 0, 0, fmt.Errorf("store found sitemaps: %w", err)
	}
	return added, refused, nil
}

func dedupeURLs(urls []string) *models.Rows {
	rows, seen := models.NewRows("n bigint, url text"), map[string]bool{}
	for i, u := range urls {
		if !seen[u] {
			seen[u] = true
			rows.Add(i, u)
		}
	}
	return rows
}

// addSitemaps adds sitemaps up to MaxSitemaps and restores deleted ones. It returns the number of added and restored ones.
func (s *Store) addSitemaps(tx *gorm.DB, website int64, parent *Sitemap, origin Origin, rows *models.Rows) (int, error) {
	var parentSeq, rootSeq, depth any = nil, nil, 0
	if parent != nil {
		parentSeq, rootSeq, depth = parent.Seq, parent.Seq, parent.Depth+1
		if parent.RootSeq != nil {
			rootSeq = *parent.RootSeq
		}
	}
	// Deleted sitemaps are restored with the new origin. Existing ones are not changed, so that no index takes over a user's sitemap.
	res := rows.Exec(tx, `INSERT INTO sitemaps (website_seq, url, origin, parent_seq, root_seq, depth, kind, pages, skipped, skipped_reasons, etag, last_modified,
			generation, created_at, submit_error, last_error)
		SELECT ?, r.url, ?, ?, ?, ?, '', 0, 0, '', '', '', 0, ?, '', '' FROM (
			SELECT x.n, x.url, k.seq AS known, sum(CASE WHEN k.seq IS NULL THEN 1 ELSE 0 END) OVER (ORDER BY x.n) AS nth
			FROM {rows} AS x LEFT JOIN sitemaps AS k ON k.website_seq = ? AND k.url = x.url) AS r
		WHERE r.known IS NOT NULL OR r.nth <= ? - (SELECT count(*) FROM sitemaps AS c WHERE c.website_seq = ?) ORDER BY r.n
		ON CONFLICT (website_seq, url) DO UPDATE SET deleted_at = NULL, origin = excluded.origin, parent_seq = excluded.parent_seq, root_seq = excluded.root_seq,
			depth = excluded.depth, complete = false, etag = '', last_modified = '' WHERE sitemaps.deleted_at IS NOT NULL`,
		website, origin, parentSeq, rootSeq, depth, s.clock.Now(), website, MaxSitemaps, website)
	return int(res.RowsAffected), res.Error
}

// sitemapRows returns the SELECT of the sitemaps that the actor of tx can see.
func sitemapRows(tx *gorm.DB) (sql string, args []any) {
	seen, args := models.Visible(tx, "w")
	return selectSitemaps + seen + " AND ", args
}

const selectSitemaps = "SELECT m.*, w.id AS website_id FROM sitemaps AS m JOIN websites AS w ON w.seq = m.website_seq WHERE w.deleted_at IS NULL AND m.deleted_at IS NULL AND "

func (m Sitemap) subject() audit.Subject {
	return audit.Subject{Kind: "sitemap", ID: m.ID(), Name: m.URL}
}

var errNoSitemap = models.NotFound("sitemap")

func sitemapWhere(tx *gorm.DB, where string, args ...any) (m Sitemap, err error) {
	var found []Sitemap
	sql, actorArgs := sitemapRows(tx)
	if err := tx.Raw(sql+where, append(actorArgs, args...)...).Scan(&found).Error; err != nil {
		return m, fmt.Errorf("load sitemap: %w", err)
	}
	if len(found) == 0 {
		return m, errNoSitemap
	}
	return found[0], nil
}

func sitemapOf(tx *gorm.DB, w Website, id string) (Sitemap, error) {
	at, seq, err := models.ParseTimedID(models.KindSitemap, id)
	if err != nil {
		return Sitemap{}, errNoSitemap
	}
	return sitemapWhere(tx, "m.website_seq = ? AND m.seq = ? AND m.created_at = ?", w.Seq, seq, at)
}

// SitemapOrders are the orders of SitemapsOf.
var SitemapOrders = models.Orders[Sitemap]{
	Field: "created_at", Time: "m.created_at", ID: "m.seq", Key: models.ByNumber, Kind: models.KindSitemap,
	At: func(m Sitemap) models.Cursor { return models.Cursor{CreatedAt: m.CreatedAt, ID: m.ID()} },
}

// SitemapsOf returns sitemaps of a website, oldest first by default. The error is CodeNotFound if the website does not exist. limit must
// come from models.NewLimit.
func (s *Store) SitemapsOf(ctx context.Context, websiteID string, after models.Cursor, limit int) (models.Slice[Sitemap], error) {
	tx := s.db.Read(ctx)
	w, err := website(tx, websiteID, false)
	if err != nil {
		return models.Slice[Sitemap]{}, err
	}
	q := models.ListQuery{Table: "sitemaps AS m", Where: "m.website_seq = ? AND m.deleted_at IS NULL", Args: []any{w.Seq}}
	return SitemapOrders.List(tx, q, after, limit, func(p models.ListPart) (found []Sitemap, err error) {
		sql, args := sitemapRows(tx)
		if err = p.Raw(tx, sql, args...).Scan(&found).Error; err != nil {
			err = fmt.Errorf("load sitemaps: %w", err)
		}
		return found, err
	})
}

// DeleteSitemap deletes a sitemap and, if it is an index, those below it. Pages in no other sitemap are marked as gone
// within seconds. Errors are CodeNotFound, and CodeConflict if robots.txt lists the sitemap.
func (s *Store) DeleteSitemap(ctx context.Context, websiteID, id string) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		w, err := website(tx.Clauses(forUpdate), websiteID, false)
		if err != nil {
			return err
		}
		m, err := sitemapOf(tx, w, id)
		if err != nil {
			return err
		}
		if m.Origin == FromRobots {
			return models.Conflict("robots.txt lists this sitemap. Remove it there first.")
		}
		if err := audit.Add(tx, s.clock.Now(), audit.Change{Action: "sitemap.delete", Subject: m.subject()}); err != nil {
			return err
		}
		if err := s.deleteSitemaps(tx, []int64{m.Seq}); err != nil {
			return err
		}
		// Another index may list one below it. Read it again, which adds the sitemap again.
		if err := tx.Exec("UPDATE sitemaps SET complete = false, etag = '', last_modified = '' WHERE website_seq = ? AND kind = 'index'", w.Seq).Error; err != nil {
			return err
		}
		return tx.Exec("UPDATE websites SET sitemaps_requested_at = ? WHERE seq = ?", s.clock.Now(), w.Seq).Error
	})
	if err == nil {
		s.notify(Reading)
	}
	return err
}

func (s *Store) deleteSitemaps(tx *gorm.DB, seqs []int64) error {
	err := models.RowsOf("seq bigint", seqs).Exec(tx, `WITH RECURSIVE below AS (SELECT r.seq FROM {rows} AS r UNION SELECT m.seq FROM sitemaps AS m JOIN below AS b ON m.parent_seq = b.seq)
		UPDATE sitemaps SET deleted_at = ? WHERE seq IN (SELECT seq FROM below) AND deleted_at IS NULL`, s.clock.Now()).Error
	if err != nil {
		return fmt.Errorf("delete sitemaps: %w", err)
	}
	return nil
}
