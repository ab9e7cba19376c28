// Package archive keeps the HTML of crawled pages as objects of a store: files in a
// folder, or a bucket of S3 or of a service that speaks its protocol.
package archive

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/klauspost/compress/zstd"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"linkwatch/models/crawl"
)

// MaxBody is the largest body in bytes, and the largest object.
const MaxBody = 5 << 20

// Limits of an operation. Each attempt is ended after Timeout.
const (
	Attempts = 3
	Timeout  = 10 * time.Second // of one attempt
	backoff  = 250 * time.Millisecond
)

const opPut = "storing a copy"

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

// key is the name of an object. It is made of hexadecimal digits alone, so it names
// nothing outside of the archive.
func key(h crawl.BodyHash) string {
	name := h.String()
	return name[:2] + "/" + name + ".html.zst"
}

var (
	packer, _   = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<20), zstd.WithEncoderCRC(false))
	unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(MaxBody), zstd.WithDecoderConcurrency(0))
)

// Put stores a body under its hash and returns how many bytes it takes. An object that
// is there is replaced as a whole: a reader finds the old or the new one.
func (a *Archive) Put(ctx context.Context, h crawl.BodyHash, body []byte) (stored int, err error) {
	packed := packer.EncodeAll(body, make([]byte, 0, len(body)/4+64))
	if len(body) > MaxBody || len(packed) > MaxBody {
		return 0, newError(opPut, ErrTooLarge)
	}
	return len(packed), a.try(ctx, opPut, func(ctx context.Context) error { return a.write(ctx, key(h), packed) })
}

// write stores an object. A file is not forced to the disk, which would cost more than
// all else: after a power cut one may be cut short. Get tells, and the next crawl stores it again.
func (a *Archive) write(ctx context.Context, key string, packed []byte) error {
	return a.bucket.WriteAll(ctx, key, packed, &blob.WriterOptions{ContentType: "application/zstd", DisableContentTypeDetection: true, MaxConcurrency: 1})
}

// Get returns the body of a hash. Errors are ErrMissing, ErrDamaged, and those of the
// store.
func (a *Archive) Get(ctx context.Context, h crawl.BodyHash) (body []byte, err error) {
	err = a.try(ctx, "reading a copy", func(ctx context.Context) error {
		r, err := a.bucket.NewReader(ctx, key(h), nil)
		if err != nil {
			return err
		}
		defer func() { _ = r.Close() }()
		packed, err := io.ReadAll(io.LimitReader(r, MaxBody+1))
		if err != nil {
			return err
		}
		if len(packed) > MaxBody {
			return ErrDamaged
		}
		if body, err = unpacker.DecodeAll(packed, nil); err != nil || HashOf(body) != h {
			return ErrDamaged
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return body, nil
}

// Delete deletes the body of a hash. It is no error if there is none.
func (a *Archive) Delete(ctx context.Context, h crawl.BodyHash) error {
	err := a.try(ctx, "deleting a copy", func(ctx context.Context) error { return a.bucket.Delete(ctx, key(h)) })
	if errors.Is(err, ErrMissing) {
		// Of a bucket that is not there nothing can be said.
		err = a.try(ctx, "deleting a copy", func(ctx context.Context) error {
			if ok, err := a.bucket.IsAccessible(ctx); err == nil && !ok {
				return errNoArchive
			}
			return nil
		})
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
		case <-time.After(pause + rand.N(pause/2)): //nolint:gosec // it only spreads attempts
		}
		pause *= 4
	}
}

// Error is a failed operation of the archive. Its text holds no key, no URL and no
// credentials, whatever the store answered.
type Error struct {
	Op     string // "storing a copy"
	Reason string // "status 503 SlowDown"
	cause  error  // one of ours, or of the context; nil = another
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("archive: %s: %s", e.Op, e.Reason) }

// Unwrap is the cause, if it is safe to show.
func (e *Error) Unwrap() error { return e.cause }
