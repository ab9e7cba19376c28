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

// NewWebsite has the fields of a new website.
type NewWebsite struct {
	Name            string // "" = the host
	SiteURL         string
	IndexingEnabled bool
	ManualSubmit    bool   // turns automatic submission off
	IndexNowKey     string // "" = not used
	Private         bool   // visible to the owner and admins only
}

// Edit has the changes of a website; nil = unchanged.
type Edit struct {
	Name            *string
	IndexingEnabled *bool
	AutoSubmit      *bool
	IndexNowKey     *string // "" disables IndexNow
	Private         *bool   // only the owner and admins may change it
}

// Add adds a website. Errors are CodeInvalid ("site_url", "name", "indexnow_key"), and CodeConflict if a shared website or one
// of the caller has the same site_url.
func (s *Store) Add(ctx context.Context, n NewWebsite) (Website, error) {
	now := s.clock.Now()
	w := Website{
		ID: models.NewID(models.KindWebsite), Name: n.Name, SiteURL: n.SiteURL, IndexingEnabled: n.IndexingEnabled, AutoSubmit: !n.ManualSubmit,
		IndexNowKey: n.IndexNowKey, CreatedAt: now, UpdatedAt: now, SitemapsRequestedAt: now, // read the sitemaps listed in robots.txt
		Owner: models.Owner(ctx),
	}
	w.PrivateTo = models.PrivateTo(w.Owner, n.Private)
	err := w.normalize()
	if err == nil && w.IndexNowKey != "" {
		err = checkIndexNowKey(w.IndexNowKey)
	}
	if err != nil {
		return Website{}, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		w.Seq = 0
		own, args := models.OwnScope(tx, "websites")
		var existing int64
		err := tx.Model(&Website{}).Where("site_url = ? AND deleted_at IS NULL", w.SiteURL).Where(own, args...).Count(&existing).Error
		switch {
		case err != nil:
			return err
		case existing > 0:
			return errDuplicate
		}
		if err := tx.Create(&w).Error; err != nil {
			return err
		}
		return audit.Add(tx, now, audit.Change{Action: "website.add", Subject: w.subject(), After: w.values()})
	})
	if errors.Is(err, gorm.ErrDuplicatedKey) {
		err = errDuplicate
	}
	if models.CodeOf(err) != "" {
		return Website{}, err
	}
	if err != nil {
		return Website{}, fmt.Errorf("store website: %w", err)
	}
	s.notify(Reading)
	return w, nil
}

// Ensure adds a website, or returns the existing one unchanged if a shared website or one of the caller has the same site_url.
// The existing one with the visibility of n comes first. Errors are those of Add except CodeConflict.
func (s *Store) Ensure(ctx context.Context, n NewWebsite) (w Website, created bool, err error) {
	for { // until the website is not deleted between the two calls
		w, err = s.Add(ctx, n)
		if models.CodeOf(err) != models.CodeConflict {
			return w, err == nil, err
		}
		w, err = s.withSiteURL(ctx, n)
		if models.CodeOf(err) != models.CodeNotFound {
			return w, false, err
		}
	}
}

// withSiteURL returns the website of the caller's scope that prevents adding n, or CodeNotFound.
func (s *Store) withSiteURL(ctx context.Context, n NewWebsite) (w Website, err error) {
	p, err := ParseProperty(n.SiteURL)
	if err != nil {
		return w, err
	}
	tx := s.db.Read(ctx)
	own, args := models.OwnScope(tx, "websites")
	err = tx.Where("site_url = ? AND deleted_at IS NULL", p.SiteURL).Where(own, args...).
		Order(clause.OrderBy{Expression: clause.Expr{SQL: "private_to <> ?", Vars: []any{models.PrivateTo(models.Owner(ctx), n.Private)}}}).Take(&w).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return w, models.NotFound("website")
	}
	if err != nil {
		return w, fmt.Errorf("load website by URL: %w", err)
	}
	return w, nil
}

var (
	errDuplicate  = models.Conflict("This website has already been added.")
	errScopeTaken = models.Conflict("The new scope already has this website. Delete one of the two first.")
)

func (w Website) subject() audit.Subject {
	return audit.Subject{Kind: "website", ID: w.ID, Name: w.Name}
}

