// Package indexnow submits pages through IndexNow, and checks the key file that proves ownership of a website. Errors are of
// the type *engine.Error.
package indexnow

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"linkwatch/jobs/sites/engine"
)

// MaxURLs is the maximum number of pages in a batch (indexnow.org).
const MaxURLs = 10_000

const (
	timeout = 60 * time.Second // per batch of up to 20 MB
	service = "IndexNow"
)

// Options are the endpoint and timeout. A zero timeout is the default.
type Options struct {
	Endpoint  string        // INDEXNOW_ENDPOINT
	UserAgent string        // "" = Go's default
	Timeout   time.Duration // per batch; 0 = 60 s
}

// Client submits pages of any website. It is safe for concurrent use.
type Client struct {
	opts   Options
	client *engine.Client
}

// NewClient returns a client. The error is about an invalid endpoint URL.
func NewClient(o Options) (*Client, error) {
	o.Timeout = cmp.Or(o.Timeout, timeout)
	c, err := engine.NewClient(o.Endpoint, o.Timeout)
	if err != nil {
		return nil, err
	}
	return &Client{o, c}, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.client.Close() }

// Batch is a batch of pages of one host.
type Batch struct {
	Host        string   `json:"host"`
	Key         string   `json:"key"`
	KeyLocation string   `json:"keyLocation"` // URL of the key file
	URLs        []string `json:"urlList"`     // 1 to MaxURLs
}

// Submit sends a batch in one request. It returns the status code of the response, 0 = none. 200 means accepted; 202 means
// accepted, with the key still to be validated.
func (c *Client) Submit(ctx context.Context, b Batch) (status int, err error) {
	if len(b.URLs) == 0 || len(b.URLs) > MaxURLs {
		return 0, &engine.Error{Kind: engine.Refused, Cause: "Batch too large", Text: "A batch must have 1 to 10,000 pages.", Fix: "Submit the pages in several batches."}
	}
	body, err := json.Marshal(b)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	asking, attempt := engine.NewAttempt(ctx)
	r, err := http.NewRequestWithContext(asking, http.MethodPost, c.opts.Endpoint, bytes.NewReader(body))
	if err != nil {
		return 0, attempt.Failure(ctx, service, err)
	}
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	if c.opts.UserAgent != "" {
		r.Header.Set("User-Agent", c.opts.UserAgent)
	}
	res, err := c.client.HTTP.Do(r)
	if err != nil {
		return 0, attempt.Failure(ctx, service, err)
	}
	defer res.Body.Close()
	response, _ := io.ReadAll(res.Body) // only the status matters
	if e := b.classify(ctx, attempt, res.StatusCode, response); e != nil {
		return res.StatusCode, e
	}
	return res.StatusCode, nil
}

func (b Batch) classify(ctx context.Context, attempt *engine.Attempt, status int, response []byte) *engine.Error {
	var body struct {
		Code    string `json:"errorCode"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(response, &body); err != nil {
		body.Code, body.Message = "", "" // most engines send no body
	}
	said := engine.SafeMessage(body.Message)
	if e := attempt.StatusError(service, status, said); e != nil {
		return e
	}
	e := &engine.Error{Status: status, RetryAfter: attempt.RetryAfter()}
	switch status {
	case http.StatusOK, http.StatusAccepted:
		return nil
	case http.StatusBadRequest:
		e.Kind, e.Cause = engine.Refused, "Refused by IndexNow"
		e.Text, e.Fix = engine.WithMessage("IndexNow refused the batch: its format is invalid.", said), "Check the IndexNow key and the URLs of the pages."
	case http.StatusForbidden:
		if body.Code == "SiteVerificationNotCompleted" {
			e.Kind, e.Cause = engine.Unavailable, "IndexNow key not verified yet"
			e.Text, e.Fix = "IndexNow has not verified the key yet.", "Linkwatch retries later."
			break
		}
		e.Kind, e.Cause = engine.Credentials, "IndexNow key refused"
		e.Text = engine.WithMessage("IndexNow did not find the key on the website.", said)
		e.Fix = "Upload the key file to " + b.KeyLocation + ", then check it."
	case http.StatusUnprocessableEntity:
		e.Kind, e.Cause = engine.Refused, "Refused by IndexNow"
		e.Text = engine.WithMessage("IndexNow refused the batch: a page is not on "+b.Host+", or the key does not match.", said)
		e.Fix = "Check that all pages are on " + b.Host + " and that the key file has the key."
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		e.Kind, e.Cause = engine.NotFound, "Not found"
		e.Text = "The endpoint is not an IndexNow endpoint (status " + strconv.Itoa(status) + ")."
		e.Fix = "Check INDEXNOW_ENDPOINT in the settings."
	default:
		return attempt.Failure(ctx, service, errors.New("unexpected status"))
	}
	return e
}
