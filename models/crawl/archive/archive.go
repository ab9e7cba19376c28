// Package archive keeps the HTML of crawled pages in objects of a store: files in a
// folder, or a bucket of S3 or of a service that speaks its protocol. An object is a
// pack: it has many bodies, each compressed by itself, so that one can be read alone.
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
	"net/http"
	"os"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"linkwatch/models/crawl"
)

// MaxBody is the largest body in bytes, compressed or not, and the largest object.
const MaxBody = 5 << 20

// Limits of an operation. Each attempt is ended after Timeout.
const (
	Attempts = 3
	Timeout  = 10 * time.Second // of one attempt
	backoff  = 250 * time.Millisecond
)

// What is done, as errors name it.
const (
	opPut    = "storing copies"
	opGet    = "reading a copy"
	opMove   = "moving copies"
	opDelete = "deleting copies"
)

// Errors that no retry mends. Errors of operations are told from each other by errors.Is.
var (
	ErrMissing  = errors.New("there is no such copy")
	ErrDamaged  = errors.New("the copy is damaged")
	ErrTooLarge = errors.New("the copy is larger than 5 MiB")
)

var errNoArchive = errors.New("the bucket or folder is not there")

// Archive stores bodies by their hash. It is safe for concurrent use.
type Archive struct {
	bucket *blob.Bucket
	pause  time.Duration // before the second attempt; the next pauses are longer
	client *http.Client  // that the bucket uses; nil = none
	folder string        // "" = another bucket
}

// New makes an archive over a bucket, which it closes. pause is the time before the
// second attempt of an operation, 0 = a quarter of a second; the next pauses are four
// times as long.
func New(bucket *blob.Bucket, pause time.Duration) *Archive {
	if pause <= 0 {
		pause = backoff
	}
	return &Archive{bucket: bucket, pause: pause}
}

// Close releases what the archive holds.
func (a *Archive) Close() error {
	if a.client != nil {
		a.client.CloseIdleConnections()
	}
	return a.bucket.Close()
}

// HashOf is the hash under which a body is kept.
func HashOf(body []byte) crawl.BodyHash { return sha256.Sum256(body) }

// NewKey is a name for an object that no other has. It is made of hexadecimal digits
// alone, so it names nothing outside of the archive.
func NewKey() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	name := hex.EncodeToString(random[:])
	return name[:2] + "/" + name + ".pack.zst"
}

// Put stores a pack under a key that NewKey returned: all of it or nothing. A file is
// not forced to the disk, which would cost more than all else: after a power cut it may
// be cut short. Get tells, of each body that is read.
func (a *Archive) Put(ctx context.Context, key string, p *Pack) error {
	return a.try(ctx, opPut, func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		w, err := a.bucket.NewWriter(ctx, key, &blob.WriterOptions{ContentType: "application/zstd", DisableContentTypeDetection: true, MaxConcurrency: 1})
		if err != nil {
			return err
		}
		if _, err := w.Write(p.packed); err != nil {
			cancel() // else Close would store what was written
			_ = w.Close()
			return err
		}
		return w.Close()
	})
}

// Get returns the body of a hash, and reads no more than it. Errors are ErrMissing,
// ErrDamaged, and those of the store.
func (a *Archive) Get(ctx context.Context, at crawl.BodyPlace, h crawl.BodyHash) ([]byte, error) {
	frame, err := a.read(ctx, opGet, at)
	if err != nil {
		return nil, err
	}
	return unpack(opGet, frame, h)
}

// OpenPack reads a pack, to move its bodies to another. Errors are as of Get.
func (a *Archive) OpenPack(ctx context.Context, key string) (*Opened, error) {
	packed, err := a.read(ctx, opMove, crawl.BodyPlace{Key: key})
	if err != nil {
		return nil, err
	}
	return &Opened{packed}, nil
}

// read returns a part of an object, at most MaxBody bytes.
func (a *Archive) read(ctx context.Context, op string, at crawl.BodyPlace) (part []byte, err error) {
	length := at.Length
	switch {
	case at.Start < 0, at.Start > MaxBody, length < 0, length > MaxBody:
		return nil, newError(op, ErrDamaged)
	case length == 0:
		length = -1 // to the end
	}
	err = a.try(ctx, op, func(ctx context.Context) error {
		r, err := a.bucket.NewRangeReader(ctx, at.Key, at.Start, length, nil)
		if noRange(err) {
			return ErrDamaged
		}
		if err != nil {
			return err
		}
		defer func() { _ = r.Close() }()
		if part, err = io.ReadAll(io.LimitReader(r, MaxBody+1)); err != nil {
			return err
		}
		if len(part) > MaxBody {
			return ErrDamaged
		}
		return nil
	})
	if errors.Is(err, ErrMissing) {
		if away := a.there(ctx, op); away != nil {
			return nil, away
		}
	}
	if err != nil {
		return nil, err
	}
	return part, nil
}

// trySize is the size of what Try stores, in bytes. A full disk takes an empty file.
const trySize = 64 << 10

// Try stores an object and deletes it, to see whether an archive that failed works again.
func (a *Archive) Try(ctx context.Context) error {
	const key = "try"
	if err := a.Put(ctx, key, &Pack{packed: make([]byte, trySize)}); err != nil {
		return err
	}
	return a.Delete(ctx, key)
}

// there tells whether the bucket or folder is there. If not, nothing can be said of what
// is in it.
func (a *Archive) there(ctx context.Context, op string) error {
	return a.try(ctx, op, func(ctx context.Context) error {
		if a.folder != "" {
			if _, err := os.Stat(a.folder); err != nil { // IsAccessible does not tell
				return errNoArchive
			}
		}
		if ok, err := a.bucket.IsAccessible(ctx); err == nil && !ok {
			return errNoArchive
		}
		return nil
	})
}

// Delete deletes an object. It is no error if there is none.
func (a *Archive) Delete(ctx context.Context, key string) error {
	err := a.try(ctx, opDelete, func(ctx context.Context) error { return a.bucket.Delete(ctx, key) })
	if errors.Is(err, ErrMissing) {
		return a.there(ctx, opDelete)
	}
	return err
}

// try makes up to Attempts attempts, with pauses between them.
func (a *Archive) try(ctx context.Context, op string, attempt func(context.Context) error) error {
	pause := a.pause
	for n := 1; ; n++ {
		within, cancel := context.WithTimeout(ctx, Timeout)
		err := attempt(within)
		cancel()
		if err == nil {
			return nil
		}
		if op != opPut && gcerrors.Code(err) == gcerrors.NotFound && !noBucket(err) {
			err = ErrMissing
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

// Error is a failed operation of the archive. Its text holds no key, no URL and no
// credentials, whatever the store answered.
type Error struct {
	Op     string // "storing copies"
	Reason string // "status 503 SlowDown"
	cause  error  // one of ours, or of the context; nil = another
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("archive: %s: %s", e.Op, e.Reason) }

// Unwrap is the cause, if it is safe to show.
func (e *Error) Unwrap() error { return e.cause }
