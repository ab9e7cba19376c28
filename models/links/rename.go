package links

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// MergeTarget returns the tag into which RenameTag would merge a tag, with the number of its visible links,
// expired ones included. links is 0 if the rename is not a merge. CodeNotFound if there is no tag with the id. It
// runs one statement, so a concurrent merge cannot make the results inconsistent.
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
	table, tableArgs := visibleTagTable(tx)
	args = append(append(args, tableArgs...), tagID, models.FoldName(name))
	err = tx.Raw("SELECT tags.*, ("+count+") AS links FROM "+table+" WHERE id = ? OR folded_name = ?", args...).Scan(&rows).Error
	if err != nil {
		return Tag{}, 0, fmt.Errorf("find tag to merge into: %w", err)
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
	if links == 0 { // users do not see tags without links, so this is not a merge
		into = Tag{}
	}
	return into, links, nil
}

// reindexBatchSize is the number of links that one transaction indexes again. Other writers wait for it.
const reindexBatchSize = 1000

// RenameTag renames a tag on the visible links. If another visible tag has the name, the two are merged and the
// spelling of the other one is kept. The links are indexed again in batches before RenameTag returns. If ctx ends
// before that, FinishIndexing continues.
//
// Hidden links keep the old tag. The returned tag then has another id. A name that only hidden links have can be
// used: that is not a merge.
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
		keepOld, err := hasHiddenLinks(tx, old.Seq)
		if err != nil {
			return nil, err
		}
		var other []Tag
		if err := tx.Where("folded_name = ? AND seq <> ?", folded, old.Seq).Find(&other).Error; err != nil {
			return nil, fmt.Errorf("find tag: %w", err)
		}
		if folded != old.FoldedName { // the index has folded names
			visible, args := andVisible(tx)
			err := tx.Exec(`INSERT INTO link_reindex (link_seq) SELECT link_seq FROM link_tags WHERE tag_seq = ?`+visible+`
				ON CONFLICT DO NOTHING`, append([]any{old.Seq}, args...)...).Error
			if err != nil {
				return nil, fmt.Errorf("queue links of a tag for indexing: %w", err)
			}
		}
		switch {
		case len(other) > 0:
			if _, err = findTag(tx, other[0].ID); err == nil {
				merged = true
			} else if models.CodeOf(err) != models.CodeNotFound {
				return nil, err
			}
			t, err = merge(tx, old, other[0], keepOld)
		case keepOld && folded != old.FoldedName:
			var made map[string]Tag
			if made, err = ensureTags(tx, map[string]string{folded: name}, old.LastUsedAt); err == nil {
				t, err = merge(tx, old, made[folded], keepOld)
			}
		default:
			t.Name, t.FoldedName = name, folded
			err = tx.Exec("UPDATE tags SET name = ?, folded_name = ? WHERE seq = ?", name, folded, t.Seq).Error
		}
		if err != nil {
			return nil, fmt.Errorf("rename tag: %w", err)
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

// andVisible returns an additional condition for rows of link_tags: their links are visible to the actor.
func andVisible(tx *gorm.DB) (sql string, args []any) {
	if seesAll(tx) {
		return "", nil
	}
	sql, args = models.Visible(tx, "links")
	return " AND link_seq IN (SELECT seq FROM links WHERE " + sql + ")", args
}

// merge moves the visible links of a tag to another tag and updates the counts. It deletes the first tag, unless
// hidden links have it (keepOld).
func merge(tx *gorm.DB, from, into Tag, keepOld bool) (Tag, error) {
	run := func(sql string, args ...any) error { return tx.Exec(sql, args...).Error }
	visible, own := andVisible(tx)
	scope, owns := models.Visible(tx, "links")
	for _, step := range []func() error{
		func() error {
			return run(`INSERT INTO link_tags (link_seq, tag_seq, position)
				SELECT link_seq, CAST(? AS BIGINT), position FROM link_tags WHERE tag_seq = ?`+visible+` ON CONFLICT DO NOTHING`,
				append([]any{into.Seq, from.Seq}, own...)...)
		},
		func() error {
			return run("DELETE FROM link_tags WHERE tag_seq = ?"+visible, append([]any{from.Seq}, own...)...)
		},
		func() error { // with the times of the first tag if the second has none or older ones
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
			if !keepOld {
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

// FinishIndexing indexes the links that an interrupted RenameTag has not indexed and, after an upgrade that changes the
// search index, all links.
func (s *Store) FinishIndexing(ctx context.Context) error {
	// Usually there are none, so check without a write transaction.
	var waiting bool
	if err := s.db.Read(ctx).Raw("SELECT EXISTS (SELECT 1 FROM link_reindex)").Scan(&waiting).Error; err != nil {
		return fmt.Errorf("find links to index: %w", err)
	}
	if !waiting {
		return nil
	}
	return s.reindex(ctx)
}

// reindex indexes the links of link_reindex in batches.
func (s *Store) reindex(ctx context.Context) error {
	for {
		var seqs []int64
		err := s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
			seqs = nil
			err := tx.Raw(`DELETE FROM link_reindex WHERE link_seq IN (
				SELECT link_seq FROM link_reindex ORDER BY link_seq LIMIT ?) RETURNING link_seq`, reindexBatchSize).Scan(&seqs).Error
			if err != nil {
				return nil, err
			}
			return loadRows(tx, seqRows(seqs), bySeq)
		})
		if err != nil {
			return fmt.Errorf("index links: %w", err)
		}
		if len(seqs) < reindexBatchSize {
			return nil
		}
	}
}
