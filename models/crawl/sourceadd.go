package crawl

import (
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
)

// lockSources is held by transactions that look for a source and add one if there is none. A transaction that also takes
// lockRecord takes this lock first.
const lockSources models.LockKey = 7_110_913_006

// EnsureSource returns the source of the caller for a URL, or adds it. created is false if there is one: a shared source with
// the same canonical URL, or a private one of the caller. It is returned unchanged. If there are
// both, it is the one that n.Private asks for. Errors are those of AddSource.
func (s *Store) EnsureSource(ctx context.Context, n NewSource) (src Source, created bool, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.db.OneAtATime(tx, lockSources); err != nil {
			return err
		}
		wanted, err := s.newSource(tx, n)
		if err != nil {
			return err
		}
		u, err := models.ParseURL("url", wanted.URL)
		if err != nil {
			return err
		}
		var known []Source
		if err := ofSite(tx, u, false).Order("created_at").Find(&known).Error; err != nil {
			return fmt.Errorf("find source: %w", err)
		}
		known = slices.DeleteFunc(known, func(k Source) bool {
			of, err := models.ParseURL("url", k.URL)
			return err != nil || of.Canonical != u.Canonical
		})
		if len(known) > 0 {
			i := slices.IndexFunc(known, func(k Source) bool { return k.PrivateTo == wanted.PrivateTo })
			src, created = known[max(i, 0)], false
			return nil
		}
		src, err = s.addSource(tx, n)
		created = true
		return err
	})
	return src, created, err
}

// ofSite selects the sources of the host and port of a URL that are shared or of the actor of tx. If private is set, it selects only the private
// ones of the actor.
func ofSite(tx *gorm.DB, u models.URL, private bool) *gorm.DB {
	own, args := models.OwnScope(tx, "sources")
	if private {
		own, args = "private_to = ?", []any{models.Owner(tx.Statement.Context)}
	}
	at := authorityOf(u.Canonical)
	return tx.Where("deleted_at IS NULL AND host = ? AND port = ?", at.host, at.port).Where(own, args...)
}