// values returns the fields that users set, except credentials, for the audit log.
func (w Website) values() audit.Values {
	return audit.Values{
		"name": w.Name, "site_url": w.SiteURL, "indexing_enabled": w.IndexingEnabled, "auto_submit": w.AutoSubmit,
		"indexnow": w.UsesIndexNow(), "private": w.Private(),
	}
}

// Get returns a website by ID. The error is CodeNotFound if it does not exist.
func (s *Store) Get(ctx context.Context, id string) (Website, error) {
	return website(s.db.Read(ctx), id, false)
}

func website(tx *gorm.DB, id string, deleted bool) (w Website, err error) {
	if models.CheckID(models.KindWebsite, id) != nil {
		return w, models.NotFound("website")
	}
	visible, args := models.Visible(tx, "websites")
	err = tx.Where("id = ?", id).Where(visible, args...).Take(&w).Error
	if errors.Is(err, gorm.ErrRecordNotFound) || err == nil && w.DeletedAt.IsZero() == deleted {
		return Website{}, models.NotFound("website")
	}
	if err != nil {
		return w, fmt.Errorf("load website: %w", err)
	}
	return w, nil
}

// forUpdate locks the row of a website until the end of the transaction, which serializes changes of its page counts.
var forUpdate = clause.Locking{Strength: "NO KEY UPDATE"}

// ListOrders are the orders of List.
var ListOrders = models.Orders[Website]{
	Field: "created_at", Time: "created_at", ID: "id", Kind: models.KindWebsite,
	At:   func(w Website) models.Cursor { return models.Cursor{CreatedAt: w.CreatedAt, ID: w.ID} },
	More: []models.Order[Website]{{Field: "site_url", Columns: []string{"site_url", "private_to"}, Values: func(w Website) []any { return []any{w.SiteURL, w.PrivateTo} }}},
}

// List returns websites, oldest first by default. limit must come from models.NewLimit.
func (s *Store) List(ctx context.Context, after models.Cursor, limit int) (models.Slice[Website], error) {
	tx := s.db.Read(ctx)
	visible, args := models.Visible(tx, "websites")
	q := models.ListQuery{Table: "websites", Where: visible + " AND deleted_at IS NULL", Args: args}
	return ListOrders.List(tx, q, after, limit, func(p models.ListPart) (found []Website, err error) {
		if err = p.Of(tx).Find(&found).Error; err != nil {
			err = fmt.Errorf("load websites: %w", err)
		}
		return found, err
	})
}

// change loads a website, changes it with fn, stores it, and adds the change to the audit log.
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
			return fmt.Errorf("store website: %w", err)
		}
		c.Action, c.Subject = action, w.subject()
		return audit.Add(tx, w.UpdatedAt, c)
	})
	return w, err
}

// Edit changes a website. Errors are CodeNotFound, CodeInvalid ("name", "indexnow_key"), CodeForbidden if the caller may not
// change Private, and CodeConflict if another website in the new scope has the same site_url.
func (s *Store) Edit(ctx context.Context, id string, e Edit) (Website, error) {
	w, err := s.change(ctx, id, "website.edit", func(tx *gorm.DB, w *Website) (c audit.Change, err error) {
		c.Before = w.values()
		if e.Private != nil && *e.Private != w.Private() {
			if err := models.MayShare(ctx, w.Owner); err != nil {
				return c, err
			}
			w.PrivateTo = models.PrivateTo(w.Owner, *e.Private)
		}
		keyChanged := false
		models.Set(&w.Name, e.Name)
		models.Set(&w.IndexingEnabled, e.IndexingEnabled)
		models.Set(&w.AutoSubmit, e.AutoSubmit)
		if !w.IndexingEnabled {
			w.Indexing = ServiceState{} // no longer used
		}
		if e.IndexNowKey != nil && *e.IndexNowKey != w.IndexNowKey {
			if *e.IndexNowKey != "" {
				if err := checkIndexNowKey(*e.IndexNowKey); err != nil {
					return c, err
				}
			}
			keyChanged = true
			w.IndexNowKey, w.IndexNowVerifiedAt = *e.IndexNowKey, models.Time{}
			w.IndexNowState = ServiceState{}
		}
		err = w.normalize()
		if c.After = w.values(); keyChanged {
			c.After["indexnow_key"] = "set"
			if !w.UsesIndexNow() {
				c.After["indexnow_key"] = "removed"
			}
		}
		return c, err
	})
	if errors.Is(err, gorm.ErrDuplicatedKey) {
		return Website{}, errScopeTaken
	}
	return w, err
}

