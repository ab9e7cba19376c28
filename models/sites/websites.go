package sites

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"linkwatch/models"
)

// NewWebsite is what a user says of a new website.
type NewWebsite struct {
	Name            string // "" = its host
	SiteURL         string
	IndexingEnabled bool
	ManualSubmit    bool   // new and changed pages are submitted only when asked for
	IndexNowKey     string // "" = IndexNow is not used
}

// Edit is what a user changes of a website; nil = nothing.
type Edit struct {
	Name            *string
	IndexingEnabled *bool
	AutoSubmit      *bool
	IndexNowKey     *string // "" = IndexNow is not used any more
}

// Add adds a website. Errors are CodeInvalid ("site_url", "name", "indexnow_key") and
// CodeConflict if there is one with this site_url.
func (s *Store) Add(ctx context.Context, n NewWebsite) (Website, error) {
	now := s.clock.Now()
	w := Website{
		ID: models.NewID(models.KindWebsite), Name: n.Name, SiteURL: n.SiteURL, IndexingEnabled: n.IndexingEnabled, AutoSubmit: !n.ManualSubmit,
		IndexNowKey: n.IndexNowKey, CreatedAt: now, UpdatedAt: now, SitemapsWantedAt: now, // for those that robots.txt names
	}
	err := w.check()
	if err == nil && w.IndexNowKey != "" {
		err = checkKey(w.IndexNowKey)
	}
	if err != nil {
		return Website{}, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		w.Seq = 0
		return tx.Create(&w).Error
	})
	if errors.Is(err, gorm.ErrDuplicatedKey) {
		return Website{}, errKnown
	}
	if err != nil {
		return Website{}, fmt.Errorf("storing a website: %w", err)
	}
	s.ring(Reading)
	return w, nil
}

var errKnown = models.Conflict("There is a website with this site_url already.")

// Get is the website of an id; CodeNotFound if there is none.
func (s *Store) Get(ctx context.Context, id string) (Website, error) {
	return website(s.db.Read(ctx), id, false)
}

func website(tx *gorm.DB, id string, deleted bool) (w Website, err error) {
	if models.CheckID(models.KindWebsite, id) != nil {
		return w, models.NotFound("website")
	}
	err = tx.Where("id = ?", id).Take(&w).Error
	if errors.Is(err, gorm.ErrRecordNotFound) || err == nil && w.DeletedAt.IsZero() == deleted {
		return Website{}, models.NotFound("website")
	}
	if err != nil {
		return w, fmt.Errorf("loading a website: %w", err)
	}
	return w, nil
}

// forUpdate locks the row of a website until the end of a transaction, so that its
// counts are changed by one transaction at a time.
var forUpdate = clause.Locking{Strength: "NO KEY UPDATE"}

// List is a page of the websites, the oldest first. limit is as models.NewLimit made it.
func (s *Store) List(ctx context.Context, after models.Cursor, limit int) (models.Slice[Website], error) {
	var page models.Slice[Website]
	q := s.db.Read(ctx).Where("deleted_at IS NULL")
	if after != (models.Cursor{}) {
		if models.CheckID(models.KindWebsite, after.ID) != nil {
			return page, models.ErrPageToken
		}
		q = q.Where("(created_at, id) > (?, ?)", after.CreatedAt, after.ID)
	}
	if err := q.Order("created_at, id").Limit(limit + 1).Find(&page.Items).Error; err != nil {
		return page, fmt.Errorf("loading websites: %w", err)
	}
	return models.NewSlice(page.Items, limit, func(w Website) models.Cursor { return models.Cursor{CreatedAt: w.CreatedAt, ID: w.ID} }), nil
}

// change loads a website, has fn change it, and stores it.
func (s *Store) change(ctx context.Context, id string, fn func(tx *gorm.DB, w *Website) error) (w Website, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if w, err = website(tx.Clauses(forUpdate), id, false); err != nil {
			return err
		}
		if err := fn(tx, &w); err != nil {
			return err
		}
		w.UpdatedAt = s.clock.Now()
		if err := tx.Save(&w).Error; err != nil {
			return fmt.Errorf("storing a website: %w", err)
		}
		return nil
	})
	return w, err
}

