package alerts

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// settingKind describes a kind of setting: channels, rules or maintenance windows. The functions of this file work on all of them.
type settingKind struct {
	name      string // in errors: "alert rule"
	kind      models.Kind
	limit     int
	table     string // with the column private_to; "" if all settings of the kind are shared
	auditKind string // in the audit log: "alert_rule"
}

var (
	channels = settingKind{"channel", models.KindChannel, MaxChannels, "channels", "channel"}
	rules    = settingKind{"alert rule", models.KindRule, MaxRules, "alert_rules", "alert_rule"}
	windows  = settingKind{"maintenance window", models.KindMaintenance, MaxWindows, "", "maintenance"}
)

type setting interface {
	Channel | Rule | Maintenance
	subject() audit.Subject
	// values returns a copy of the fields that users set, without secrets.
	values() audit.Values
}

// visible adds the condition for settings that the actor may see.
func (n settingKind) visible(tx *gorm.DB) *gorm.DB {
	if n.table == "" {
		return tx
	}
	visible, args := models.Visible(tx, n.table)
	return tx.Where(visible, args...)
}

func (n settingKind) record(tx *gorm.DB, now models.Time, verb string, subject audit.Subject, before, after audit.Values) error {
	return audit.Add(tx, now, audit.Change{Action: n.auditKind + "." + verb, Subject: subject, Before: before, After: after})
}

// add stores a new setting. The error is CodeConflict if there are n.most.
func add[T setting](ctx context.Context, s *Store, n settingKind, v *T) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := checkLimit[T](s, tx, n); err != nil {
			return err
		}
		return create(tx, s, n, v)
	})
	if err != nil {
		return fmt.Errorf("store %s: %w", n.name, err)
	}
	return nil
}

func create[T setting](tx *gorm.DB, s *Store, n settingKind, v *T) error {
	if err := tx.Select("*").Omit("seq").Create(v).Error; err != nil {
		return err
	}
	return n.record(tx, s.clock.Now(), "add", (*v).subject(), nil, (*v).values())
}

// checkLimit returns CodeConflict if there are n.limit settings. No other transaction adds or restores one until tx ends.
func checkLimit[T setting](s *Store, tx *gorm.DB, n settingKind) error {
	if err := s.db.OneAtATime(tx, lockSettings); err != nil {
		return err
	}
	var found int64
	if err := tx.Model(new(T)).Where("deleted_at IS NULL").Count(&found).Error; err != nil {
		return err
	}
	if found >= int64(n.limit) {
		return models.Conflict(fmt.Sprintf("There are %d %ss, which is the limit. Delete one first.", n.limit, n.name))
	}
	return nil
}

func get[T setting](tx *gorm.DB, n settingKind, id string, deleted bool) (v T, err error) {
	notDeleted := "deleted_at IS NULL"
	if deleted {
		notDeleted = "deleted_at IS NOT NULL"
	}
	if models.CheckID(n.kind, id) != nil {
		return v, models.NotFound(n.name)
	}
	err = n.visible(tx).Where("id = ? AND "+notDeleted, id).Take(&v).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return v, models.NotFound(n.name)
	}
	if err != nil {
		return v, fmt.Errorf("load %s: %w", n.name, err)
	}
	return v, nil
}

func list[T setting](ctx context.Context, s *Store, n settingKind, after models.Cursor, limit int, at func(T) models.Cursor) (models.Slice[T], error) {
	orders := models.Orders[T]{Field: "created_at", Time: "created_at", ID: "id", Kind: n.kind, At: at}
	tx := s.db.Read(ctx)
	q := models.ListQuery{Table: "maintenance", Where: "deleted_at IS NULL"}
	if n.table != "" {
		visible, args := models.Visible(tx, n.table)
		q.Table = n.table
		q.And(visible, args...)
	}
	return orders.List(tx, q, after, limit, func(p models.ListPart) (found []T, err error) {
		if err = p.Of(tx).Find(&found).Error; err != nil {
			err = fmt.Errorf("list %ss: %w", n.name, err)
		}
		return found, err
	})
}