// Delete deletes a website. It can be restored for KeepDeleted. The error is CodeNotFound if it does not exist.
func (s *Store) Delete(ctx context.Context, id string) error {
	_, err := s.change(ctx, id, "website.delete", func(_ *gorm.DB, w *Website) (audit.Change, error) {
		w.DeletedAt = s.clock.Now()
		return audit.Change{}, nil
	})
	return err
}

// Restore restores a deleted website. Errors are CodeNotFound if it is not deleted or was deleted more than KeepDeleted ago,
// and CodeConflict if another website has the same site_url.
func (s *Store) Restore(ctx context.Context, id string) (w Website, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if w, err = website(tx.Clauses(forUpdate), id, true); err != nil {
			return err
		}
		now := s.clock.Now()
		if w.DeletedAt.Before(now.Add(-KeepDeleted).Time) { // the reaper may already delete its pages
			return models.NotFound("website")
		}
		w.DeletedAt, w.UpdatedAt = models.Time{}, now
		if err := tx.Save(&w).Error; err != nil {
			return err
		}
		return audit.Add(tx, now, audit.Change{Action: "website.restore", Subject: w.subject()})
	})
	if errors.Is(err, gorm.ErrDuplicatedKey) {
		return Website{}, errDuplicate
	}
	return w, err
}

// Account is a Google service account.
type Account struct{ ClientEmail, ProjectID string }

// SetCredentials stores the encrypted key of a service account, and requests a submission. The error is CodeNotFound if the
// website does not exist.
func (s *Store) SetCredentials(ctx context.Context, id string, key []byte, account Account) (Website, error) {
	w, err := s.change(ctx, id, "website.credentials", func(_ *gorm.DB, w *Website) (c audit.Change, err error) {
		if w.Credentials, err = s.opts.Seal(key, w.ID); err != nil {
			return c, err
		}
		c.After = audit.Values{"credentials": "set", "client_email": account.ClientEmail, "project_id": account.ProjectID}
		w.ClientEmail, w.ProjectID = account.ClientEmail, account.ProjectID
		w.forgetGoogle()
		w.SubmitRequestedAt = s.clock.Now()
		return c, nil
	})
	if err == nil {
		s.notify(Submitting)
	}
	return w, err
}

// RemoveCredentials removes the credentials of a website.
func (s *Store) RemoveCredentials(ctx context.Context, id string) (Website, error) {
	return s.change(ctx, id, "website.credentials", func(_ *gorm.DB, w *Website) (audit.Change, error) {
		c := audit.Change{Before: audit.Values{"client_email": w.ClientEmail, "project_id": w.ProjectID}, After: audit.Values{"credentials": "removed"}}
		w.Credentials, w.ClientEmail, w.ProjectID = nil, "", ""
		w.forgetGoogle()
		return c, nil
	})
}

// Key returns the decrypted key of the service account. The error is CodeConflict if there is none or it cannot be decrypted.
func (s *Store) Key(w Website) ([]byte, error) {
	if !w.UsesGoogle() {
		return nil, models.Conflict("The website has no Google credentials. Add them first.")
	}
	key, err := s.opts.Open(w.Credentials, w.ID)
	if err != nil {
		return nil, &models.Error{
			Code: models.CodeConflict, Err: err,
			Detail: "The stored credentials cannot be decrypted: SECRET_KEY or the key file has changed. Add the credentials again.",
		}
	}
	return key, nil
}

// Request requests an activity on a website, which starts within seconds: reading sitemaps, or submitting or verifying queued pages.
func (s *Store) Request(ctx context.Context, id string, a Activity) (w Website, err error) {
	w, err = s.change(ctx, id, "website."+a.auditVerb(), func(_ *gorm.DB, w *Website) (audit.Change, error) {
		now := s.clock.Now()
		switch a {
		case Reading:
			w.SitemapsRequestedAt = now
		case Submitting:
			w.SubmitRequestedAt = now
		case Verifying:
			w.VerifyRequestedAt = now
		}
		return audit.Change{}, nil
	})
	if err == nil {
		s.notify(a)
	}
	return w, err
}
