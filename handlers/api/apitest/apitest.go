//go:build !race

// Package apitest checks what tests send and receive against the OpenAPI
// document of the API.
package apitest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	faults "github.com/pb33f/libopenapi-validator/errors"
	"github.com/pb33f/libopenapi-validator/helpers"
)

// Valid returns what is wrong with an OpenAPI document, or nil.
func Valid(document []byte) error {
	_, err := build(document)
	return err
}

func build(document []byte) (validator.Validator, error) {
	doc, err := libopenapi.NewDocument(document)
	if err != nil {
		return nil, fmt.Errorf("reading the document: %w", err)
	}
	v, errs := validator.NewValidator(doc)
	if len(errs) > 0 {
		return nil, fmt.Errorf("reading the document: %w", errors.Join(errs...))
	}
	if ok, found := v.ValidateDocument(); !ok {
		return nil, errors.New("the document is not valid" + text(found))
	}
	return v, nil
}

// text lists faults, one a line.
func text(found []*faults.ValidationError) string {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "\n%s: %s", f.Message, f.Reason)
		for _, s := range f.SchemaValidationErrors {
			fmt.Fprintf(&b, "\n\t%s: %s", s.FieldPath, s.Reason)
		}
	}
	return b.String()
}

var validators sync.Map // by path: building one takes a second

func read(path string) (validator.Validator, error) {
	built, _ := validators.LoadOrStore(path, sync.OnceValues(func() (validator.Validator, error) {
		document, err := os.ReadFile(path) //nolint:gosec // the test names the file
		if err != nil {
			return nil, err
		}
		return build(document)
	}))
	return built.(func() (validator.Validator, error))() //nolint:forcetypeassert // only this function stores values
}

// Check wraps a handler, so that the test fails if a response is not one that the
// document at path lists for the operation: its status, headers and body. The
// request is checked too, if it succeeded. A path of the API that is not in the
// document must not succeed. Requests that are not for the API, such as those
// for SHORT_HOST, are passed over.
func Check(t testing.TB, path string, next http.Handler, passOver func(*http.Request) bool) http.Handler {
	t.Helper()
	v, err := read(path)
	if err != nil {
		t.Fatal(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if passOver(r) {
			next.ServeHTTP(w, r)
			return
		}
		sent := &bytes.Buffer{}
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = tee{io.TeeReader(r.Body, sent), r.Body}
		}
		asked := r.Clone(r.Context())
		rec := &recorder{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(rec, r)
		if found := check(v, asked, sent.Bytes(), rec); found != "" {
			t.Errorf("%s %s: %d is not as the document says: %s", asked.Method, asked.URL.Path, rec.status, found)
		}
	})
}

const clientGone = 499 // the client closed the connection before the response

func check(v validator.Validator, r *http.Request, sent []byte, rec *recorder) string {
	if rec.status == clientGone {
		return ""
	}
	u := *r.URL
	u.Path, u.RawPath = alias(u.Path), ""
	q := u.Query()
	maps.DeleteFunc(q, func(_ string, values []string) bool { return values[0] == "" }) // as if it were left out
	u.RawQuery = q.Encode()
	r.URL = &u
	r.Body = io.NopCloser(bytes.NewReader(sent))
	body, err := rec.text()
	if err != nil {
		return err.Error()
	}
	if r.Method == http.MethodHead { // net/http leaves it out
		body = nil
	}
	res := &http.Response{StatusCode: rec.status, Header: rec.Header().Clone(), Request: r, Body: io.NopCloser(bytes.NewReader(body))}
	var found []*faults.ValidationError
	if rec.status < http.StatusBadRequest {
		_, found = v.ValidateHttpRequestResponse(r, res)
	} else {
		_, found = v.ValidateHttpResponse(r, res)
	}
	if len(found) > 0 && (found[0].ValidationType == helpers.PathValidation || strings.HasSuffix(u.Path, "/")) { // the validator knows no slash at the end
		if strings.HasPrefix(u.Path, "/v1/") && rec.status < http.StatusBadRequest && r.Method != http.MethodHead {
			return "the operation is not in it"
		}
		return ""
	}
	if len(found) > 0 {
		return text(found) + "\n" + string(body)
	}
	return ""
}

// alias is the path of an operation in the document.
func alias(path string) string {
	if strings.HasPrefix(path, "/api/v1/") {
		return strings.TrimPrefix(path, "/api")
	}
	return path
}

type tee struct {
	io.Reader
	io.Closer
}

// recorder keeps a copy of a response.
type recorder struct {
	http.ResponseWriter
	status int
	wrote  bool
	body   bytes.Buffer
}

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Flush implements http.Flusher, for streams.
func (r *recorder) Flush() { _ = http.NewResponseController(r.ResponseWriter).Flush() }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if !r.wrote {
		r.status, r.wrote = status, true
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(b []byte) (int, error) {
	r.wrote = true
	r.body.Write(b)
	return r.ResponseWriter.Write(b)
}

func (r *recorder) text() ([]byte, error) {
	if r.Header().Get("Content-Encoding") != "gzip" {
		return r.body.Bytes(), nil
	}
	z, err := gzip.NewReader(&r.body)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
