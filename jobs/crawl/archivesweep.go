package crawl

import (
	"context"
	"errors"
	"time"

	"linkwatch/models/crawl"
	"linkwatch/models/crawl/archive"
)

// sweepBatch is the number of packs claimed at a time. It is small enough to be swept before the
// claims expire.
const sweepBatch = 8

// temporaryInterval is the interval between deletions of temporary files.
const temporaryInterval = time.Hour

// sweep deletes unused packs. It moves the bodies of packs that are less than half used to new
// packs.
func (a *Archiver) sweep(ctx context.Context) {
	var pack archive.Pack
	var cleaned time.Time // temporary files
	for ctx.Err() == nil {
		a.probe(ctx)
		more, err := a.sweepOnce(ctx, &pack)
		if err == nil && time.Since(cleaned) > temporaryInterval {
			cleaned, err = time.Now(), a.archive.DeleteTempFiles()
		}
		switch _, ofArchive := errors.AsType[*archive.Error](err); {
		case ctx.Err() != nil:
		case err == nil:
			a.sweeps.succeeded()
		case ofArchive:
			a.sweeps.failed(reasonOf(err))
			fallthrough
		default:
			a.report("archive sweep failed", err)
		}
		if !more {
			sleep(ctx, a.opts.SweepInterval)
		}
	}
}

// probe checks whether a failed archive works again if there are no copies to try.
func (a *Archiver) probe(ctx context.Context) {
	reason, _ := a.breaker.state()
	if waiting, _ := a.queue.size(); reason != "" && waiting == 0 && a.archive.Probe(ctx) == nil {
		a.breaker.succeeded()
	}
}

// sweepOnce sweeps a batch of packs. Packs that it could not sweep are claimed again some minutes later.
func (a *Archiver) sweepOnce(ctx context.Context, pack *archive.Pack) (more bool, err error) {
	due, err := a.store.ClaimPacks(ctx, sweepBatch)
	if err != nil {
		return false, err
	}
	var used []crawl.ClaimedPack
	var deleted []int64
	for _, p := range due {
		if !p.Deleting {
			used = append(used, p)
			continue
		}
		if err = a.archive.Delete(ctx, p.Key); err != nil {
			break
		}
		deleted = append(deleted, p.Seq)
	}
	if e := a.store.DeletePacks(ctx, deleted...); e != nil {
		return false, e
	}
	a.metrics.deleted.Add(float64(len(deleted)))
	if err == nil {
		err = a.move(ctx, pack, used)
	}
	return err == nil && len(due) == sweepBatch, err
}

// move moves the bodies of packs to as few new packs as possible. The old packs are deleted when
// they are due again. pack is empty before and after.
func (a *Archiver) move(ctx context.Context, pack *archive.Pack, from []crawl.ClaimedPack) error {
	defer pack.Reset()
	var seqs []int64
	for _, p := range from {
		bodies, err := a.store.PackBodies(ctx, p.Seq)
		if err != nil {
			return err
		}
		opened, err := a.archive.OpenPack(ctx, p.Key)
		if err != nil && !errors.Is(err, archive.ErrMissing) && !errors.Is(err, archive.ErrDamaged) {
			return err
		}
		seqs = append(seqs, p.Seq)
		var lost []crawl.BodyHash
		for _, b := range bodies {
			if !pack.Fits(b) {
				if err := a.moved(ctx, pack, seqs); err != nil {
					return err
				}
			}
			if opened == nil || pack.CopyFrom(opened, b) != nil {
				lost = append(lost, b.Hash)
				a.recent.Invalidate(b.Hash)
			}
		}
		if len(lost) > 0 {
			a.log.Warn("archived copies cannot be read", "key", p.Key, "copies", len(lost))
			if err := a.store.MarkBodiesLost(ctx, p.Key, lost...); err != nil {
				return err
			}
		}
	}
	return a.moved(ctx, pack, seqs)
}

// moved stores a pack of moved bodies.
func (a *Archiver) moved(ctx context.Context, pack *archive.Pack, from []int64) error {
	if pack.Len() == 0 {
		return nil
	}
	defer pack.Reset()
	stored, err := a.put(ctx, pack)
	if err != nil {
		return err
	}
	return a.store.MoveBodies(ctx, stored, from...)
}
