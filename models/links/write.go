package links

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
)

// loadInOrder loads links by their keys, in the order of the keys.
func loadInOrder(tx *gorm.DB, seqs []int64) ([]Link, error) {
	position := make(map[int64]int, len(seqs))
	for i, seq := range seqs {
		position[seq] = i
	}
	ls, err := loadRows(tx, seqRows(seqs), bySeq)
	slices.SortFunc(ls, func(a, b Link) int { return position[a.Seq] - position[b.Seq] })
	return ls, err
}

// loadRows loads the links that match a condition on a batch of rows ({rows}).
func loadRows(tx *gorm.DB, rows *models.Rows, where string, args ...any) ([]Link, error) {
	if rows.Len() == 0 {
		return nil, nil
	}
	var ls []Link
	if err := rows.Raw(tx, "SELECT * FROM links WHERE "+where, args...).Scan(&ls).Error; err != nil {
		return nil, fmt.Errorf("load links: %w", err)
	}
	return ls, loadTags(tx, ls)
}

// lastSeq returns the greatest key of a link, or 0.
func lastSeq(tx *gorm.DB) (seq int64, err error) {
	if err = tx.Raw("SELECT COALESCE(max(seq), 0) FROM links").Scan(&seq).Error; err != nil {
		return 0, fmt.Errorf("find the newest link: %w", err)
	}
	return seq, nil
}

// lock is loadRows for a change: only visible links, sorted by key. On PostgreSQL it locks the rows until the
// transaction ends.
func lock(tx *gorm.DB, rows *models.Rows, where string, args ...any) ([]Link, error) {
	visible, own := models.Visible(tx, "links")
	where += " AND " + visible + " ORDER BY seq"
	if tx.Name() == models.Postgres {
		where += " FOR UPDATE"
	}
	return loadRows(tx, rows, where, append(args, own...)...)
}

// lockIDs locks links by id. Unknown ids are ignored.
func lockIDs(tx *gorm.DB, ids []string) ([]Link, error) {
	return lock(tx, idRows(ids), byID)
}

func lockOne(tx *gorm.DB, id string) (Link, error) {
	if models.CheckID(models.KindLink, id) != nil {
		return Link{}, models.NotFound("link")
	}
	ls, err := lockIDs(tx, []string{id})
	if err != nil || len(ls) == 0 {
		return Link{}, orNotFound(err)
	}
	return ls[0], nil
}

// Conditions on the rows of seqRows and idRows.
const (
	bySeq = "seq IN (SELECT seq FROM {rows} AS r)"
	byID  = "id IN (SELECT id FROM {rows} AS r)"
)

// seqRows returns a table of keys of links or tags.
func seqRows(seqs []int64) *models.Rows {
	return models.RowsOf("seq bigint", seqs)
}

func idRows(ids []string) *models.Rows {
	return models.RowsOf("id text", ids)
}

// lockChanges is the lock for changes of links and tags.
const lockChanges models.LockKey = 7_110_913_001

// write runs a change of links or tags, one at a time. fn returns the links whose search index entry has changed,
// with their tags.
func (s *Store) write(ctx context.Context, fn func(tx *gorm.DB) ([]Link, error)) error {
	return s.writeEntries(ctx, func(tx *gorm.DB) (entries, error) {
		ls, err := fn(tx)
		if err != nil || len(ls) == 0 {
			return entries{}, err
		}
		return changedEntries(tx, ls)
	})
}

// writeEntries is write for fn that returns the changed entries.
func (s *Store) writeEntries(ctx context.Context, fn func(tx *gorm.DB) (entries, error)) error {
	var words storedWords
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		words = storedWords{} // a rolled back attempt stored nothing
		if err := s.db.OneAtATime(tx, lockChanges); err != nil {
			return err
		}
		es, err := fn(tx)
		if err != nil || len(es.docs) == 0 {
			return err
		}
		if err := es.put(tx); err != nil {
			return fmt.Errorf("index links: %w", err)
		}
		if words, err = s.words.put(tx, es.docs); err != nil {
			return fmt.Errorf("store words of links: %w", err)
		}
		return nil
	})
	if err == nil {
		s.words.remember(words)
	}
	return err
}

// saveAll updates the columns that checks and bulk actions change, in one statement. release ends the claims of
// the links.
func saveAll(tx *gorm.DB, ls []Link, release bool) error {
	rows := models.NewRows(`seq bigint, title text, fetched_title text, fetched_description text,
		og_title text, og_description text, og_image text, og_site_name text, og_type text,
		updated_at bigint, expired_at bigint, health text, health_changed_at bigint, last_checked_at bigint,
		last_status_code bigint, last_error text, moved_to text, failures bigint, next_check_at bigint`)
	for _, l := range ls {
		rows.Add(l.Seq, l.Title, l.FetchedTitle, l.FetchedDescription,
			l.OpenGraph.Title, l.OpenGraph.Description, l.OpenGraph.Image, l.OpenGraph.SiteName, l.OpenGraph.Type,
			l.UpdatedAt, l.ExpiredAt, l.Health, l.HealthChangedAt, l.LastCheckedAt,
			l.LastStatusCode, l.LastError, l.MovedTo, l.Failures, l.NextCheckAt)
	}
	set := `title = r.title, fetched_title = r.fetched_title, fetched_description = r.fetched_description,
		og_title = r.og_title, og_description = r.og_description, og_image = r.og_image, og_site_name = r.og_site_name, og_type = r.og_type,
		updated_at = r.updated_at, expired_at = r.expired_at, health = r.health, health_changed_at = r.health_changed_at,
		last_checked_at = r.last_checked_at, last_status_code = r.last_status_code, last_error = r.last_error,
		moved_to = r.moved_to, failures = r.failures, next_check_at = r.next_check_at`
	if release {
		set += ", claimed_by = NULL"
	}
	if err := rows.Exec(tx, "UPDATE links SET "+set+" FROM {rows} AS r WHERE links.seq = r.seq").Error; err != nil {
		return fmt.Errorf("update links: %w", err)
	}
	return nil
}

func sortedKeys[M ~map[string]V, V any](m M) []string { return slices.Sorted(maps.Keys(m)) }
