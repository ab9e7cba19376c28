// Package archive stores the HTML of crawled pages as objects: files in a folder, or objects in an S3-compatible bucket. An
// object is a pack of many bodies. Each is compressed separately, so that it can be read alone.
package archive

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"time"

	"linkwatch/models/crawl"
)

// MaxBody is the maximum size in bytes of a body, compressed or not, and of an object.
const MaxBody = 5 << 20

// Limits of an operation. Each attempt is cancelled after Timeout.
const (
	Attempts = 3
	Timeout  = 10 * time.Second // per attempt
	backoff  = 250 * time.Millisecond
)

// The operations, as errors name them.
const (
	opPut    = "store copies"
	opGet    = "read copy"
	opMove   = "move copies"
	opDelete = "delete copies"
)

// Errors that a retry cannot fix. Use errors.Is to distinguish them.
var (
	ErrMissing  = errors.New("copy not found")
	ErrDamaged  = errors.New("copy is damaged")
	ErrTooLarge = errors.New("copy is larger than 5 MiB")
)

// store is a place for objects: a folder or a bucket. Its methods make one attempt.
type store interface {
	// put stores an object completely or not at all.
	put(ctx context.Context, key string, object []byte) error
	// open opens a part of an object; length 0 = to the end. The part may be shorter. The error is ErrMissing if the store
	// is available and has no such object. It may be ErrDamaged if the object ends before start.
	open(ctx context.Context, key string, start, length int64) (io.ReadCloser, error)
	// delete deletes an object. A missing object is not an error, a missing store is.
	delete(ctx context.Context, key string) error
	// close closes idle connections.
	close()
}

// Archive stores bodies by hash. It is safe for concurrent use.
type Archive struct {
	store store
	pause time.Duration // before the second attempt; later pauses are longer
}

// Close closes idle connections.
func (a *Archive) Close() { a.store.close() }

// HashOf returns the hash of a body.
func HashOf(body []byte) crawl.BodyHash { return sha256.Sum256(body) }

// NewKey returns a unique, random key for an object. It has only hexadecimal digits, so it cannot name a file outside the
// archive.
func NewKey() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	name := hex.EncodeToString(random[:])
	return name[:2] + "/" + name + ".pack.zst"
}

// Put stores a pack under a key from NewKey, completely or not at all. It does not sync the file to the disk, which would
// cost more than everything else. A power failure may truncate it. Get detects that for each body.
func (a *Archive) Put(ctx context.Context, key string, p *Pack) error {
	return a.try(ctx, opPut, func(ctx context.Context) error { return a.store.put(ctx, key, p.packed) })
}

// Get returns the body of a hash. It reads only that part of the object. Errors are ErrMissing, ErrDamaged, and those of the
// store.
func (a *Archive) Get(ctx context.Context, at crawl.BodyLocation, h crawl.BodyHash) ([]byte, error) {
	frame, err := a.read(ctx, opGet, at)
	if err != nil {
		return nil, err
	}
	return unpack(opGet, frame, h)
}

// OpenPack reads a pack, to move its bodies to another. Errors are those of Get.
func (a *Archive) OpenPack(ctx context.Context, key string) (*OpenedPack, error) {
	packed, err := a.read(ctx, opMove, crawl.BodyLocation{Key: key})
	if err != nil {
		return nil, err
	}
	return &OpenedPack{packed}, nil
}

// read returns a part of an object, at most MaxBody bytes.
func (a *Archive) read(ctx context.Context, op string, at crawl.BodyLocation) (part []byte, err error) {
	if at.Start < 0 || at.Start > MaxBody || at.Length < 0 || at.Length > MaxBody {
		return nil, newError(op, ErrDamaged)
	}
	err = a.try(ctx, op, func(ctx context.Context) error {
		r, err := a.store.open(ctx, at.Key, at.Start, at.Length)
		if err != nil {
			return err
		}
		defer r.Close()
		if part, err = io.ReadAll(io.LimitReader(r, MaxBody+1)); err != nil {
			return err
		}
		if len(part) > MaxBody {
			return ErrDamaged
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return part, nil
}

// Key and size of the object that Probe stores. A full disk still accepts an empty file.
const (
	probeKey  = "try"
	probeSize = 64 << 10
)

// Probe stores and deletes an object, to find out whether an archive that failed works again.
func (a *Archive) Probe(ctx context.Context) error {
	if err := a.Put(ctx, probeKey, &Pack{packed: make([]byte, probeSize)}); err != nil {
		return err
	}
	return a.Delete(ctx, probeKey)
}

// Delete deletes an object. A missing object is not an error.
func (a *Archive) Delete(ctx context.Context, key string) error {
	return a.try(ctx, opDelete, func(ctx context.Context) error { return a.store.delete(ctx, key) })
}

// try makes up to Attempts attempts with pauses between them.
func (a *Archive) try(ctx context.Context, op string, attempt func(context.Context) error) error {
	pause := a.pause
	for n := 1; ; n++ {
		within, cancel := context.WithTimeout(ctx, Timeout)
		err := attempt(within)
		cancel()
		if err == nil {
			return nil
		}
		if n == Attempts || ctx.Err() != nil || errors.Is(err, ErrMissing) || errors.Is(err, ErrDamaged) {
			return newError(op, err)
		}
		select {
		case <-ctx.Done():
			return newError(op, err)
		case <-time.After(pause + mathrand.N(pause/2)): //nolint:gosec // it only spreads attempts
		}
		pause *= 4
	}
}

// Error is a failed operation of the archive. Its text never contains keys, URLs, credentials or text from the server.
type Error struct {
	Op     string // such as "store copies"
	Reason string // such as "status 503 SlowDown"
	cause  error  // one of ours, or of the context; nil = another
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("archive: %s: %s", e.Op, e.Reason) }

// Unwrap returns the cause if it is safe to show.
func (e *Error) Unwrap() error { return e.cause }
