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

// inBatch is how many values one IN (…) holds.
const inBatch = 250

// attach puts names[i] on ls[i], whose Tags are loaded and grow. It answers
// which names were new to which link. Names are clean (cleanTags), the links
// locked or new, and now is when the tags count as used.
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
	counts := map[int64]int{}
	var rows []linkTag
	for i := range ls {
		for _, n := range added[i] {
			t := tags[models.FoldName(n)]
			rows = append(rows, linkTag{ls[i].Seq, t.Seq, ls[i].tagEnd})
			ls[i].tagEnd++
			ls[i].Tags = append(ls[i].Tags, t.Name)
			if !ls[i].Expired() {
				counts[t.Seq]++
			}
		}
	}
	if err := models.Insert(tx, rows); err != nil {
		return nil, fmt.Errorf("tagging links: %w", err)
	}
	return added, recount(tx, counts)
}

// ensure makes the tags that do not exist yet and marks all as used at now.
func ensure(tx *gorm.DB, wanted map[string]string, now models.Time) (map[string]Tag, error) {
	tags := make(map[string]Tag, len(wanted))
	for batch := range slices.Chunk(sortedKeys(wanted), inBatch) {
		have, err := byFolded(tx, batch)
		if err != nil {
			return nil, err
		}
		var missing []string
		var fresh []Tag
		for _, f := range batch {
			if _, ok := have[f]; !ok {
				missing = append(missing, f)
				fresh = append(fresh, Tag{ID: models.NewID(models.KindTag), Name: wanted[f], FoldedName: f, CreatedAt: now, LastUsedAt: now})
			}
		}
		var stale []int64
		for _, t := range have {
			if t.LastUsedAt.Before(now.Time) { // a bulk store uses most tags many times in one moment
				stale = append(stale, t.Seq)
			}
		}
		slices.Sort(stale)
		if len(stale) > 0 {
			if err := tx.Exec("UPDATE tags SET last_used_at = ? WHERE seq IN ?", now, stale).Error; err != nil {
				return nil, fmt.Errorf("noting the use of tags: %w", err)
			}
		}
		if err := models.Insert(tx, fresh); err != nil {
			return nil, fmt.Errorf("storing tags: %w", err)
		}
		stored, err := byFolded(tx, missing)
		if err != nil {
			return nil, err
		}
		maps.Copy(tags, have)
		maps.Copy(tags, stored)
	}
	return tags, nil
}

func byFolded(tx *gorm.DB, folded []string) (map[string]Tag, error) {
	out := make(map[string]Tag, len(folded))
	if len(folded) == 0 {
		return out, nil
	}
	var ts []Tag
	if err := tx.Where("folded_name IN ?", folded).Find(&ts).Error; err != nil {
		return nil, fmt.Errorf("loading tags: %w", err)
	}
	for _, t := range ts {
		out[t.FoldedName] = t
	}
	return out, nil
}

// detach takes a tag off links, whose Tags shrink, and drops it if no link
// carries it then.
func detach(tx *gorm.DB, ls []Link, t Tag) error {
	seqs, counts := seqsOf(ls), map[int64]int{}
	for i := range ls {
		ls[i].Tags = slices.DeleteFunc(slices.Clone(ls[i].Tags), func(n string) bool { return models.FoldName(n) == t.FoldedName })
		if !ls[i].Expired() {
			counts[t.Seq]--
		}
	}
	if err := tx.Exec("DELETE FROM link_tags WHERE tag_seq = ? AND link_seq IN ?", t.Seq, seqs).Error; err != nil {
		return fmt.Errorf("taking a tag off links: %w", err)
	}
	if err := recount(tx, counts); err != nil {
		return err
	}
	return dropUnused(tx, []int64{t.Seq})
}

// recount adds to the tags' counts of active links.
func recount(tx *gorm.DB, counts map[int64]int) error {
	by := map[int][]int64{}
	for _, seq := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[seq]; n != 0 {
			by[n] = append(by[n], seq)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(by)) {
		for batch := range slices.Chunk(by[n], inBatch) {
			if err := tx.Exec("UPDATE tags SET link_count = link_count + ? WHERE seq IN ?", n, batch).Error; err != nil {
				return fmt.Errorf("counting the links of tags: %w", err)
			}
		}
	}
	return nil
}

// dropUnused deletes the tags of these that no link carries.
func dropUnused(tx *gorm.DB, seqs []int64) error {
	for batch := range slices.Chunk(seqs, inBatch) {
		err := tx.Exec(`DELETE FROM tags WHERE seq IN ?
			AND NOT EXISTS (SELECT 1 FROM link_tags WHERE tag_seq = tags.seq)`, batch).Error
		if err != nil {
			return fmt.Errorf("dropping unused tags: %w", err)
		}
	}
	return nil
}

// tagSeqs are the tags of links, with how many of the links that are active carry each.
func tagSeqs(tx *gorm.DB, ls []Link) (map[int64]int, error) {
	var rows []linkTag
	if err := tx.Where("link_seq IN ?", seqsOf(ls)).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("loading the tags of links: %w", err)
	}
	expired := make(map[int64]bool, len(ls))
	for _, l := range ls {
		expired[l.Seq] = l.Expired()
	}
	counts := map[int64]int{}
	for _, r := range rows {
		if expired[r.LinkSeq] {
			counts[r.TagSeq] += 0
		} else {
			counts[r.TagSeq]++
		}
	}
	return counts, nil
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
	err := tx.Raw(`SELECT link_seq, name, position FROM link_tags JOIN tags ON tags.seq = tag_seq
		WHERE link_seq IN ? ORDER BY link_seq, position`, seqsOf(ls)).Scan(&rows).Error
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