// Edit changes a website. Errors are CodeNotFound and CodeInvalid ("name",
// "indexnow_key").
func (s *Store) Edit(ctx context.Context, id string, e Edit) (Website, error) {
	return s.change(ctx, id, func(_ *gorm.DB, w *Website) error {
		models.Set(&w.Name, e.Name)
		models.Set(&w.IndexingEnabled, e.IndexingEnabled)
		models.Set(&w.AutoSubmit, e.AutoSubmit)
		if !w.IndexingEnabled {
			w.Indexing = ServiceState{} // it is not called
		}
		if e.IndexNowKey != nil && *e.IndexNowKey != w.IndexNowKey {
			if *e.IndexNowKey != "" {
				if err := checkKey(*e.IndexNowKey); err != nil {
					return err
				}
			}
			w.IndexNowKey, w.IndexNowVerifiedAt = *e.IndexNowKey, models.Time{}
			w.IndexNowState = ServiceState{}
		}
		return w.check()
	})
}

// Delete deletes a website, which can be restored for KeepDeleted. CodeNotFound if
// there is none.
func (s *Store) Delete(ctx context.Context, id string) error {
	_, err := s.change(ctx, id, func(_ *gorm.DB, w *Website) error {
		w.DeletedAt = s.clock.Now()
		return nil
	})
	return err
}

// Restore restores a deleted website: CodeNotFound if it was not deleted, or too long
// ago; CodeConflict if there is another one with its site_url.
func (s *Store) Restore(ctx context.Context, id string) (w Website, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if w, err = website(tx.Clauses(forUpdate), id, true); err != nil {
			return err
		}
		now := s.clock.Now()
		if w.DeletedAt.Before(now.Add(-KeepDeleted).Time) { // the reaper may be deleting its pages
			return models.NotFound("website")
		}
		w.DeletedAt, w.UpdatedAt = models.Time{}, now
		return tx.Save(&w).Error
	})
	if errors.Is(err, gorm.ErrDuplicatedKey) {
		return Website{}, errKnown
	}
	return w, err
}

// Account is a Google service account, as its key says.
type Account struct{ ClientEmail, ProjectID string }

// SetCredentials stores the key of a service account, sealed, and lets calls to Google
// begin at once. CodeNotFound if there is no such website.
func (s *Store) SetCredentials(ctx context.Context, id string, key []byte, of Account) (Website, error) {
	w, err := s.change(ctx, id, func(_ *gorm.DB, w *Website) (err error) {
		if w.Credentials, err = s.opts.Seal(key, w.ID); err != nil {
			return err
		}
		w.ClientEmail, w.ProjectID = of.ClientEmail, of.ProjectID
		w.googleWorks()
		w.SubmitWantedAt = s.clock.Now()
		return nil
	})
	if err == nil {
		s.ring(Submitting)
	}
	return w, err
}

// RemoveCredentials removes them.
func (s *Store) RemoveCredentials(ctx context.Context, id string) (Website, error) {
	return s.change(ctx, id, func(_ *gorm.DB, w *Website) error {
		w.Credentials, w.ClientEmail, w.ProjectID = nil, "", ""
		w.googleWorks()
		return nil
	})
}

// Key is the key of the website's service account. CodeConflict if it was sealed with
// another key, or if there is none.
func (s *Store) Key(w Website) ([]byte, error) {
	if !w.Google() {
		return nil, models.Conflict("The website has no credentials.")
	}
	key, err := s.opts.Open(w.Credentials, w.ID)
	if err != nil {
		return nil, &models.Error{
			Code: models.CodeConflict, Err: err,
			Detail: "The stored credentials cannot be decrypted, because SECRET_KEY or the key file has changed. Enter them again.",
		}
	}
	return key, nil
}

// Want notes that somebody waits for an activity on a website: the sitemaps are read,
// or waiting pages are submitted or verified, within moments.
func (s *Store) Want(ctx context.Context, id string, a Activity) (w Website, err error) {
	w, err = s.change(ctx, id, func(_ *gorm.DB, w *Website) error {
		now := s.clock.Now()
		switch a {
		case Reading:
			w.SitemapsWantedAt = now
		case Submitting:
			w.SubmitWantedAt = now
		case Verifying:
			w.VerifyWantedAt = now
		}
		return nil
	})
	if err == nil {
		s.ring(a)
	}
	return w, err
}
