package accounts

import (
	"context"
	"errors"
	"strings"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

const (
	maxReads       = 1000      // reads in memory; more are counted in one entry per admin
	readResolution = time.Hour // at most one entry per admin and item in this time
)

// read identifies reads that are recorded in one audit entry, by its columns.
type read struct{ ActorID, Actor, Action, SubjectID string }

// reader is who read an item first.
type reader struct {
	actor models.Actor
	at    models.Time
	item  audit.Item
	reads int
}

// auditLog is the subject of reads of the audit log.
var auditLog = audit.Subject{Kind: "audit", ID: "audit", Name: "Audit log"}

// RecordReadsOf sets the kinds of items whose reads by admins are recorded, by the prefix of their IDs or by the name of the
// path parameter. Call it before the server starts.
func (s *Store) RecordReadsOf(items map[string]audit.Item) { s.items = items }

// ReadItem records that an admin read an item, named by a parameter of the request. Flush stores an entry if the item is
// private to another user. It reports whether the parameter names an item.
func (s *Store) ReadItem(actor models.Actor, name, value string) bool {
	item, ok := s.items[name]
	if kind, _, _ := strings.Cut(value, "_"); !ok && models.CheckID(models.Kind(kind), value) == nil {
		item, ok = s.items[kind]
	}
	if ok {
		s.addRead(actor, item, value)
	}
	return ok
}

// ReadAudit records that an admin read the audit log with the API.
func (s *Store) ReadAudit(ctx context.Context) {
	if actor, ok := models.ActorOf(ctx); ok {
		s.addRead(actor, audit.Item{Kind: auditLog.Kind}, auditLog.ID)
	}
}

func (s *Store) addRead(actor models.Actor, item audit.Item, id string) {
	e := audit.EntryOf(actor, models.Time{}, item.Kind+".read", audit.Subject{})
	key := read{e.ActorID, e.Actor, e.Action, id}
	b := &s.usage
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reads == nil {
		b.reads = map[read]*reader{}
	}
	if b.reads[key] == nil && len(b.reads) >= maxReads {
		key.Action, key.SubjectID, item = "item.read", "", audit.Item{}
	}
	if b.reads[key] == nil {
		b.reads[key] = &reader{actor: actor, at: s.clock.Now(), item: item}
	}
	b.reads[key].reads++
}

// AuditDownload records a download of the audit log.
func (s *Store) AuditDownload(ctx context.Context, f AuditFilter) error {
	filter := audit.Values{}
	for name, value := range map[string]string{"actor": f.Actor, "action": f.Action, "subject_id": f.SubjectID, "address": f.Address} {
		if value != "" {
			filter[name] = value
		}
	}
	for name, at := range map[string]models.Time{"since": f.Since, "until": f.Until} {
		if !at.IsZero() {
			filter[name] = at.Format(time.RFC3339)
		}
	}
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		return audit.Add(tx, s.clock.Now(), audit.Change{Action: "audit.download", Subject: auditLog, After: filter})
	})
}

// entriesOfReads returns the entries for reads of the audit log and of items that are private to another user, without
// those of the hour before. An error does not keep back the entries of other reads.
func (s *Store) entriesOfReads(ctx context.Context, reads map[read]*reader) (entries []audit.Entry, err error) {
	if len(reads) == 0 {
		return nil, nil
	}
	recorded, err := s.recordedReads(ctx, reads)
	errs := []error{err}
	for key, r := range reads {
		if recorded[key] {
			continue
		}
		subject, attempts := audit.Subject{Kind: r.item.Kind, ID: key.SubjectID}, 1
		switch r.item.Kind {
		case "":
			attempts = r.reads
		case auditLog.Kind:
			subject = auditLog
		default:
			var private bool
			subject.Name, private, err = privateToOther(ctx, r.item, r.actor, key.SubjectID)
			errs = append(errs, err)
			if !private {
				continue
			}
		}
		e := audit.EntryOf(r.actor, r.at, key.Action, subject)
		e.Attempts = attempts
		entries = append(entries, e)
	}
	return entries, errors.Join(errs...)
}

// privateToOther returns the name of an item and reports whether it exists and only admins and another user see it.
func privateToOther(ctx context.Context, item audit.Item, actor models.Actor, id string) (name string, private bool, err error) {
	_, err = item.Name(models.WithActor(ctx, models.Actor{Name: actor.Name}), id)
	if models.CodeOf(err) != models.CodeNotFound {
		return "", false, err
	}
	name, err = item.Name(models.WithActor(ctx, models.Actor{Name: actor.Name, SeesAll: true}), id)
	if models.CodeOf(err) == models.CodeNotFound {
		return "", false, nil
	}
	return name, err == nil, err
}

// recordedReads returns the reads of the last hour that have an entry, and other entries about the same items.
func (s *Store) recordedReads(ctx context.Context, reads map[read]*reader) (map[read]bool, error) {
	rows := models.NewRows("id text")
	for key := range reads {
		rows.Add(key.SubjectID)
	}
	var found []read
	err := rows.Raw(s.db.Read(ctx), `SELECT DISTINCT e.actor_id, e.actor, e.action, e.subject_id FROM {rows} AS r JOIN audit_entries AS e
		ON e.subject_id = r.id AND e.subject_id <> '' AND e.at > ?`, s.clock.Now().Add(-readResolution)).Scan(&found).Error
	if err != nil {
		return nil, wrapError("find recorded reads", err)
	}
	recorded := map[read]bool{}
	for _, key := range found {
		recorded[key] = true
	}
	return recorded, nil
}
