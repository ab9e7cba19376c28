package links

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// MergeTarget returns the other tag that a rename of tagID to name would merge
// it into, and the number of links that carry that tag, expired ones included.
// links is 0 if no other tag has the name that the actor sees. The error is CodeNotFound if tagID
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
	tx := s.db.Read(ctx)
	count, args := "SELECT count(*) FROM link_tags WHERE tag_seq = tags.seq", []any(nil)
	if !seesAll(tx) {
		var own string
		own, args = models.OwnScope(tx, "tag_scopes")
		count = "SELECT CAST(sum(links) AS BIGINT) FROM tag_scopes WHERE tag_seq = tags.seq AND " + own
	}
	table, of := seenTags(tx)
	args = append(append(args, of...), tagID, models.FoldName(name))
	err = tx.Raw("SELECT tags.*, ("+count+") AS links FROM "+table+" WHERE id = ? OR folded_name = ?", args...).Scan(&rows).Error
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

// RenameTag gives a tag another name on the links that the actor sees. If another tag has
// that name already, the two become one (merged is true), which keeps its casing. The
// links are indexed again before it returns, some at a time; what ctx cuts
// short, FinishRenames does.
//
// Links that the actor does not see keep the tag, so it then has another id than t. A tag
// that only such links carry is none for the actor: its name can be given to another one,
// which is no merge.
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
		stays, err := hiddenFrom(tx, old.Seq)
		if err != nil {
			return nil, err
		}
		var other []Tag
		if err := tx.Where("folded_name = ? AND seq <> ?", folded, old.Seq).Find(&other).Error; err != nil {
			return nil, fmt.Errorf("looking for a tag: %w", err)
		}
		if folded != old.FoldedName { // the index does not know casings
			seen, args := seenLinks(tx)
			err := tx.Exec(`INSERT INTO link_reindex (link_seq) SELECT link_seq FROM link_tags WHERE tag_seq = ?`+seen+`
				ON CONFLICT DO NOTHING`, append([]any{old.Seq}, args...)...).Error
			if err != nil {
				return nil, fmt.Errorf("noting the links of a tag: %w", err)
			}
		}
		switch {
		case len(other) > 0:
			if _, err = findTag(tx, other[0].ID); err == nil {
				merged = true
			} else if models.CodeOf(err) != models.CodeNotFound {
				return nil, err
			}
			t, err = merge(tx, old, other[0], stays)
		case stays && folded != old.FoldedName:
			var made map[string]Tag
			if made, err = ensure(tx, map[string]string{folded: name}, old.LastUsedAt); err == nil {
				t, err = merge(tx, old, made[folded], stays)
			}
		default:
			t.Name, t.FoldedName = name, folded
			err = tx.Exec("UPDATE tags SET name = ?, folded_name = ? WHERE seq = ?", name, folded, t.Seq).Error
		}
		if err != nil {
			return nil, fmt.Errorf("renaming a tag: %w", err)
		}
		action := "tag.rename"
		if merged {
			action = "tag.merge"
		}
		return nil, audit.Add(tx, s.clock.Now(), audit.Change{
			Action: action, Subject: audit.Subject{Kind: "tag", ID: old.ID, Name: old.Name},
			Before: audit.Values{"name": old.Name}, After: audit.Values{"name": t.Name},
		})
	})
	if err == nil {
		err = s.reindex(ctx)
	}
	return t, merged, err
}

// seenLinks is a further condition for the rows of link_tags whose links the actor of a handle
// sees.
func seenLinks(tx *gorm.DB) (sql string, args []any) {
	if seesAll(tx) {
		return "", nil
	}
	sql, args = models.Visible(tx, "links")
	return " AND link_seq IN (SELECT seq FROM links WHERE " + sql + ")", args
}

// merge moves the links of a tag that the actor sees to another tag, and counts the links of
// both again. It drops the first tag, unless that stays on links that the actor does not see.
func merge(tx *gorm.DB, from, into Tag, stays bool) (Tag, error) {
	run := func(sql string, args ...any) error { return tx.Exec(sql, args...).Error }
	seen, own := seenLinks(tx)
	scope, owns := models.Visible(tx, "links")
	for _, step := range []func() error{
		func() error {
			return run(`INSERT INTO link_tags (link_seq, tag_seq, position)
				SELECT link_seq, CAST(? AS BIGINT), position FROM link_tags WHERE tag_seq = ?`+seen+` ON CONFLICT DO NOTHING`,
				append([]any{into.Seq, from.Seq}, own...)...)
		},
		func() error {
			return run("DELETE FROM link_tags WHERE tag_seq = ?"+seen, append([]any{from.Seq}, own...)...)
		},
		func() error { // with the times of the first tag where the second has none, or is used less
			return run(`INSERT INTO tag_scopes (tag_seq, private_to, links, link_count, created_at, last_used_at)
				SELECT tag_seq, links.private_to, count(*), count(*) FILTER (WHERE expired_at IS NULL),
					COALESCE((SELECT created_at FROM tag_scopes AS f WHERE f.tag_seq = ? AND f.private_to = links.private_to), 0),
					COALESCE((SELECT last_used_at FROM tag_scopes AS f WHERE f.tag_seq = ? AND f.private_to = links.private_to), 0)
				FROM link_tags JOIN links ON links.seq = link_seq WHERE tag_seq = ? AND `+scope+` GROUP BY tag_seq, links.private_to
				ON CONFLICT (tag_seq, private_to) DO UPDATE SET links = excluded.links, link_count = excluded.link_count, last_used_at =
					CASE WHEN tag_scopes.last_used_at > excluded.last_used_at THEN tag_scopes.last_used_at ELSE excluded.last_used_at END`,
				append([]any{from.Seq, from.Seq, into.Seq}, owns...)...)
		},
		func() error {
			if !stays {
				return run("DELETE FROM tags WHERE seq = ?", from.Seq)
			}
			own, args := models.OwnScope(tx, "tag_scopes")
			return run("DELETE FROM tag_scopes WHERE tag_seq = ? AND "+own, append([]any{from.Seq}, args...)...)
		},
		func() error {
			return run(`UPDATE tags SET link_count = (SELECT COALESCE(sum(link_count), 0) FROM tag_scopes WHERE tag_seq = tags.seq),
					last_used_at = CASE WHEN seq <> ? OR last_used_at > ? THEN last_used_at ELSE ? END
				WHERE seq IN (?, ?)`, into.Seq, from.LastUsedAt, from.LastUsedAt, into.Seq, from.Seq)
		},
	} {
		if err := step(); err != nil {
			return Tag{}, err
		}
	}
	return findTag(tx, into.ID)
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
