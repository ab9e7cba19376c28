package links

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"linkwatch/models"
)

// TagOrder is how a list of tags is sorted.
type TagOrder string

// The orders of tags.
const (
	TagsByName    TagOrder = "name"
	TagsByCount   TagOrder = "count"  // most active links first
	TagsByLastUse TagOrder = "recent" // last put on a link first
)

var tagOrders = map[TagOrder]string{
	TagsByName:    "folded",
	TagsByCount:   "link_count DESC, seq DESC",
	TagsByLastUse: "last_used_at DESC, seq DESC",
}

// Tags are the tags whose names hold match ("" = all), sorted. match is at most
// models.MaxFilter bytes long, else the error is CodeInvalid ("query.q").
func (s *Store) Tags(ctx context.Context, match string, o TagOrder, p models.Page) (models.List[Tag], error) {
	out := models.List[Tag]{Page: p}
	order, ok := tagOrders[o]
	if !ok {
		return out, models.Invalid("query.sort", "must be name, count or recent")
	}
	if err := models.CheckFilter("query.q", match); err != nil {
		return out, err
	}
	f := models.FoldName(match)
	if f == "" && strings.TrimSpace(match) != "" { // no tag consists of invisible characters
		return out, nil
	}
	rows := func() *gorm.DB {
		g := s.db.Read(ctx).Model(&Tag{})
		if f != "" {
			g = g.Where(`folded LIKE ? ESCAPE '\'`, "%"+escapeLike(f)+"%")
		}
		return g
	}
	var n int64
	if err := rows().Count(&n).Error; err != nil {
		return out, fmt.Errorf("counting tags: %w", err)
	}
	out.Total = int(n)
	if err := rows().Order(order).Offset(p.Offset()).Limit(p.Size).Find(&out.Items).Error; err != nil {
		return out, fmt.Errorf("listing tags: %w", err)
	}
	return out, nil
}

// CompleteTags are up to limit tags for what was typed so far: those that
// begin with it before those that hold it, and the most used first. typed is at
// most models.MaxFilter bytes long, else the error is CodeInvalid ("query.tags").
func (s *Store) CompleteTags(ctx context.Context, typed string, limit int) ([]Tag, error) {
	var ts []Tag
	if err := models.CheckFilter("query.tags", typed); err != nil {
		return ts, err
	}
	f := escapeLike(models.FoldName(typed))
	err := s.db.Read(ctx).Where(`folded LIKE ? ESCAPE '\'`, "%"+f+"%").
		Order(clause.OrderBy{Expression: clause.Expr{
			SQL:  `CASE WHEN folded LIKE ? ESCAPE '\' THEN 0 ELSE 1 END, link_count DESC, seq`,
			Vars: []any{f + "%"},
		}}).Limit(limit).Find(&ts).Error
	if err != nil {
		return nil, fmt.Errorf("completing a tag: %w", err)
	}
	return ts, nil
}

// Tag is one tag; CodeNotFound if there is none.
func (s *Store) Tag(ctx context.Context, tagID string) (Tag, error) {
	return findTag(s.db.Read(ctx), tagID)
}

// MergeTarget returns the other tag that a rename of tagID to name would merge
// it into, and the number of links that carry that tag, expired ones included.
// links is 0 if no other tag has the name. The error is CodeNotFound if tagID
// names no tag. Both tags and the count come from one statement, so that
// concurrent merges cannot make them disagree.
func (s *Store) MergeTarget(ctx context.Context, tagID, name string) (into Tag, links int, err error) {
	if models.CheckID(models.KindTag, tagID) != nil {
		return Tag{}, 0, models.NotFound("tag")
	}
	var rows []struct {
		Tag
		Links int
	}
	err = s.db.Read(ctx).Raw(`SELECT tags.*, (SELECT count(*) FROM link_tags WHERE tag_seq = tags.seq) AS links
		FROM tags WHERE id = ? OR folded = ?`, tagID, models.FoldName(name)).Scan(&rows).Error
	if err != nil {
		return Tag{}, 0, fmt.Errorf("looking for the tag to merge into: %w", err)
	}
	known := false
	for _, r := range rows {
		if r.ID == tagID {
			known = true
		} else {
			into, links = r.Tag, r.Links
		}
	}
	if !known {
		return Tag{}, 0, models.NotFound("tag")
	}
	if links == 0 { // a tag without links does not exist for users: a rename takes its name silently
		into = Tag{}
	}
	return into, links, nil
}

// TagsOf are the tags of a link, in the order it got them.
func (s *Store) TagsOf(ctx context.Context, id string) ([]Tag, error) {
	tx := s.db.Read(ctx)
	l, err := one(tx, id)
	if err != nil {
		return nil, err
	}
	return tagsOf(tx, l.Seq)
}

