package accounts

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

const (
	maxReads = 1000 // reads in memory; more are counted in one entry per admin
	// readResolution limits the entries for reads to one per admin, item and hour.
	readResolution = time.Hour
)

// read identifies reads that are recorded in one audit entry.
type read struct{ actorID, actor, kind, id string }

// readBy is who read an item first.
type readBy struct {
	at       models.Time
	actor    models.Actor
	attempts int
}

// RecordReadsOf sets the kinds of items whose reads by admins are recorded, by the prefix of their IDs or by the name of the
// path parameter. Call it before the server starts.
func (s *Store) RecordReadsOf(items map[string]audit.Lookup) { s.items = items }

// ReadItem records that an admin read an item, named by a parameter of the request. Flush stores an entry if the item is
// private to another user. It reports whether the parameter names an item.
func (s *Store) ReadItem(actor models.Actor, name, value string) bool {
	kind, _, _ := strings.Cut(value, "_")
	if s.items[name] != nil {
		kind = name
	}
	if s.items[kind] == nil || len(value) > maxReadID {
		return false
	}
	s.addRead(actor, kind, value)
	return true
}

// maxReadID is the maximum length of an ID or a key in bytes.
const maxReadID = 200

// ReadAudit records that an admin read the audit log with the API.
func (s *Store) ReadAudit(ctx context.Context) {
	if actor, ok := models.ActorOf(ctx); ok {
		s.addRead(actor, auditLog.Kind, auditLog.ID)
	}
}

// auditLog is the subject of reads of the audit log.
var auditLog = audit.Subject{Kind: "audit", ID: "audit", Name: "Audit log"}

func (s *Store) addRead(actor models.Actor, kind, id string) {
	b := &s.usage
	b.mu.Lock()
	defer b.mu.Unlock()
	key := read{actor.ID, actor.Name, kind, id}
	if b.reads == nil {
		b.reads = map[read]*readBy{}
	}
	if b.reads[key] == nil && len(b.reads) >= maxReads {
		key.kind, key.id = "", ""
	}
	if b.reads[key] == nil {
		b.reads[key] = &readBy{at: s.clock.Now(), actor: actor}
	}
	b.reads[key].attempts++
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

// entriesOfReads returns the entries for reads of items that are private to another user, without those that were recorded
// in the hour before.
func (s *Store) entriesOfReads(ctx context.Context, reads map[read]*readBy) (entries []audit.Entry, err error) {
	if len(reads) == 0 {
		return nil, nil
	}
	recorded, err := s.recordedReads(ctx, reads)
	if err != nil {
		return nil, err
	}
	for key, by := range reads {
		if recorded[read{actorID: key.actorID, actor: key.actor, id: key.id}] {
			continue
		}
		subject, action := auditLog, "audit.read"
		switch key.kind {
		case auditLog.Kind:
		case "":
			subject, action = audit.Subject{}, "item.read"
		default:
			var private bool
			if subject, private, err = privateToOther(ctx, s.items[key.kind], by.actor, key.id); err != nil {
				return nil, err
			}
			if !private {
				continue
			}
			action = subject.Kind + ".read"
		}
		e := audit.EntryOf(by.actor, by.at, action, subject)
		if key.kind == "" {
			e.Attempts = by.attempts
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// privateToOther returns an item and reports whether it exists and only admins and another user see it.
func privateToOther(ctx context.Context, find audit.Lookup, actor models.Actor, id string) (item audit.Subject, private bool, err error) {
	_, err = find(models.WithActor(ctx, models.Actor{Name: actor.Name}), id)
	if models.CodeOf(err) != models.CodeNotFound {
		return item, false, err
	}
	item, err = find(models.WithActor(ctx, models.Actor{Name: actor.Name, SeesAll: true}), id)
	if models.CodeOf(err) == models.CodeNotFound {
		return item, false, nil
	}
	return item, err == nil, err
}

// recordedReads returns which reads have an entry of the last hour.
func (s *Store) recordedReads(ctx context.Context, reads map[read]*readBy) (map[read]bool, error) {
	rows := models.NewRows("actor text, id text")
	for key := range reads {
		rows.Add(key.actor, key.id)
	}
	var found []struct{ ActorID, Actor, SubjectID string }
	err := rows.Raw(s.db.Read(ctx), `SELECT DISTINCT e.actor_id, e.actor, e.subject_id FROM {rows} AS r JOIN audit_entries AS e
		ON e.subject_id = r.id AND e.subject_id <> '' AND e.actor = r.actor AND e.at > ? AND e.action LIKE '%.read'`,
		s.clock.Now().Add(-readResolution)).Scan(&found).Error
	if err != nil {
		return nil, wrapError("find recorded reads", err)
	}
	recorded := map[read]bool{}
	for _, f := range found {
		recorded[read{actorID: f.ActorID, actor: f.Actor, id: f.SubjectID}] = true
	}
	return recorded, nil
}
