package links

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// minBatch is the smallest number of links that one transaction of Import stores, if there are more.
const minBatch = blockSize / 4

// Import stores links without fetching them. The first check fetches their metadata. Links that exist get the new
// tags. If a link is invalid, the error is CodeInvalid and nothing is stored. stored is the number of new links,
// also if a later batch fails.
func (s *Store) Import(ctx context.Context, ns []New) (stored int, err error) {
	drafts := make([]draft, len(ns))
	for i, n := range ns {
		if drafts[i], err = n.check(ctx, fmt.Sprintf("links[%d].", i)); err != nil {
			return 0, err
		}
	}
	now := s.clock.Now()
	s.spreadChecks(drafts, now)
	for len(drafts) > 0 {
		size, err := s.batchSize(ctx)
		if err != nil {
			return stored, err
		}
		n, err := s.importBatch(ctx, drafts[:min(size, len(drafts))], now)
		stored += n
		if err != nil {
			return stored, err
		}
		drafts = drafts[min(size, len(drafts)):]
	}
	return stored, nil
}

// spreadChecks sets the time of the first check of new links, spread over a day. The order of the times is that of the
// links, so that a batch changes few pages of the index by time.
func (s *Store) spreadChecks(drafts []draft, now models.Time) {
	within := min(s.opts.CheckInterval, models.Day)
	for i := range drafts {
		share := (float64(i) + rand.Float64()) / float64(len(drafts))
		drafts[i].firstCheck = now.Add(time.Duration(share * float64(within)))
	}
}

// batchSize returns the size of a transaction that ends with the end of a block of the search index, so that each
// posting list is written once. It takes some tenths of a second, and other writers wait for it.
func (s *Store) batchSize(ctx context.Context) (int, error) {
	last, err := lastSeq(s.db.Read(ctx))
	if err != nil {
		return 0, err
	}
	size := blockSize - int((last+1)%blockSize)
	if size < minBatch {
		size += blockSize
	}
	return size, nil
}

func (s *Store) importBatch(ctx context.Context, batch []draft, now models.Time) (int, error) {
	byURL := make(map[string]draft, len(batch))
	rows := make([]Link, 0, len(batch))
	var (
		existing []draft
		stored   []Link
	)
	for _, d := range batch {
		if _, ok := byURL[d.canonical]; ok {
			existing = append(existing, d)
			continue
		}
		byURL[d.canonical] = d
		l := d.link(now)
		l.Health = Unchecked
		l.NextCheckAt = d.firstCheck
		rows = append(rows, l)
	}
	err := s.writeEntries(ctx, func(tx *gorm.DB) (entries, error) {
		ls, err := insertNew(tx, rows)
		if err != nil {
			return entries{}, err
		}
		names := make([][]string, len(ls))
		for i, l := range ls {
			names[i] = byURL[l.CanonicalURL].Tags
		}
		// The database and the text of the links can each keep a CPU busy.
		indexed := entriesBeside(slices.Clone(ls), names)
		_, err = attach(tx, now, ls, names)
		es, indexErr := indexed()
		if err = errors.Join(err, indexErr); err != nil {
			return entries{}, err
		}
		stored = ls
		return es, auditAdd(tx, now, ls)
	})
	if err != nil {
		return 0, err
	}
	for _, l := range stored {
		delete(byURL, l.CanonicalURL)
	}
	for _, url := range sortedKeys(byURL) { // links that existed
		existing = append(existing, byURL[url])
	}
	if existing = slices.DeleteFunc(existing, func(d draft) bool { return len(d.Tags) == 0 }); len(existing) > 0 {
		_, err = s.addTagsOf(ctx, existing...)
	}
	return len(stored), err
}

// entriesBeside makes the entries of new links with tags in another goroutine. It returns a function that waits for them.
func entriesBeside(ls []Link, tags [][]string) func() (entries, error) {
	var (
		es   entries
		err  error
		done = make(chan struct{})
	)
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil { // here it would end the program
				err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		docs := make([]doc, len(ls))
		for i, l := range ls {
			l.Tags = tags[i]
			docs[i] = docOf(l)
		}
		es = entriesOf(nil, docs)
	}()
	return func() (entries, error) {
		<-done
		return es, err
	}
}