// TagOf is a tag that is on a link; CodeNotFound if it is not.
func (s *Store) TagOf(ctx context.Context, id, tagID string) (Tag, error) {
	ts, err := s.TagsOf(ctx, id)
	if err != nil {
		return Tag{}, err
	}
	return pick(ts, tagID)
}

// AddTags puts tags on a link and answers all it has then. Names that it has
// are passed over; more than MaxTags in all is CodeTooManyTags and adds nothing.
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
		ls := []Link{l}
		if _, err := attach(tx, s.clock.Now(), ls, [][]string{names}); err != nil {
			return nil, err
		}
		ts, err = tagsOf(tx, l.Seq)
		return ls, err
	})
	return ts, err
}

// RemoveTag takes a tag off a link. A tag that no link carries then is gone.
func (s *Store) RemoveTag(ctx context.Context, id, tagID string) error {
	return s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		l, t, err := tagOn(tx, id, tagID)
		if err != nil {
			return nil, err
		}
		ls := []Link{l}
		return ls, detach(tx, ls, t)
	})
}

// SwapTag takes a tag off a link, puts another in its place, and answers that.
func (s *Store) SwapTag(ctx context.Context, id, tagID, name string) (Tag, error) {
	names, err := cleanTags([]string{name})
	if err != nil {
		return Tag{}, models.Invalid("name", "%s", fieldMessage(err))
	}
	var swapped Tag
	err = s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		swapped = Tag{}
		l, t, err := tagOn(tx, id, tagID)
		if err != nil {
			return nil, err
		}
		if t.Folded == models.FoldName(names[0]) { // the same tag: it stays
			swapped = t
			return nil, nil
		}
		ls := []Link{l}
		if err := detach(tx, ls, t); err != nil {
			return nil, err
		}
		if _, err := attach(tx, s.clock.Now(), ls, [][]string{names}); err != nil {
			return nil, err
		}
		err = tx.Where("folded = ?", models.FoldName(names[0])).Take(&swapped).Error
		return ls, err
	})
	return swapped, err
}

// reindexBatch is how many links one transaction indexes anew: other writers
// wait that long.
const reindexBatch = 250

// RenameTag gives a tag another name everywhere. If another tag has that name
// already, the two become one (merged is true), which keeps its casing. The
// links are indexed anew before it returns, some at a time; what ctx cuts
// short, Purge finishes.
func (s *Store) RenameTag(ctx context.Context, tagID, name string) (t Tag, merged bool, err error) {
	names, err := cleanTags([]string{name})
	if err != nil {
		return Tag{}, false, models.Invalid("name", "%s", fieldMessage(err))
	}
	name, folded := names[0], models.FoldName(names[0])
	err = s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		old, err := findTag(tx, tagID)
		if err != nil {
			return nil, err
		}
		t, merged = old, false
		var other []Tag
		if err := tx.Where("folded = ? AND seq <> ?", folded, old.Seq).Find(&other).Error; err != nil {
			return nil, fmt.Errorf("looking for a tag: %w", err)
		}
		if folded != old.Folded { // the index does not know casings
			err := tx.Exec(`INSERT INTO link_reindex (link_seq) SELECT link_seq FROM link_tags WHERE tag_seq = ?
				ON CONFLICT DO NOTHING`, old.Seq).Error
			if err != nil {
				return nil, fmt.Errorf("noting the links of a tag: %w", err)
			}
		}
		if len(other) > 0 {
			t, merged = other[0], true
			err = merge(tx, old, &t)
		} else {
			t.Name, t.Folded = name, folded
			err = tx.Save(&t).Error
		}
		if err != nil {
			return nil, fmt.Errorf("renaming a tag: %w", err)
		}
		return nil, nil
	})
	if err == nil {
		err = s.reindex(ctx)
	}
	return t, merged, err
}

// merge moves every link of a tag to another, drops the first and counts the
// links of the second anew.
func merge(tx *gorm.DB, from Tag, into *Tag) error {
	for _, q := range []string{
		`INSERT INTO link_tags (link_seq, tag_seq, position)
			SELECT link_seq, @into, position FROM link_tags WHERE tag_seq = @from ON CONFLICT DO NOTHING`,
		`DELETE FROM link_tags WHERE tag_seq = @from`,
		`DELETE FROM tags WHERE seq = @from`,
		`UPDATE tags SET link_count = (SELECT count(*) FROM link_tags JOIN links ON links.seq = link_seq
			WHERE tag_seq = @into AND expired_at IS NULL), last_used_at = max_of.t
			FROM (SELECT CASE WHEN last_used_at > @used THEN last_used_at ELSE @used END AS t FROM tags WHERE seq = @into) AS max_of
			WHERE seq = @into`,
	} {
		err := tx.Exec(q, map[string]any{"from": from.Seq, "into": into.Seq, "used": from.LastUsedAt}).Error
		if err != nil {
			return err
		}
	}
	return tx.Take(into, into.Seq).Error
}

