package links

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
)

// scope is the key of tag_scopes: the links of a tag with the same PrivateTo.
type scope struct {
	tag     int64  // Tag.Seq
	private string // Link.PrivateTo
}

// delta is a change in the numbers of links of a scope.
type delta struct {
	links, active int
}

type deltas map[scope]delta

func (d deltas) add(tag int64, l Link, n delta) {
	s := scope{tag, l.PrivateTo}
	was := d[s]
	d[s] = delta{was.links + n.links, was.active + n.active}
}

// rows returns the deltas that match filter, sorted by key.
func (d deltas) rows(filter func(delta) bool) *models.Rows {
	rows := models.NewRows("tag_seq bigint, private_to text, links bigint, active bigint")
	keys := slices.SortedFunc(maps.Keys(d), func(a, b scope) int { return cmp.Or(cmp.Compare(a.tag, b.tag), cmp.Compare(a.private, b.private)) })
	for _, s := range keys {
		if n := d[s]; filter(n) {
			rows.Add(s.tag, s.private, n.links, n.active)
		}
	}
	return rows
}

// tags returns the sorted keys of the tags.
func (d deltas) tags() []int64 {
	seqs := map[int64]bool{}
	for s := range d {
		seqs[s.tag] = true
	}
	return slices.Sorted(maps.Keys(seqs))
}

// removedFrom returns the change in the numbers of a tag that is removed from a link.
func removedFrom(l Link) delta {
	n := addedTo(l)
	return delta{-n.links, -n.active}
}

// addedTo returns the change in the numbers of a tag that is added to a link.
func addedTo(l Link) delta {
	if l.Expired() {
		return delta{links: 1}
	}
	return delta{1, 1}
}

// countUse adds d to the counts of tags that were put on links, and sets their LastUsedAt.
func countUse(tx *gorm.DB, now models.Time, d deltas) error {
	err := d.rows(func(delta) bool { return true }).Exec(tx, `INSERT INTO tag_scopes (tag_seq, private_to, links, link_count, created_at, last_used_at)
		SELECT tag_seq, private_to, links, active, CAST(? AS BIGINT), CAST(? AS BIGINT) FROM {rows} AS r WHERE true
		ON CONFLICT (tag_seq, private_to) DO UPDATE SET links = tag_scopes.links + excluded.links,
			link_count = tag_scopes.link_count + excluded.link_count, last_used_at = excluded.last_used_at`, now, now).Error
	if err != nil {
		return fmt.Errorf("count links of tags: %w", err)
	}
	return countTags(tx, d, now)
}

// updateCounts adds d to the counts of tags.
func updateCounts(tx *gorm.DB, d deltas) error {
	err := d.rows(func(n delta) bool { return n != delta{} }).Exec(tx, `UPDATE tag_scopes SET links = tag_scopes.links + r.links, link_count = link_count + active
		FROM {rows} AS r WHERE tag_scopes.tag_seq = r.tag_seq AND tag_scopes.private_to = r.private_to`).Error
	if err == nil {
		err = d.rows(func(n delta) bool { return n.links < 0 }).Exec(tx, `DELETE FROM tag_scopes
			WHERE (tag_seq, private_to) IN (SELECT tag_seq, private_to FROM {rows} AS r) AND links = 0`).Error
	}
	if err != nil {
		return fmt.Errorf("count links of tags: %w", err)
	}
	return countTags(tx, d, models.Time{})
}

// countTags updates tags.link_count, the number of active links of all scopes. used, if it is not zero, becomes
// LastUsedAt, unless that is later.
func countTags(tx *gorm.DB, d deltas, used models.Time) error {
	active := map[int64]int{}
	for s, n := range d {
		active[s.tag] += n.active
	}
	rows := models.NewRows("seq bigint, n bigint, used_at bigint")
	for _, seq := range d.tags() {
		if n := active[seq]; n != 0 || !used.IsZero() {
			rows.Add(seq, n, used)
		}
	}
	// The last condition avoids writes: an import uses most tags many times at the same time.
	err := rows.Exec(tx, `UPDATE tags SET link_count = link_count + r.n, last_used_at = CASE WHEN last_used_at < r.used_at THEN r.used_at ELSE last_used_at END
		FROM {rows} AS r WHERE tags.seq = r.seq AND (r.n <> 0 OR tags.last_used_at < r.used_at)`).Error
	if err != nil {
		return fmt.Errorf("count links of tags: %w", err)
	}
	return nil
}

// deleteUnused deletes those of the tags that no link has.
func deleteUnused(tx *gorm.DB, seqs []int64) error {
	err := seqRows(seqs).Exec(tx, "DELETE FROM tags WHERE "+bySeq+" AND NOT EXISTS (SELECT 1 FROM link_tags WHERE tag_seq = tags.seq)").Error
	if err != nil {
		return fmt.Errorf("delete unused tags: %w", err)
	}
	return nil
}

// deltasOf returns the deltas of all tags of links, with the change that n returns for each link.
func deltasOf(tx *gorm.DB, ls []Link, n func(Link) delta) (deltas, error) {
	d := deltas{}
	if len(ls) == 0 {
		return d, nil
	}
	links := make(map[int64]Link, len(ls))
	for _, l := range ls {
		links[l.Seq] = l
	}
	var rows []linkTag
	err := seqRows(seqsOf(ls)).Raw(tx, "SELECT link_seq, tag_seq FROM link_tags WHERE link_seq IN (SELECT seq FROM {rows} AS r)").Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("load tags of links: %w", err)
	}
	for _, r := range rows {
		l := links[r.LinkSeq]
		d.add(r.TagSeq, l, n(l))
	}
	return d, nil
}