// all returns all settings that are not deleted and that the actor may see, oldest first.
func all[T setting](tx *gorm.DB, n settingKind) (vs []T, err error) {
	if err := n.visible(tx).Where("deleted_at IS NULL").Order("seq").Find(&vs).Error; err != nil {
		return nil, fmt.Errorf("load alert settings: %w", err)
	}
	return vs, nil
}

// change applies fn to a setting and stores it. verb is the verb in the audit log.
func change[T setting](ctx context.Context, s *Store, n settingKind, verb, id string, fn func(*gorm.DB, *T) error) (v T, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.lockRules(tx, n); err != nil {
			return err
		}
		if v, err = get[T](tx.Clauses(clause.Locking{Strength: "UPDATE"}), n, id, false); err != nil {
			return err
		}
		was, before := v, v.values()
		if err := fn(tx, &v); err != nil {
			return err
		}
		if err := s.save(tx, n, &v); err != nil {
			return err
		}
		if verb == "delete" {
			return n.record(tx, s.clock.Now(), verb, v.subject(), before, nil)
		}
		after := v.values()
		s.recordAddress(after, was, v)
		return n.record(tx, s.clock.Now(), verb, v.subject(), before, after)
	})
	return v, err
}

// recordAddress adds to the audit values of a change that it replaced the address of a channel or removed its secret, never the address.
func (s *Store) recordAddress(to audit.Values, before, after any) {
	was, ok := before.(Channel)
	if !ok || bytes.Equal(was.Config, after.(Channel).Config) {
		return
	}
	to["credentials"] = "changed"
	old, err := s.Address(was) // an error: it was encrypted with another key
	if is, wrong := s.Address(after.(Channel)); err == nil && wrong == nil && old.Secret != "" && is.Secret == "" {
		to["secret"] = "removed"
	}
}

// changePrivacy returns the new private_to of a setting. The error is CodeForbidden if it changes and the actor is neither owner nor admin.
func changePrivacy(ctx context.Context, owner, before string, private bool) (privateTo string, err error) {
	if privateTo = models.PrivateTo(owner, private); privateTo != before {
		err = models.MayShare(ctx, owner)
	}
	return privateTo, err
}

// lockRules keeps QueueMessages from using a rule while it is changed.
func (s *Store) lockRules(tx *gorm.DB, n settingKind) error {
	if n != rules {
		return nil
	}
	return s.db.OneAtATime(tx, lockAlerts)
}

// restore restores a deleted setting. at returns its DeletedAt field. Errors are CodeNotFound, and CodeConflict if there are n.most others.
func restore[T setting](ctx context.Context, s *Store, n settingKind, id string, at func(*T) *models.Time) (v T, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.lockRules(tx, n); err != nil {
			return err
		}
		if v, err = get[T](tx.Clauses(clause.Locking{Strength: "UPDATE"}), n, id, true); err != nil {
			return err
		}
		if at(&v).Before(s.clock.Now().Add(-KeepDeleted).Time) { // the reaper may delete it at any time
			return models.NotFound(n.name)
		}
		if err := checkLimit[T](s, tx, n); err != nil {
			return err
		}
		*at(&v) = models.Time{}
		if err := s.save(tx, n, &v); err != nil {
			return err
		}
		return n.record(tx, s.clock.Now(), "restore", v.subject(), nil, v.values())
	})
	return v, err
}

func (s *Store) save(tx *gorm.DB, n settingKind, v any) error {
	if err := tx.Model(v).Select("*").Omit("seq", "id", "created_at", "claimed_by", "last_delivered_at", "owner").Updates(v).Error; err != nil {
		return fmt.Errorf("store %s: %w", n.name, err)
	}
	if err := tx.Model(v).UpdateColumn("updated_at", s.clock.Now()).Error; err != nil {
		return fmt.Errorf("store %s: %w", n.name, err)
	}
	if r, ok := v.(*Rule); ok {
		return s.rescheduleRule(tx, *r)
	}
	return nil
}
