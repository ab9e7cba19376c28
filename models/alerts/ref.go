package alerts

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"slices"

	"linkwatch/models"
)

// The kinds of items that a scope can name, besides targets and links.
const (
	SubjectSource    = "source"
	SubjectJob       = "job"
	SubjectPage      = "page"
	SubjectWebsite   = "website"
	SubjectShortLink = "shortlink"
	SubjectTag       = "tag"
)

// SubjectKinds are the kinds of items that a scope can name.
var SubjectKinds = []string{SubjectTarget, SubjectLink, SubjectSource, SubjectJob, SubjectPage, SubjectWebsite, SubjectShortLink, SubjectTag}

// laterKinds are kinds that are reserved: nothing has them yet.
var laterKinds = []string{"watch", "group"}

// maxKey is the maximum length of the ID of an item, in characters.
const maxKey = 256

// Ref names an item: a target, a source, … The ID of a short link is its key.
type Ref struct {
	Kind string `json:"kind" enum:"target,link,source,job,page,watch,website,shortlink,tag,group" example:"source" doc:"target, link, source, job, page, website, shortlink or tag. watch and group are reserved"`
	ID   string `json:"id" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the item. For a short link, its key"`
}

// Refs is a list of items, stored as JSON.
type Refs []Ref

// Value implements driver.Valuer.
func (r Refs) Value() (driver.Value, error) {
	b, err := json.Marshal(append([]Ref{}, r...))
	return string(b), err
}

// Scan implements sql.Scanner.
func (r *Refs) Scan(src any) error {
	var b []byte
	switch v := src.(type) {
	case string:
		b = []byte(v)
	case []byte:
		b = v
	default:
		return fmt.Errorf("a list column holds %T, want JSON", src)
	}
	*r = nil
	return json.Unmarshal(b, (*[]Ref)(r))
}

// GormDataType implements GORM's GormDataTypeInterface.
func (Refs) GormDataType() string { return "text" }

// Item is an item that a scope can name.
type Item struct {
	Ref
	Name   string // of a tag, its name
	URL    string // canonical destination of a short link, start page of a job; "" for others
	Parent Ref    // source or website of a job or page; zero for others
}

// checkRefs validates a list of items and removes duplicates. It refuses items that do not exist or that the actor may not see, except those
// in before.
func (s *Store) checkRefs(ctx context.Context, list *Refs, before Refs) error {
	if len(*list) > maxList {
		return models.TooLong("subjects", maxList, "entries")
	}
	var clean, added Refs
	for i, r := range *list {
		at := fmt.Sprintf("subjects[%d]", i)
		switch {
		case slices.Contains(laterKinds, r.Kind):
			return models.Invalid(at+".kind", "cannot be %s yet: Linkwatch has none", r.Kind)
		case !slices.Contains(SubjectKinds, r.Kind):
			return models.Invalid(at+".kind", "must be target, link, source, job, page, website, shortlink or tag")
		case r.ID == "" || models.Runes(r.ID) > maxKey:
			return models.Invalid(at+".id", "must be the id of a %s", r.Kind)
		case slices.Contains(clean, r):
			continue
		}
		if clean = append(clean, r); !slices.Contains(before, r) {
			added = append(added, r)
		}
	}
	if s.lookup != nil && len(added) > 0 {
		found, err := s.lookup.Items(ctx, added)
		if err != nil {
			return fmt.Errorf("look up items: %w", err)
		}
		for i, r := range *list {
			if _, ok := found[r]; !ok && slices.Contains(added, r) {
				return models.Invalid(fmt.Sprintf("subjects[%d].id", i), "must be the id of a %s", r.Kind)
			}
		}
	}
	*list = clean
	return nil
}

// itemKey is the key of an item with the permissions of the readers of a subject.
type itemKey struct {
	privateTo string
	Ref
}

// loadItems loads the items that the scopes need to match subjects: the parents of jobs and pages, and the named tags and short links. It reads
// them with the permissions of the subjects' readers.
func (s *Store) loadItems(ctx context.Context, scopes []Scope, subjects []subject) (map[itemKey]Item, error) {
	var named Refs
	parents := false
	for _, sc := range scopes {
		for _, r := range sc.Subjects {
			switch r.Kind {
			case SubjectTag, SubjectShortLink:
				named = append(named, r)
			case SubjectSource, SubjectWebsite:
				parents = true
			}
		}
	}
	if len(named) == 0 && !parents {
		return nil, nil
	}
	byOwner := map[string]Refs{}
	for _, sub := range subjects {
		if byOwner[sub.privateTo] == nil {
			byOwner[sub.privateTo] = slices.Clone(named)
		}
		if parents && (sub.kind == SubjectJob || sub.kind == SubjectPage) {
			byOwner[sub.privateTo] = append(byOwner[sub.privateTo], Ref{sub.kind, sub.id})
		}
	}
	all := map[itemKey]Item{}
	for owner, refs := range byOwner {
		if len(refs) == 0 {
			continue
		}
		found, err := s.lookup.Items(models.WithActor(ctx, models.Actor{Name: owner}), refs)
		if err != nil {
			return nil, err
		}
		for r, item := range found {
			all[itemKey{owner, r}] = item
		}
	}
	return all, nil
}

// namesSubject reports whether a scope names a subject, the source or website that it belongs to, one of its tags, or a short link to it.
func (m matcher) namesSubject(sc Scope, sub subject) bool {
	for _, r := range sc.Subjects {
		switch r.Kind {
		case SubjectTag:
			item, ok := m.items[itemKey{sub.privateTo, r}]
			if ok && slices.Contains(m.tags[lookupKey{sub.privateTo, sub.url}], models.FoldName(item.Name)) && (sub.kind == SubjectTarget || sub.kind == SubjectLink) {
				return true
			}
		case SubjectShortLink:
			item, ok := m.items[itemKey{sub.privateTo, r}]
			if ok && item.URL == sub.url && (sub.kind == SubjectTarget || sub.kind == SubjectLink) {
				return true
			}
		case SubjectSource, SubjectWebsite:
			if m.items[itemKey{sub.privateTo, Ref{sub.kind, sub.id}}].Parent == r {
				return true
			}
		}
		if r.Kind == sub.kind && r.ID == sub.id {
			return true
		}
	}
	return false
}
