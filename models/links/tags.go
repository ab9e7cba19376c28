package links

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"linkwatch/models"
)

// TagOrder is the order of a list of tags.
type TagOrder string

// Values of TagOrder.
const (
	TagsByName    TagOrder = "name"
	TagsByCount   TagOrder = "link_count"   // most active links first
	TagsByLastUse TagOrder = "last_used_at" // most recently used first
)

// TagFields are the values of TagOrder, the default first.
var TagFields = []string{string(TagsByName), string(TagsByCount), string(TagsByLastUse)}

var tagOrders = map[TagOrder]map[models.Direction]string{
	TagsByName:    {"": "folded_name", models.Ascending: "folded_name", models.Descending: "folded_name DESC"},
	TagsByCount:   {"": "link_count DESC, seq DESC", models.Ascending: "link_count, seq", models.Descending: "link_count DESC, seq DESC"},
	TagsByLastUse: {"": "last_used_at DESC, seq DESC", models.Ascending: "last_used_at, seq", models.Descending: "last_used_at DESC, seq DESC"},
}

// Tags returns a page of the tags whose names contain match ("" = all). CodeInvalid ("query.q") if match is longer
// than models.MaxFilter bytes.
func (s *Store) Tags(ctx context.Context, match string, o TagOrder, p models.Page) (models.List[Tag], error) {
	out := models.List[Tag]{Page: p}
	directions, ok := tagOrders[o]
	if !ok {
		return out, models.Invalid("query.sort", "must be name, link_count or last_used_at")
	}
	order, ok := directions[p.Sort.Direction]
	if !ok {
		return out, models.Invalid("query.order", "must be asc or desc")
	}
	if err := models.CheckFilter("query.q", match); err != nil {
		return out, err
	}
	f := models.FoldName(match)
	if f == "" && strings.TrimSpace(match) != "" { // only invisible characters, which no tag has
		return out, nil
	}
	from := listedTags
	if o == TagsByName && p.Offset() < 10*models.DefaultPerPage {
		from = visibleTags // an index has the order, and few tags are added up
	}
	rows := func() *gorm.DB {
		g := from(s.db.Read(ctx))
		if f != "" {
			g = g.Where(`folded_name LIKE ? ESCAPE '\'`, "%"+models.EscapeLike(f)+"%")
		}
		return g
	}
	var err error
	if f == "" {
		out.Total, err = countVisibleTags(s.db.Read(ctx))
	} else {
		var n int64
		err = rows().Count(&n).Error
		out.Total = int(n)
	}
	if err != nil {
		return out, fmt.Errorf("count tags: %w", err)
	}
	if err := rows().Order(order).Offset(p.Offset()).Limit(p.Size).Find(&out.Items).Error; err != nil {
		return out, fmt.Errorf("list tags: %w", err)
	}
	return out, nil
}

// CompleteTags returns up to limit tags that contain typed: those that start with it first, then the most used
// ones. CodeInvalid ("query.tags") if typed is longer than models.MaxFilter bytes.
func (s *Store) CompleteTags(ctx context.Context, typed string, limit int) ([]Tag, error) {
	var ts []Tag
	if err := models.CheckFilter("query.tags", typed); err != nil {
		return ts, err
	}
	f := models.EscapeLike(models.FoldName(typed))
	err := listedTags(s.db.Read(ctx)).Where(`folded_name LIKE ? ESCAPE '\'`, "%"+f+"%").
		Order(clause.OrderBy{Expression: clause.Expr{
			SQL:  `CASE WHEN folded_name LIKE ? ESCAPE '\' THEN 0 ELSE 1 END, link_count DESC, seq`,
			Vars: []any{f + "%"},
		}}).Limit(limit).Find(&ts).Error
	if err != nil {
		return nil, fmt.Errorf("complete tags: %w", err)
	}
	return ts, nil
}

// Tag returns a tag. CodeNotFound if there is none.
func (s *Store) Tag(ctx context.Context, tagID string) (Tag, error) {
	return findTag(s.db.Read(ctx), tagID)
}

// TagsOf returns the tags of a link, in the order in which they were added.
func (s *Store) TagsOf(ctx context.Context, id string) ([]Tag, error) {
	tx := s.db.Read(ctx)
	l, err := one(tx, id)
	if err != nil {
		return nil, err
	}
	return tagsOf(tx, l.Seq)
}

