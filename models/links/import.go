package links

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
)

// importBatch is how many links one transaction of Import stores: other writers
// wait that long, some tenths of a second.
const importBatch = 2500

// Import stores many links without fetching them; they are fetched when their
// first check comes. Links that Add would return only get the new tags.
// An invalid one is CodeInvalid, before anything is stored. stored counts the
// new links, also when a later batch failed.
func (s *Store) Import(ctx context.Context, ns []New) (stored int, err error) {
	drafts := make([]draft, len(ns))
	for i, n := range ns {
		if drafts[i], err = n.check(ctx, fmt.Sprintf("links[%d].", i)); err != nil {
			return 0, err
		}
	}
	now := s.clock.Now()
	for batch := range slices.Chunk(drafts, importBatch) {
		n, err := s.importBatch(ctx, batch, now)
		stored += n
		if err != nil {
			return stored, err
		}
	}
	return stored, nil
}

func (s *Store) importBatch(ctx context.Context, batch []draft, now models.Time) (int, error) {
	byAddress := make(map[string]draft, len(batch))
	rows := make([]Link, 0, len(batch))
	var (
		again  []draft
		stored []Link
	)
	for _, d := range batch {
		if _, ok := byAddress[d.canonical]; ok {
			again = append(again, d)
			continue
		}
		byAddress[d.canonical] = d
		l := d.link(now)
		l.Health = Unchecked
		l.NextCheckAt = now.Add(rand.N(min(s.opts.CheckInterval, models.Day))) // not all at once
		rows = append(rows, l)
	}
	err := s.write(ctx, func(tx *gorm.DB) ([]Link, error) {
		ls, err := insertNew(tx, rows)
		if err != nil {
			return nil, err
		}
		names := make([][]string, len(ls))
		for i, l := range ls {
			names[i] = byAddress[l.CanonicalURL].Tags
		}
		if _, err = attach(tx, now, ls, names); err != nil {
			return nil, err
		}
		stored = ls
		return ls, added(tx, now, ls)
	})
	if err != nil {
		return 0, err
	}
	for _, l := range stored {
		delete(byAddress, l.CanonicalURL)
	}
	for _, address := range sortedKeys(byAddress) { // those that were saved before
		again = append(again, byAddress[address])
	}
	if again = slices.DeleteFunc(again, func(d draft) bool { return len(d.Tags) == 0 }); len(again) > 0 {
		_, err = s.retag(ctx, again...)
	}
	return len(stored), err
}