// reindex indexes the links of link_reindex anew, some at a time.
func (s *Store) reindex(ctx context.Context) error {
	for {
		var seqs []int64
		err := s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
			if err := tx.Raw("SELECT link_seq FROM link_reindex ORDER BY link_seq LIMIT ?", reindexBatch).Scan(&seqs).Error; err != nil {
				return nil, err
			}
			if len(seqs) == 0 {
				return nil, nil
			}
			if err := tx.Exec("DELETE FROM link_reindex WHERE link_seq IN ?", seqs).Error; err != nil {
				return nil, err
			}
			return inOrder(tx, seqs)
		})
		if err != nil {
			return fmt.Errorf("indexing the links of a tag: %w", err)
		}
		if len(seqs) < reindexBatch {
			return nil
		}
	}
}

// ReapTags deletes up to limit tags that no link carries. Everything that takes
// a tag off its last link drops the tag with it, so there are none unless links
// were deleted past the store. It is the reaper's part (models/cleanup.Remove).
func (s *Store) ReapTags(tx *gorm.DB, limit int) (int64, error) {
	if err := s.db.OneAtATime(tx, models.LockLinks); err != nil { // or one could be put on a link meanwhile
		return 0, err
	}
	res := tx.Exec(`DELETE FROM tags WHERE seq IN (
		SELECT seq FROM tags WHERE NOT EXISTS (SELECT 1 FROM link_tags WHERE tag_seq = tags.seq) LIMIT ?)`, limit)
	if res.Error != nil {
		return 0, fmt.Errorf("dropping unused tags: %w", res.Error)
	}
	return res.RowsAffected, nil
}

// wholeTags are the names in the query's tag groups that are tags as they
// stand: those mean just that tag, and others any tag that holds them.
func wholeTags(tx *gorm.DB, q Query) (map[string]bool, error) {
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
	if err := tx.Model(&Tag{}).Where("folded IN ?", names).Pluck("folded", &have).Error; err != nil {
		return nil, fmt.Errorf("looking for tags: %w", err)
	}
	whole := make(map[string]bool, len(have))
	for _, n := range have {
		whole[n] = true
	}
	return whole, nil
}

func findTag(tx *gorm.DB, tagID string) (Tag, error) {
	if models.CheckID(models.KindTag, tagID) != nil {
		return Tag{}, models.NotFound("tag")
	}
	var ts []Tag
	if err := tx.Where("id = ?", tagID).Find(&ts).Error; err != nil {
		return Tag{}, fmt.Errorf("loading a tag: %w", err)
	}
	return pick(ts, tagID)
}

func pick(ts []Tag, tagID string) (Tag, error) {
	i := slices.IndexFunc(ts, func(t Tag) bool { return t.ID == tagID })
	if i < 0 {
		return Tag{}, models.NotFound("tag")
	}
	return ts[i], nil
}

func tagsOf(tx *gorm.DB, seq int64) ([]Tag, error) {
	var ts []Tag
	err := tx.Raw(`SELECT tags.* FROM link_tags JOIN tags ON tags.seq = tag_seq
		WHERE link_seq = ? ORDER BY position`, seq).Scan(&ts).Error
	if err != nil {
		return nil, fmt.Errorf("loading the tags of a link: %w", err)
	}
	return ts, nil
}

func tagOn(tx *gorm.DB, id, tagID string) (Link, Tag, error) {
	l, err := lockOne(tx, id)
	if err != nil {
		return Link{}, Tag{}, err
	}
	ts, err := tagsOf(tx, l.Seq)
	if err != nil {
		return Link{}, Tag{}, err
	}
	t, err := pick(ts, tagID)
	return l, t, err
}

// cleanTags checks the names of tags and drops those that repeat.
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
			return nil, models.Invalid(at, "is longer than %d characters", MaxTagLength)
		case strings.ContainsAny(n, `,"`):
			return nil, models.Invalid(at, "must not hold a comma or a double quote")
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

// tooManyTags is the error of seed 001's example.
func tooManyTags() error {
	return &models.Error{Code: models.CodeTooManyTags, Detail: fmt.Sprintf("Links can have at most %d tags", MaxTags)}
}