// TagOf returns a tag of a link. CodeNotFound if the link does not have it.
func (s *Store) TagOf(ctx context.Context, id, tagID string) (Tag, error) {
	ts, err := s.TagsOf(ctx, id)
	if err != nil {
		return Tag{}, err
	}
	return findByID(ts, tagID)
}

// AddTags adds tags to a link and returns all its tags. It ignores tags that the link has. If there would be more
// than MaxTags, the error is CodeTooManyTags and nothing is added.
func (s *Store) AddTags(ctx context.Context, id string, names []string) ([]Tag, error) {
	names, err := cleanTags(names)
	if err != nil {
		return nil, err
	}
	var ts []Tag
	err = s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		l, err := lockOne(tx, id)
		if err != nil {
			return nil, err
		}
		ls, oldTags := []Link{l}, copyAllTags([]Link{l})
		newTags, err := attach(tx, s.clock.Now(), ls, [][]string{names})
		if err != nil {
			return nil, err
		}
		if ts, err = tagsOf(tx, l.Seq); err != nil {
			return nil, err
		}
		return ls, auditNewTags(tx, s.clock.Now(), ls, oldTags, newTags)
	})
	return ts, err
}

// RemoveTag removes a tag from a link. A tag without links is deleted.
func (s *Store) RemoveTag(ctx context.Context, id, tagID string) error {
	return s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		l, t, err := lockWithTag(tx, id, tagID)
		if err != nil {
			return nil, err
		}
		ls, oldTags := []Link{l}, copyTags(l)
		if err := detach(tx, ls, [][]Tag{{t}}); err != nil {
			return nil, err
		}
		return ls, auditTags(tx, s.clock.Now(), "untag", ls[0], oldTags)
	})
}

// SwapTag replaces a tag of a link by another one, which it returns.
func (s *Store) SwapTag(ctx context.Context, id, tagID, name string) (Tag, error) {
	names, err := cleanTags([]string{name})
	if err != nil {
		return Tag{}, models.Invalid("name", "%s", fieldMessage(err))
	}
	var swapped Tag
	err = s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		swapped = Tag{}
		l, t, err := lockWithTag(tx, id, tagID)
		if err != nil {
			return nil, err
		}
		if t.FoldedName == models.FoldName(names[0]) { // the same tag
			swapped = t
			return nil, nil
		}
		ls, oldTags := []Link{l}, copyTags(l)
		if err := detach(tx, ls, [][]Tag{{t}}); err != nil {
			return nil, err
		}
		if _, err := attach(tx, s.clock.Now(), ls, [][]string{names}); err != nil {
			return nil, err
		}
		if err := visibleTags(tx).Where("folded_name = ?", models.FoldName(names[0])).Take(&swapped).Error; err != nil {
			return nil, fmt.Errorf("load tag: %w", err)
		}
		return ls, auditTags(tx, s.clock.Now(), "tag", ls[0], oldTags)
	})
	return swapped, err
}

