package links

import (
	"fmt"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
)

// linkTag is a row of link_tags.
type linkTag struct {
	LinkSeq, TagSeq int64
	Position        int
}

// attach puts names[i] on ls[i], whose Tags are loaded and grow. added are the names
// that were new to each link. Names are clean (cleanTags), the links locked or new,
// and now is when the tags count as used.
func attach(tx *gorm.DB, now models.Time, ls []Link, names [][]string) (added [][]string, err error) {
	added = make([][]string, len(ls))
	wanted := map[string]string{} // folded → as written
	for i := range ls {
		have := make(map[string]bool, len(ls[i].Tags))
		for _, t := range ls[i].Tags {
			have[models.FoldName(t)] = true
		}
		for _, n := range names[i] {
			f := models.FoldName(n)
			if _, ok := wanted[f]; !ok {
				wanted[f] = n
			}
			if !have[f] {
				have[f] = true
				added[i] = append(added[i], n)
			}
		}
		if len(ls[i].Tags)+len(added[i]) > MaxTags {
			return nil, tooManyTags()
		}
	}
	tags, err := ensure(tx, wanted, now)
	if err != nil || len(tags) == 0 {
		return added, err
	}
	d := deltas{}
	var rows []linkTag
	for i := range ls {
		for _, n := range names[i] {
			d.add(tags[models.FoldName(n)].Seq, ls[i], delta{}) // it is used, even if the link has it
		}
		for _, n := range added[i] {
			t := tags[models.FoldName(n)]
			rows = append(rows, linkTag{ls[i].Seq, t.Seq, ls[i].tagEnd})
			ls[i].tagEnd++
			ls[i].Tags = append(ls[i].Tags, t.Name)
			d.add(t.Seq, ls[i], arrives(ls[i]))
		}
	}
	if err := models.Insert(tx, rows); err != nil {
		return nil, fmt.Errorf("tagging links: %w", err)
	}
	return added, usedBy(tx, now, d)
}

// ensure makes the tags that do not exist yet, marks all as used at now and returns
// them by their folded names. wanted are names as they are written, by folded ones.
func ensure(tx *gorm.DB, wanted map[string]string, now models.Time) (map[string]Tag, error) {
	folded := sortedKeys(wanted)
	rows := models.NewRows("id text, name text, folded_name text")
	for _, f := range folded {
		rows.Add(models.NewID(models.KindTag), wanted[f], f)
	}
	// WHERE: a bulk store uses most tags many times in one moment.
	err := rows.Exec(tx, `INSERT INTO tags (id, name, folded_name, link_count, created_at, last_used_at)
		SELECT id, name, folded_name, 0, CAST(? AS BIGINT), CAST(? AS BIGINT) FROM {rows} AS r WHERE true
		ON CONFLICT (folded_name) DO UPDATE SET last_used_at = excluded.last_used_at WHERE tags.last_used_at < excluded.last_used_at`,
		now, now).Error
	if err != nil {
		return nil, fmt.Errorf("storing tags: %w", err)
	}
	return byFolded(tx, folded)
}

// byFolded are the tags of these folded names that exist.
func byFolded(tx *gorm.DB, folded []string) (map[string]Tag, error) {
	tags := make(map[string]Tag, len(folded))
	if len(folded) == 0 {
		return tags, nil
	}
	rows := models.RowsOf("folded_name text", folded)
	var ts []Tag
	if err := rows.Raw(tx, "SELECT * FROM tags WHERE folded_name IN (SELECT folded_name FROM {rows} AS r)").Scan(&ts).Error; err != nil {
		return nil, fmt.Errorf("loading tags: %w", err)
	}
	for _, t := range ts {
		tags[t.FoldedName] = t
	}
	return tags, nil
}

// detach takes tags[i] off ls[i], whose Tags shrink, and drops tags that no link
// carries then. Each link carries its tags, and the links are locked.
func detach(tx *gorm.DB, ls []Link, tags [][]Tag) error {
	rows, d := models.NewRows("link_seq bigint, tag_seq bigint"), deltas{}
	for i := range ls {
		off := make(map[string]bool, len(tags[i]))
		for _, t := range tags[i] {
			off[t.FoldedName] = true
			rows.Add(ls[i].Seq, t.Seq)
			d.add(t.Seq, ls[i], leaves(ls[i]))
		}
		ls[i].Tags = slices.DeleteFunc(slices.Clone(ls[i].Tags), func(n string) bool { return off[models.FoldName(n)] })
	}
	err := rows.Exec(tx, "DELETE FROM link_tags WHERE (link_seq, tag_seq) IN (SELECT link_seq, tag_seq FROM {rows} AS r)").Error
	if err != nil {
		return fmt.Errorf("taking tags off links: %w", err)
	}
	if err := recount(tx, d); err != nil {
		return err
	}
	return dropUnused(tx, d.tags())
}

// loadTags gives links their tags, in one query.
func loadTags(tx *gorm.DB, ls []Link) error {
	if len(ls) == 0 {
		return nil
	}
	var rows []struct {
		LinkSeq  int64
		Name     string
		Position int
	}
	err := seqRows(seqsOf(ls)).Raw(tx, `SELECT link_seq, name, position FROM link_tags JOIN tags ON tags.seq = tag_seq
		WHERE link_seq IN (SELECT seq FROM {rows} AS r) ORDER BY link_seq, position`).Scan(&rows).Error
	if err != nil {
		return fmt.Errorf("loading the tags of links: %w", err)
	}
	place := make(map[int64]*Link, len(ls))
	for i := range ls {
		place[ls[i].Seq] = &ls[i]
	}
	for _, r := range rows {
		l := place[r.LinkSeq]
		l.Tags, l.tagEnd = append(l.Tags, r.Name), r.Position+1
	}
	return nil
}

func seqsOf(ls []Link) []int64 {
	out := make([]int64, len(ls))
	for i, l := range ls {
		out[i] = l.Seq
	}
	return out
}
