// Package audit records who did what. A system adds an entry in the transaction of the change, so the change and the entry
// are stored together or not at all. Entries are never changed. The reaper deletes old ones.
package audit

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"

	"gorm.io/gorm"

	"linkwatch/models"
)

const (
	maxName  = 200 // characters
	maxValue = 500 // characters
	// MaxSubjects is the maximum number of IDs in an entry for several items.
	MaxSubjects = 100
)

// Values holds fields of an item, by their names in the API. It must not contain secrets: for a password or a key, record
// only that it was set.
type Values map[string]any

// Entry is an action in the audit log.
type Entry struct {
	Seq         int64 `gorm:"primaryKey"`
	At          models.Time
	ActorID     string // ID of the account; "" = none
	Actor       string // username
	Via         string // models.Actor.Via
	Credential  string // ID of the session or token; "" = none
	Address     string // client address; "" = unknown
	RequestID   string
	Action      string // "target.edit"
	SubjectKind string // "target"; "" = none
	SubjectID   string
	SubjectName string
	Before      string // JSON object with the old values; "" = none
	After       string // JSON object with the new values; "" = none
	Attempts    int    // number of attempts of failures that are counted together, else 1
}

// TableName implements gorm's Tabler.
func (Entry) TableName() string { return "audit_entries" }

// Subject is the item that an action changed.
type Subject struct{ Kind, ID, Name string }

// Change is a change to record. Only the values that differ between Before and After are stored. Before is nil for an
// addition, and After for a deletion.
type Change struct {
	Action  string // "target.edit"
	Subject Subject
	Before  Values
	After   Values
}

// Add stores entries for changes by the actor of the transaction, with one statement. Without an actor, as in background
// jobs, it stores nothing. It skips changes with equal Before and After.
func Add(tx *gorm.DB, now models.Time, changes ...Change) error {
	actor, ok := models.ActorOf(tx.Statement.Context)
	if !ok {
		return nil
	}
	var entries []Entry
	for _, c := range changes {
		before, after := changedValues(c.Before, c.After)
		if c.Before != nil && c.After != nil && len(before) == 0 && len(after) == 0 {
			continue
		}
		e := EntryOf(actor, now, c.Action, c.Subject)
		var err error
		if e.Before, err = Encode(before); err == nil {
			e.After, err = Encode(after)
		}
		if err != nil {
			return err
		}
		entries = append(entries, e)
	}
	return Insert(tx, entries)
}

// Insert stores entries in a transaction, with one statement.
func Insert(tx *gorm.DB, entries []Entry) error {
	if err := models.Insert(tx, entries); err != nil {
		return fmt.Errorf("insert audit entries: %w", err)
	}
	return nil
}

// EntryOf returns an entry for an action, without values.
func EntryOf(actor models.Actor, now models.Time, action string, subject Subject) Entry {
	return Entry{
		At: now, ActorID: actor.ID, Actor: models.Truncate(models.CleanLine(actor.Name), maxName), Via: actor.Via, Credential: actor.CredentialID,
		Address: actor.Address, RequestID: actor.Request, Action: action,
		SubjectKind: subject.Kind, SubjectID: subject.ID, SubjectName: models.Truncate(models.CleanLine(subject.Name), maxName), Attempts: 1,
	}
}

// Several returns the subject of a change of several items of one kind, and values with their number and the first
// MaxSubjects IDs. For one item, the subject has its ID and the values are empty.
func Several(kind string, ids []string) (Subject, Values) {
	if len(ids) == 1 {
		return Subject{Kind: kind, ID: ids[0]}, Values{}
	}
	return Subject{Kind: kind}, Values{"count": len(ids), "ids": ids[:min(len(ids), MaxSubjects)]}
}

func changedValues(before, after Values) (b, a Values) {
	if before == nil || after == nil {
		return before, after
	}
	b, a = maps.Clone(before), maps.Clone(after)
	for name, oldValue := range before {
		if newValue, ok := after[name]; ok && reflect.DeepEqual(oldValue, newValue) {
			delete(b, name)
			delete(a, name)
		}
	}
	return b, a
}

// Encode returns values as JSON, with long texts truncated; "" = no values.
func Encode(v Values) (string, error) {
	if len(v) == 0 {
		return "", nil
	}
	short := make(Values, len(v))
	for name, value := range v {
		if text, ok := value.(string); ok {
			value = models.Truncate(text, maxValue)
		}
		short[name] = value
	}
	b, err := json.Marshal(short)
	if err != nil {
		return "", fmt.Errorf("encode audit entry: %w", err)
	}
	return string(b), nil
}
