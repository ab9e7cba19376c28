package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
	"github.com/minio/minio-go/v7/pkg/signer"
)

// bucket is a store in an S3-compatible bucket. Credentials and signatures come from the library of MinIO. Its client is
// not used, because it needs 23 more packages for these four requests.
type bucket struct {
	client      *http.Client
	url         string // with a trailing slash
	prefix      string // of all keys
	region      string
	credentials *credentials.Credentials
}

func (b *bucket) put(ctx context.Context, key string, object []byte) error {
	res, err := b.send(ctx, http.MethodPut, b.prefix+key, object, http.Header{"Content-Type": {"application/zstd"}})
	if err != nil {
		return err
	}
	return res.Body.Close()
}

func (b *bucket) open(ctx context.Context, key string, start, length int64) (io.ReadCloser, error) {
	h := http.Header{}
	switch {
	case length > 0:
		h.Set("Range", fmt.Sprintf("bytes=%d-%d", start, start+length-1))
	case start > 0:
		h.Set("Range", fmt.Sprintf("bytes=%d-", start))
	}
	res, err := b.send(ctx, http.MethodGet, b.prefix+key, nil, h)
	switch {
	case err == nil && res.StatusCode == http.StatusOK && start+length > 0: // some services ignore Range
		return partOf(res.Body, start, length)
	case err == nil:
		return res.Body, nil
	case hasCode(err, "InvalidRange"):
		return nil, ErrDamaged
	case hasCode(err, "NoSuchKey"):
		return nil, b.missing(ctx)
	}
	return nil, err
}

// partOf returns length bytes of an object from start on. 0 = up to its end.
func partOf(object io.ReadCloser, start, length int64) (io.ReadCloser, error) {
	if _, err := io.CopyN(io.Discard, object, start); err != nil {
		_ = object.Close()
		if errors.Is(err, io.EOF) {
			return nil, ErrDamaged
		}
		return nil, err
	}
	if length == 0 {
		return object, nil
	}
	return filePart{io.LimitReader(object, length), object}, nil
}

// missing returns ErrMissing if the bucket exists. Without the bucket, a missing object does not mean that a copy is
// lost. Some services respond with the same code to both.
func (b *bucket) missing(ctx context.Context) error {
	res, err := b.send(ctx, http.MethodHead, "", nil, http.Header{})
	if err == nil {
		_ = res.Body.Close()
		return ErrMissing
	}
	switch response, ok := errors.AsType[*responseError](err); {
	case ok && response.status == http.StatusNotFound:
		return errNoArchive
	case ok && response.status == http.StatusForbidden: // only the objects may be accessed
		return ErrMissing
	}
	return err
}

func (b *bucket) delete(ctx context.Context, key string) error {
	res, err := b.send(ctx, http.MethodDelete, b.prefix+key, nil, http.Header{})
	if err == nil {
		return res.Body.Close()
	}
	if !hasCode(err, "NoSuchKey") {
		return err
	}
	if err := b.missing(ctx); !errors.Is(err, ErrMissing) {
		return err
	}
	return nil
}

func (b *bucket) close() { b.client.CloseIdleConnections() }

// send sends a signed request. key "" is the bucket itself. The caller closes the body of the response. The error is a
// *responseError unless the status is 2xx.
func (b *bucket) send(ctx context.Context, method, key string, body []byte, h http.Header) (*http.Response, error) {
	keys, err := b.credentials.GetWithContext(&credentials.CredContext{Client: b.client, Context: ctx})
	if err != nil || keys.AccessKeyID == "" || keys.SecretAccessKey == "" {
		return nil, errors.Join(errNoCredentials, err)
	}
	r, err := http.NewRequestWithContext(ctx, method, b.url+s3utils.EncodePath(key), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	h.Set("X-Amz-Content-Sha256", hex.EncodeToString(sum[:]))
	h.Set("Accept-Encoding", "identity")
	r.Header = h
	r = signer.SignV4(*r, keys.AccessKeyID, keys.SecretAccessKey, keys.SessionToken, b.region)
	res, err := b.client.Do(r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode < http.StatusMultipleChoices {
		return res, nil
	}
	defer res.Body.Close()
	return nil, newResponseError(res)
}

// responseError is an error response of a bucket.
type responseError struct {
	status int
	code   string // such as SlowDown; "" = not a code of S3
}

// maxErrorBody is the maximum number of bytes that are read of an error response.
const maxErrorBody = 64 << 10

func newResponseError(res *http.Response) *responseError {
	var body struct {
		Code string `xml:"Code"`
	}
	_ = xml.NewDecoder(io.LimitReader(res.Body, maxErrorBody)).Decode(&body) // the code is optional
	if body.Code == "" {
		body.Code = strings.ReplaceAll(http.StatusText(res.StatusCode), " ", "")
	}
	if !apiCode.MatchString(body.Code) {
		body.Code = ""
	}
	return &responseError{res.StatusCode, body.Code}
}

func hasCode(err error, code string) bool {
	response, ok := errors.AsType[*responseError](err)
	return ok && response.code == code
}

// Error implements error.
func (e *responseError) Error() string {
	if e.code == "" {
		return fmt.Sprintf("status %d", e.status)
	}
	return fmt.Sprintf("status %d %s", e.status, e.code)
}
