package links

import (
	"fmt"
	"maps"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
)

// linkTag is a row of link_tags.
type linkTag struct {
	LinkSeq, TagSeq int64
	Position        int
}

// attach adds names[i] to ls[i], also in its Tags, and returns the names that were new to each link. The names are
// clean (cleanTags), the Tags are loaded, and the links are locked or new. now becomes LastUsedAt of the tags.
func attach(tx *gorm.DB, now models.Time, ls []Link, names [][]string) (added [][]string, err error) {
	added = make([][]string, len(ls))
	wanted, known := map[string]string{}, map[string]string{} // name as written, by folded name, and the reverse
	fold := func(name string) string {                        // an import has few names and uses each many times
		f, ok := known[name]
		if !ok {
			f = models.FoldName(name)
			known[name] = f
		}
		return f
	}
	for i := range ls {
		have := make(map[string]bool, len(ls[i].Tags))
		for _, t := range ls[i].Tags {
			have[fold(t)] = true
		}
		for _, n := range names[i] {
			f := fold(n)
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
	tags, err := ensureTags(tx, wanted, now)
	if err != nil || len(tags) == 0 {
		return added, err
	}
	d := deltas{}
	var rows []linkTag
	for i := range ls {
		for _, n := range names[i] {
			d.add(tags[fold(n)].Seq, ls[i], delta{}) // updates LastUsedAt, even if the link has the tag
		}
		for _, n := range added[i] {
			t := tags[fold(n)]
			rows = append(rows, linkTag{ls[i].Seq, t.Seq, ls[i].tagEnd})
			ls[i].tagEnd++
			ls[i].Tags = append(ls[i].Tags, t.Name)
			d.add(t.Seq, ls[i], addedTo(ls[i]))
		}
	}
	if err := models.Insert(tx, rows); err != nil {
		return nil, fmt.Errorf("add tags to links: %w", err)
	}
	return added, countUse(tx, now, d)
}

// ensureTags creates the tags that do not exist and returns all of them by folded name. wanted has the names as written,
// by folded name. now becomes CreatedAt and LastUsedAt of new tags.
func ensureTags(tx *gorm.DB, wanted map[string]string, now models.Time) (map[string]Tag, error) {
	tags, err := tagsByFoldedName(tx, sortedKeys(wanted))
	if err != nil {
		return nil, err
	}
	var missing []string
	rows := models.NewRows("id text, name text, folded_name text")
	for _, f := range sortedKeys(wanted) {
		if _, ok := tags[f]; !ok {
			missing = append(missing, f)
			rows.Add(models.NewID(models.KindTag), wanted[f], f)
		}
	}
	err = rows.Exec(tx, `INSERT INTO tags (id, name, folded_name, link_count, created_at, last_used_at)
		SELECT id, name, folded_name, 0, CAST(? AS BIGINT), CAST(? AS BIGINT) FROM {rows} AS r`, now, now).Error
	if err != nil {
		return nil, fmt.Errorf("insert tags: %w", err)
	}
	created, err := tagsByFoldedName(tx, missing)
	maps.Copy(tags, created)
	return tags, err
}

// tagsByFoldedName loads tags by their folded names.
func tagsByFoldedName(tx *gorm.DB, folded []string) (map[string]Tag, error) {
	tags := make(map[string]Tag, len(folded))
	if len(folded) == 0 {
		return tags, nil
	}
	rows := models.RowsOf("folded_name text", folded)
	err := models.Each(rows.Raw(tx, `SELECT seq, id, name, folded_name, link_count, created_at, last_used_at FROM tags
		WHERE folded_name IN (SELECT folded_name FROM {rows} AS r)`), func(r *models.Row) {
		t := Tag{Seq: r.Int64(), ID: r.Text(), Name: r.Text(), FoldedName: r.Text(), LinkCount: r.Int()}
		r.Scan(&t.CreatedAt)
		r.Scan(&t.LastUsedAt)
		tags[t.FoldedName] = t
	})
	if err != nil {
		return nil, fmt.Errorf("load tags: %w", err)
	}
	return tags, nil
}

// detach removes tags[i] from ls[i], also from its Tags, and deletes tags that no link has any more. Each link
// must have its tags, and the links are locked.
func detach(tx *gorm.DB, ls []Link, tags [][]Tag) error {
	rows, d := models.NewRows("link_seq bigint, tag_seq bigint"), deltas{}
	for i := range ls {
		removed := make(map[string]bool, len(tags[i]))
		for _, t := range tags[i] {
			removed[t.FoldedName] = true
			rows.Add(ls[i].Seq, t.Seq)
			d.add(t.Seq, ls[i], removedFrom(ls[i]))
		}
		ls[i].Tags = slices.DeleteFunc(slices.Clone(ls[i].Tags), func(n string) bool { return removed[models.FoldName(n)] })
	}
	err := rows.Exec(tx, "DELETE FROM link_tags WHERE (link_seq, tag_seq) IN (SELECT link_seq, tag_seq FROM {rows} AS r)").Error
	if err != nil {
		return fmt.Errorf("remove tags from links: %w", err)
	}
	if err := updateCounts(tx, d); err != nil {
		return err
	}
	return deleteUnused(tx, d.tags())
}

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
		return fmt.Errorf("load tags of links: %w", err)
	}
	position := make(map[int64]*Link, len(ls))
	for i := range ls {
		position[ls[i].Seq] = &ls[i]
	}
	for _, r := range rows {
		l := position[r.LinkSeq]
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
