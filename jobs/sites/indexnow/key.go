package indexnow

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"linkwatch/jobs/sites/engine"
	"linkwatch/outbound"
)

const (
	keyBytes     = 4 << 10 // maximum size of a key file
	keyRedirects = 3
)

// NewKey generates a random key of 32 hexadecimal digits.
func NewKey() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// Fetcher fetches URLs, as *outbound.Client does.
type Fetcher interface {
	Fetch(ctx context.Context, r outbound.Request) (*outbound.Response, error)
}

// CheckKeyFile fetches a key file and returns what is wrong with it.
func CheckKeyFile(ctx context.Context, f Fetcher, url, key string) error {
	res, err := f.Fetch(ctx, outbound.Request{URL: url, MaxRedirects: keyRedirects, MaxBytes: keyBytes})
	if err != nil {
		return fetchFailed(ctx, url, err)
	}
	if e := checkStatus(res, url); e != nil {
		return e
	}
	e := &engine.Error{Kind: engine.Credentials, Status: res.StatusCode, Fix: "Upload a text file to " + url + " that contains only the key."}
	body := bytes.TrimSpace(bytes.TrimPrefix(res.Body, []byte("\ufeff")))
	mediaType, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	switch {
	case !res.Truncated && string(body) == key:
		return nil
	case strings.EqualFold(strings.TrimSpace(mediaType), "text/html"), bytes.HasPrefix(body, []byte("<")):
		e.Text, e.Cause = "The website serves a page instead of the key file.", "Key file is a page"
	case len(body) == 0:
		e.Text, e.Cause = "The key file is empty.", "Key file is empty"
	default:
		e.Text, e.Cause = "The key file does not contain the key.", "Key file has a different key"
	}
	return e
}

func checkStatus(res *outbound.Response, url string) error {
	status := strconv.Itoa(res.StatusCode)
	switch {
	case res.StatusCode == http.StatusOK:
		return nil
	case res.StatusCode == http.StatusNotFound, res.StatusCode == http.StatusGone:
		return &engine.Error{Kind: engine.NotFound, Status: res.StatusCode, Cause: "Key file not found",
			Text: "The key file is not on the website (status " + status + ").", Fix: "Upload a text file to " + url + " that contains only the key."}
	case res.StatusCode >= 500, res.StatusCode == http.StatusTooManyRequests:
		return &engine.Error{Kind: engine.Unavailable, Status: res.StatusCode, RetryAfter: res.RetryAfter, Cause: "Website unavailable",
			Text: "The website is unavailable (status " + status + ").", Fix: "Check again later."}
	}
	return &engine.Error{Kind: engine.Credentials, Status: res.StatusCode, Cause: "Key file not served",
		Text: "The website does not serve the key file (status " + status + ").", Fix: "Allow public access to " + url + "."}
}

func fetchFailed(ctx context.Context, url string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e := &engine.Error{Kind: engine.Unavailable, Cause: "Website unreachable", Text: "The key file could not be fetched.", Fix: "Check that " + url + " is reachable."}
	if why, ok := errors.AsType[*outbound.Error](err); ok {
		e.Text, e.RetryAfter = "The key file could not be fetched: "+why.Error()+".", why.RetryAfter
	}
	return e
}
