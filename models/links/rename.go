package links

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

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
		FROM tags WHERE id = ? OR folded_name = ?`, tagID, models.FoldName(name)).Scan(&rows).Error
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

// reindexBatch is how many links one transaction indexes again: other writers
// wait that long.
const reindexBatch = 250

// RenameTag gives a tag another name everywhere. If another tag has that name
// already, the two become one (merged is true), which keeps its casing. The
// links are indexed again before it returns, some at a time; what ctx cuts
// short, FinishRenames does.
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
		if err := tx.Where("folded_name = ? AND seq <> ?", folded, old.Seq).Find(&other).Error; err != nil {
			return nil, fmt.Errorf("looking for a tag: %w", err)
		}
		if folded != old.FoldedName { // the index does not know casings
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
			t.Name, t.FoldedName = name, folded
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
// links of the second again.
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

// FinishRenames indexes the links again that a RenameTag did not get to.
func (s *Store) FinishRenames(ctx context.Context) error {
	// A look that changes nothing first: as a rule there are none.
	var waiting bool
	if err := s.db.Read(ctx).Raw("SELECT EXISTS (SELECT 1 FROM link_reindex)").Scan(&waiting).Error; err != nil {
		return fmt.Errorf("looking for the links of renamed tags: %w", err)
	}
	if !waiting {
		return nil
	}
	return s.reindex(ctx)
}

// reindex indexes the links of link_reindex again, some at a time.
func (s *Store) reindex(ctx context.Context) error {
	for {
		var seqs []int64
		err := s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
			seqs = nil
			err := tx.Raw(`DELETE FROM link_reindex WHERE link_seq IN (
				SELECT link_seq FROM link_reindex ORDER BY link_seq LIMIT ?) RETURNING link_seq`, reindexBatch).Scan(&seqs).Error
			if err != nil {
				return nil, err
			}
			return among(tx, seqRows(seqs), bySeq)
		})
		if err != nil {
			return fmt.Errorf("indexing the links of a tag: %w", err)
		}
		if len(seqs) < reindexBatch {
			return nil
		}
	}
}
