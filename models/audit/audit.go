// Package audit is the record of who did what. A system adds an entry in the transaction
// that makes a change, so there is no change without an entry and no entry without a
// change. Entries are never changed; the reaper deletes old ones.
package audit

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"

	"gorm.io/gorm"

	"linkwatch/models"
)

// The longest texts of an entry, in characters.
const (
	maxName  = 200
	maxValue = 500
	// MaxSubjects is how many ids an entry about several things names.
	MaxSubjects = 100
)

// Values are the members of a thing as the API names them. They never hold a secret: of a
// password or a key, say that it was set.
type Values map[string]any

// Entry is something that was done.
type Entry struct {
	Seq         int64 `gorm:"primaryKey"`
	At          models.Time
	ActorID     string // of the account; "" = none
	Actor       string // name
	Via         string // models.Actor.Via
	Credential  string // id of the session or token; "" = none
	Address     string // of the client; "" = unknown
	RequestID   string
	Action      string // "target.edit"
	SubjectKind string // "target"; "" = none
	SubjectID   string
	SubjectName string
	Before      string // JSON object: what the change replaced; "" = nothing
	After       string // JSON object: what it set
	Attempts    int    // how often it was tried, of failures that are counted together; else 1
}

// TableName names the table, for GORM.
func (Entry) TableName() string { return "audit_entries" }

// Subject is what something was done to.
type Subject struct{ Kind, ID, Name string }

// Change is what a system says of a change. Of Before and After, only the members that
// differ are stored; an addition has no Before, a deletion no After.
type Change struct {
	Action  string // "target.edit"
	Subject Subject
	Before  Values
	After   Values
}

// Add stores what the actor of a transaction did, by one statement. Background work acts for
// no one, so its changes are not recorded. A change whose Before and After are the same is
// left out.
func Add(tx *gorm.DB, now models.Time, changes ...Change) error {
	actor, ok := models.ActorOf(tx.Statement.Context)
	if !ok {
		return nil
	}
	var entries []Entry
	for _, c := range changes {
		before, after := differing(c.Before, c.After)
		if c.Before != nil && c.After != nil && len(before) == 0 && len(after) == 0 {
			continue
		}
		e := EntryOf(actor, now, c.Action, c.Subject)
		var err error
		if e.Before, err = encode(before); err == nil {
			e.After, err = encode(after)
		}
		if err != nil {
			return err
		}
		entries = append(entries, e)
	}
	return Insert(tx, entries)
}

// Insert stores entries in a transaction, by one statement.
func Insert(tx *gorm.DB, entries []Entry) error {
	if err := models.Insert(tx, entries); err != nil {
		return fmt.Errorf("storing audit entries: %w", err)
	}
	return nil
}

// EntryOf is the entry of what an actor did, without values.
func EntryOf(actor models.Actor, now models.Time, action string, of Subject) Entry {
	return Entry{
		At: now, ActorID: actor.ID, Actor: models.Truncate(models.CleanLine(actor.Name), maxName), Via: actor.Via, Credential: actor.Of,
		Address: actor.Address, RequestID: actor.Request, Action: action,
		SubjectKind: of.Kind, SubjectID: of.ID, SubjectName: models.Truncate(models.CleanLine(of.Name), maxName), Attempts: 1,
	}
}

// Several is the subject of a change of several things, and the values that name them: how
// many they are, and the first MaxSubjects ids.
func Several(kind string, ids []string) (Subject, Values) {
	if len(ids) == 1 {
		return Subject{Kind: kind, ID: ids[0]}, Values{}
	}
	return Subject{Kind: kind}, Values{"count": len(ids), "ids": ids[:min(len(ids), MaxSubjects)]}
}

// differing leaves out what is the same before and after.
func differing(before, after Values) (b, a Values) {
	if before == nil || after == nil {
		return before, after
	}
	b, a = maps.Clone(before), maps.Clone(after)
	for name, was := range before {
		if is, ok := after[name]; ok && reflect.DeepEqual(was, is) {
			delete(b, name)
			delete(a, name)
		}
	}
	return b, a
}

// encode writes values as JSON, with long texts cut.
func encode(v Values) (string, error) {
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
		return "", fmt.Errorf("encoding an audit entry: %w", err)
	}
	return string(b), nil
}
