package links

import (
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gorm.io/gorm"

	"linkwatch/models"
)

// The search index finds any part of a text (ADR 30). link_docs has the text of each link as it was indexed.
// There is a posting list for each block of 4,096 links and each key: a group of three characters of a field, or a mark.
// The lists are in link_postings, several in a bucket, because a change of one link changes a hundred lists.

// entries are index entries of links and the changes of posting lists that they need.
type entries struct {
	docs    []doc
	rows    *models.Rows
	changes postingChanges
}

// entriesOf returns the entries that replace those of before, by key of the link.
func entriesOf(before map[int64]doc, docs []doc) entries {
	es := entries{docs, models.NewRows("link_seq bigint, title text, url text, tags text, marks text"), postingChanges{}}
	for _, d := range docs {
		es.rows.Add(d.seq, d.title, d.url, d.tags, strings.Join(d.marks, "\n"))
		es.changes.change(before[d.seq], d)
	}
	return es
}

// changedEntries returns the entries of links that may have entries.
func changedEntries(tx *gorm.DB, ls []Link) (entries, error) {
	docs := make([]doc, len(ls))
	for i, l := range ls {
		docs[i] = docOf(l)
	}
	before, err := loadDocs(tx, seqRows(seqsOf(ls)))
	return entriesOf(before, docs), err
}

// put stores the entries, in the transaction that changes the links. writeEntries ensures that only one transaction
// does this at a time.
func (es entries) put(tx *gorm.DB) error {
	err := es.rows.Exec(tx, `INSERT INTO link_docs (link_seq, title, url, tags, marks) SELECT link_seq, title, url, tags, marks FROM {rows} AS r WHERE true
		ON CONFLICT (link_seq) DO UPDATE SET title = excluded.title, url = excluded.url, tags = excluded.tags, marks = excluded.marks`).Error
	if err != nil {
		return err
	}
	return es.changes.store(tx)
}

// removeDocs deletes the index entries of links (seqRows).
func removeDocs(tx *gorm.DB, seqs *models.Rows) error {
	before, err := loadDocs(tx, seqs)
	if err != nil {
		return err
	}
	changes := postingChanges{}
	for seq, d := range before {
		changes.change(d, doc{seq: seq})
	}
	if err := seqs.Exec(tx, "DELETE FROM link_docs WHERE link_seq IN (SELECT seq FROM {rows} AS r)").Error; err != nil {
		return err
	}
	return changes.store(tx)
}

// loadDocs loads the index entries of links (seqRows).
func loadDocs(tx *gorm.DB, seqs *models.Rows) (map[int64]doc, error) {
	var rows []struct {
		LinkSeq                 int64
		Title, URL, Tags, Marks string
	}
	err := seqs.Raw(tx, "SELECT link_seq, title, url, tags, marks FROM link_docs WHERE link_seq IN (SELECT seq FROM {rows} AS r)").Scan(&rows).Error
	docs := make(map[int64]doc, len(rows))
	for _, r := range rows {
		docs[r.LinkSeq] = doc{r.LinkSeq, r.Title, r.URL, r.Tags, strings.FieldsFunc(r.Marks, func(c rune) bool { return c == '\n' })}
	}
	return docs, err
}

// postingChanges are changes of posting lists by block and key.
type postingChanges map[int64]bucketChange

// change adds the changes of an entry. An entry without text and marks is none.
func (c postingChanges) change(before, after doc) {
	block, link := after.seq>>blockBits, int(after.seq&(blockSize-1))
	keys := c[block]
	if keys == nil {
		keys = bucketChange{}
		c[block] = keys
	}
	var key []byte // a map looks up string(key) without allocating it
	of := func(group, field string) *postingChange {
		key = append(append(key[:0], group...), field...)
		change := keys[string(key)]
		if change == nil {
			change = &postingChange{}
			keys[string(key)] = change
		}
		return change
	}
	for _, f := range []struct{ field, before, after string }{
		{fieldTitle, before.title, after.title}, {fieldURL, before.url, after.url}, {fieldTags, before.tags, after.tags},
	} {
		if f.before == f.after {
			continue
		}
		eachGram(f.before, func(group string, _ int) {
			p := of(group, f.field)
			p.removed = append(p.removed, link)
		})
		eachGram(f.after, func(group string, position int) {
			p := of(group, f.field)
			p.added = append(p.added, occurrenceOf(link, position))
		})
	}
	for _, m := range before.marks {
		if !slices.Contains(after.marks, m) {
			p := of(m, fieldMark)
			p.removed = append(p.removed, link)
		}
	}
	for _, m := range after.marks {
		if !slices.Contains(before.marks, m) {
			p := of(m, fieldMark)
			p.added = append(p.added, occurrenceOf(link, 0))
		}
	}
}

// store writes the changed buckets.
func (c postingChanges) store(tx *gorm.DB) error {
	changes := map[int64]bucketChange{}
	for block, keys := range c {
		for key, change := range keys {
			bucket := bucketOf(block, key)
			if changes[bucket] == nil {
				changes[bucket] = bucketChange{}
			}
			changes[bucket][key] = change
		}
	}
	buckets := slices.Sorted(maps.Keys(changes)) // in the order of the table
	before := make(map[int64][]byte, len(buckets))
	err := readBuckets(tx, buckets, func(bucket int64, lists []byte) { before[bucket] = slices.Clone(lists) })
	if err != nil {
		return err
	}
	changed, shorter := models.NewRows("bucket bigint, lists bytes"), models.NewRows("bucket bigint")
	for _, bucket := range buckets {
		changed.Add(bucket, changes[bucket].apply(before[bucket]))
		if changes[bucket].shortens() {
			shorter.Add(bucket)
		}
	}
	err = changed.Exec(tx, `INSERT INTO link_postings (bucket, lists) SELECT bucket, lists FROM {rows} AS r WHERE true
		ON CONFLICT (bucket) DO UPDATE SET lists = excluded.lists`).Error
	if err != nil {
		return fmt.Errorf("store posting lists: %w", err)
	}
	err = shorter.Exec(tx, "DELETE FROM link_postings WHERE bucket IN (SELECT bucket FROM {rows} AS r) AND length(lists) = 0").Error
	if err != nil {
		return fmt.Errorf("delete empty posting lists: %w", err)
	}
	return nil
}

// loadBuckets calls see for each list of some buckets. key and list are only valid until see returns.
func loadBuckets(tx *gorm.DB, buckets []int64, see func(block int64, key, list []byte)) error {
	return readBuckets(tx, buckets, func(bucket int64, lists []byte) {
		eachList(lists, func(key, list []byte) { see(bucket>>bucketBits, key, list) })
	})
}

// readBuckets calls see for each of the buckets that exist. lists is only valid until see returns.
func readBuckets(tx *gorm.DB, buckets []int64, see func(bucket int64, lists []byte)) error {
	if len(buckets) == 0 {
		return nil
	}
	rows, err := models.RowsOf("bucket bigint", buckets).
		Raw(tx, "SELECT p.bucket, p.lists FROM {rows} AS r CROSS JOIN link_postings AS p WHERE p.bucket = r.bucket").Rows()
	if err != nil {
		return fmt.Errorf("load posting lists: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err has the error
	var (
		bucket int64
		lists  sql.RawBytes
	)
	for rows.Next() {
		if err := rows.Scan(&bucket, &lists); err != nil {
			return fmt.Errorf("load posting lists: %w", err)
		}
		see(bucket, lists)
	}
	return rows.Err()
}
