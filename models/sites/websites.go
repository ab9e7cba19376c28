package sites

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// NewWebsite is what a user says of a new website.
type NewWebsite struct {
	Name            string // "" = its host
	SiteURL         string
	IndexingEnabled bool
	ManualSubmit    bool   // new and changed pages are submitted only when asked for
	IndexNowKey     string // "" = IndexNow is not used
	Private         bool   // only its owner and admins see it
}

// Edit is what a user changes of a website; nil = nothing.
type Edit struct {
	Name            *string
	IndexingEnabled *bool
	AutoSubmit      *bool
	IndexNowKey     *string // "" = IndexNow is not used any more
	Private         *bool   // for its owner and admins
}

// Add adds a website. Errors are CodeInvalid ("site_url", "name", "indexnow_key") and
// CodeConflict if there is one with this site_url, shared or the caller's own.
func (s *Store) Add(ctx context.Context, n NewWebsite) (Website, error) {
	now := s.clock.Now()
	w := Website{
		ID: models.NewID(models.KindWebsite), Name: n.Name, SiteURL: n.SiteURL, IndexingEnabled: n.IndexingEnabled, AutoSubmit: !n.ManualSubmit,
		IndexNowKey: n.IndexNowKey, CreatedAt: now, UpdatedAt: now, SitemapsWantedAt: now, // for those that robots.txt names
		Owner: models.Owner(ctx),
	}
	w.PrivateTo = models.PrivateTo(w.Owner, n.Private)
	err := w.check()
	if err == nil && w.IndexNowKey != "" {
		err = checkKey(w.IndexNowKey)
	}
	if err != nil {
		return Website{}, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		w.Seq = 0
		own, args := models.OwnScope(tx, "websites")
		var known int64
		err := tx.Model(&Website{}).Where("site_url = ? AND deleted_at IS NULL", w.SiteURL).Where(own, args...).Count(&known).Error
		switch {
		case err != nil:
			return err
		case known > 0:
			return errKnown
		}
		if err := tx.Create(&w).Error; err != nil {
			return err
		}
		return audit.Add(tx, now, audit.Change{Action: "website.add", Subject: w.subject(), After: w.values()})
	})
	if errors.Is(err, gorm.ErrDuplicatedKey) {
		err = errKnown
	}
	if models.CodeOf(err) != "" {
		return Website{}, err
	}
	if err != nil {
		return Website{}, fmt.Errorf("storing a website: %w", err)
	}
	s.ring(Reading)
	return w, nil
}

var (
	errKnown = models.Conflict("There is a website with this site_url already.")
	errScope = models.Conflict("There is another website with this site_url where this one would be. Delete one of them first.")
)

// subject is the website as the audit log names it.
func (w Website) subject() audit.Subject {
	return audit.Subject{Kind: "website", ID: w.ID, Name: w.Name}
}

// values are what users set of a website, but for its credentials.
func (w Website) values() audit.Values {
	return audit.Values{
		"name": w.Name, "site_url": w.SiteURL, "indexing_enabled": w.IndexingEnabled, "auto_submit": w.AutoSubmit,
		"indexnow": w.IndexNow(), "private": w.Private(),
	}
}

// Get is the website of an id; CodeNotFound if there is none.
func (s *Store) Get(ctx context.Context, id string) (Website, error) {
	return website(s.db.Read(ctx), id, false)
}

func website(tx *gorm.DB, id string, deleted bool) (w Website, err error) {
	if models.CheckID(models.KindWebsite, id) != nil {
		return w, models.NotFound("website")
	}
	seen, args := models.Visible(tx, "websites")
	err = tx.Where("id = ?", id).Where(seen, args...).Take(&w).Error
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
	q := s.db.Read(ctx)
	seen, args := models.Visible(q, "websites")
	q = q.Where("deleted_at IS NULL").Where(seen, args...)
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

// change loads a website, has fn change it, stores it, and records what was done.
func (s *Store) change(ctx context.Context, id, action string, fn func(tx *gorm.DB, w *Website) (audit.Change, error)) (w Website, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if w, err = website(tx.Clauses(forUpdate), id, false); err != nil {
			return err
		}
		c, err := fn(tx, &w)
		if err != nil {
			return err
		}
		w.UpdatedAt = s.clock.Now()
		if err := tx.Save(&w).Error; err != nil {
			return fmt.Errorf("storing a website: %w", err)
		}
		c.Action, c.Subject = action, w.subject()
		return audit.Add(tx, w.UpdatedAt, c)
	})
	return w, err
}