// exactTags returns the names in the query that match a tag exactly. They match only that tag. Other names match
// all tags that contain them.
func exactTags(tx *gorm.DB, q Query) (map[string]bool, error) {
	var names []string
	for _, g := range q.Tags {
		for _, n := range g.Names {
			names = append(names, n.Name)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	var have []string
	if err := visibleTags(tx).Where("folded_name IN ?", names).Pluck("folded_name", &have).Error; err != nil {
		return nil, fmt.Errorf("find tags: %w", err)
	}
	exact := make(map[string]bool, len(have))
	for _, n := range have {
		exact[n] = true
	}
	return exact, nil
}

func findTag(tx *gorm.DB, tagID string) (Tag, error) {
	if models.CheckID(models.KindTag, tagID) != nil {
		return Tag{}, models.NotFound("tag")
	}
	var ts []Tag
	if err := visibleTags(tx).Where("id = ?", tagID).Find(&ts).Error; err != nil {
		return Tag{}, fmt.Errorf("load tag: %w", err)
	}
	return findByID(ts, tagID)
}

func findByID(ts []Tag, tagID string) (Tag, error) {
	i := slices.IndexFunc(ts, func(t Tag) bool { return t.ID == tagID })
	if i < 0 {
		return Tag{}, models.NotFound("tag")
	}
	return ts[i], nil
}

func tagsOf(tx *gorm.DB, seq int64) ([]Tag, error) {
	var ts []Tag
	table, args := visibleTagTable(tx)
	err := tx.Raw("SELECT tags.* FROM link_tags JOIN "+table+" ON tags.seq = tag_seq WHERE link_seq = ? ORDER BY position", append(args, seq)...).Scan(&ts).Error
	if err != nil {
		return nil, fmt.Errorf("load tags of a link: %w", err)
	}
	return ts, nil
}

func lockWithTag(tx *gorm.DB, id, tagID string) (Link, Tag, error) {
	l, err := lockOne(tx, id)
	if err != nil {
		return Link{}, Tag{}, err
	}
	ts, err := tagsOf(tx, l.Seq)
	if err != nil {
		return Link{}, Tag{}, err
	}
	t, err := findByID(ts, tagID)
	return l, t, err
}

// cleanTags validates names of tags and removes duplicates.
func cleanTags(names []string) ([]string, error) {
	seen := make(map[string]bool, len(names))
	out := make([]string, 0, len(names))
	for i, n := range names {
		at := fmt.Sprintf("tags[%d]", i)
		n = models.CleanLine(n)
		f := models.FoldName(n)
		switch {
		case f == "":
			return nil, models.Invalid(at, "must not be empty")
		case models.Runes(n) > MaxTagLength:
			return nil, models.TooLong(at, MaxTagLength, "characters")
		case strings.ContainsAny(n, `,"`):
			return nil, models.Invalid(at, "must not contain a comma or a double quote")
		case !seen[f]:
			seen[f] = true
			out = append(out, n)
		}
	}
	if len(out) > MaxTags {
		return nil, tooManyTags()
	}
	return out, nil
}

func tooManyTags() error {
	return &models.Error{Code: models.CodeTooManyTags, Detail: fmt.Sprintf("A link can have at most %d tags. Remove some of them.", MaxTags)}
}

// fieldMessage returns the message of the first field of an error.
func fieldMessage(err error) string {
	e, ok := errors.AsType[*models.Error](err)
	if !ok || len(e.Fields) == 0 {
		return "is not valid"
	}
	return strings.TrimSuffix(e.Fields[0].Message, ".")
}

// TagAll adds tags to links. If one of them would have more than MaxTags, nothing is added.
func (s *Store) TagAll(ctx context.Context, names []string, ids ...string) (Change, error) {
	names, err := cleanTags(names)
	if err != nil {
		return Change{}, err
	}
	return s.change(ctx, ActionTag, ids, func(tx *gorm.DB, ls []Link) ([]undoItem, []Link, error) {
		each := make([][]string, len(ls))
		for i := range each {
			each[i] = names
		}
		oldTags := copyAllTags(ls)
		newTags, err := attach(tx, s.clock.Now(), ls, each)
		if err != nil {
			return nil, nil, err
		}
		var items []undoItem
		for i, tags := range newTags {
			if len(tags) > 0 {
				items = append(items, undoItem{Link{ID: ls[i].ID}, tags})
			}
		}
		return items, ls, auditNewTags(tx, s.clock.Now(), ls, oldTags, newTags)
	})
}

// untag removes the tags that a change added.
func untag(tx *gorm.DB, items []undoItem) ([]Link, error) {
	ids, names, wanted := make([]string, len(items)), map[string][]string{}, map[string]bool{}
	for i, p := range items {
		ids[i] = p.Link.ID
		for _, n := range p.Tags {
			f := models.FoldName(n)
			names[p.Link.ID] = append(names[p.Link.ID], f)
			wanted[f] = true
		}
	}
	ls, err := lockIDs(tx, ids)
	if err != nil {
		return nil, err
	}
	tags, err := tagsByFoldedName(tx, sortedKeys(wanted))
	if err != nil {
		return nil, err
	}
	removed := make([][]Tag, len(ls))
	for i, l := range ls {
		for _, n := range l.Tags { // some may have been removed in the meantime
			if f := models.FoldName(n); slices.Contains(names[l.ID], f) {
				removed[i] = append(removed[i], tags[f])
			}
		}
	}
	return ls, detach(tx, ls, removed)
}