// Edit changes a website. Errors are CodeNotFound, CodeInvalid ("name", "indexnow_key"),
// CodeForbidden if somebody else than its owner or an admin changes who sees it, and
// CodeConflict if there is another website with its site_url where it would be.
func (s *Store) Edit(ctx context.Context, id string, e Edit) (Website, error) {
	w, err := s.change(ctx, id, "website.edit", func(tx *gorm.DB, w *Website) (c audit.Change, err error) {
		c.Before = w.values()
		if e.Private != nil && *e.Private != w.Private() {
			if err := models.MayShare(ctx, w.Owner); err != nil {
				return c, err
			}
			w.PrivateTo = models.PrivateTo(w.Owner, *e.Private)
		}
		key := false
		models.Set(&w.Name, e.Name)
		models.Set(&w.IndexingEnabled, e.IndexingEnabled)
		models.Set(&w.AutoSubmit, e.AutoSubmit)
		if !w.IndexingEnabled {
			w.Indexing = ServiceState{} // it is not called
		}
		if e.IndexNowKey != nil && *e.IndexNowKey != w.IndexNowKey {
			if *e.IndexNowKey != "" {
				if err := checkKey(*e.IndexNowKey); err != nil {
					return c, err
				}
			}
			key = true
			w.IndexNowKey, w.IndexNowVerifiedAt = *e.IndexNowKey, models.Time{}
			w.IndexNowState = ServiceState{}
		}
		err = w.check()
		if c.After = w.values(); key {
			c.After["indexnow_key"] = "set"
			if !w.IndexNow() {
				c.After["indexnow_key"] = "removed"
			}
		}
		return c, err
	})
	if errors.Is(err, gorm.ErrDuplicatedKey) {
		return Website{}, errScope
	}
	return w, err
}

// Delete deletes a website, which can be restored for KeepDeleted. CodeNotFound if
// there is none.
func (s *Store) Delete(ctx context.Context, id string) error {
	_, err := s.change(ctx, id, "website.delete", func(_ *gorm.DB, w *Website) (audit.Change, error) {
		w.DeletedAt = s.clock.Now()
		return audit.Change{}, nil
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
		if err := tx.Save(&w).Error; err != nil {
			return err
		}
		return audit.Add(tx, now, audit.Change{Action: "website.restore", Subject: w.subject()})
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
	w, err := s.change(ctx, id, "website.credentials", func(_ *gorm.DB, w *Website) (c audit.Change, err error) {
		if w.Credentials, err = s.opts.Seal(key, w.ID); err != nil {
			return c, err
		}
		c.After = audit.Values{"credentials": "set", "client_email": of.ClientEmail, "project_id": of.ProjectID}
		w.ClientEmail, w.ProjectID = of.ClientEmail, of.ProjectID
		w.googleWorks()
		w.SubmitWantedAt = s.clock.Now()
		return c, nil
	})
	if err == nil {
		s.ring(Submitting)
	}
	return w, err
}

// RemoveCredentials removes them.
func (s *Store) RemoveCredentials(ctx context.Context, id string) (Website, error) {
	return s.change(ctx, id, "website.credentials", func(_ *gorm.DB, w *Website) (audit.Change, error) {
		c := audit.Change{Before: audit.Values{"client_email": w.ClientEmail, "project_id": w.ProjectID}, After: audit.Values{"credentials": "removed"}}
		w.Credentials, w.ClientEmail, w.ProjectID = nil, "", ""
		w.googleWorks()
		return c, nil
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
	w, err = s.change(ctx, id, "website."+a.verb(), func(_ *gorm.DB, w *Website) (audit.Change, error) {
		now := s.clock.Now()
		switch a {
		case Reading:
			w.SitemapsWantedAt = now
		case Submitting:
			w.SubmitWantedAt = now
		case Verifying:
			w.VerifyWantedAt = now
		}
		return audit.Change{}, nil
	})
	if err == nil {
		s.ring(a)
	}
	return w, err
}
