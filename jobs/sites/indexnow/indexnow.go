// Package indexnow submits pages to search engines by IndexNow, and checks the key file
// by which a website shows that it agrees. Every error is an *engine.Error.
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

// MaxURLs is how many pages a batch may have.
const MaxURLs = 10_000

const (
	timeout = 60 * time.Second // of a batch, which may have 20 MB
	service = "IndexNow"
)

// Options say where IndexNow is. A zero timeout is replaced by the default.
type Options struct {
	Endpoint  string        // INDEXNOW_ENDPOINT
	UserAgent string        // "" = that of Go
	Timeout   time.Duration // of a batch; 0 = 60 s
}

// Client submits pages, for all websites. It is safe for concurrent use.
type Client struct {
	opts   Options
	client *engine.Client
}

// NewClient makes the client. It fails if the endpoint is not a URL.
func NewClient(o Options) (*Client, error) {
	o.Timeout = cmp.Or(o.Timeout, timeout)
	c, err := engine.NewClient(o.Endpoint, o.Timeout)
	if err != nil {
		return nil, err
	}
	return &Client{o, c}, nil
}

// Close drops the idle connections.
func (c *Client) Close() { c.client.Close() }

// Batch is pages of one host.
type Batch struct {
	Host        string   `json:"host"`
	Key         string   `json:"key"`
	KeyLocation string   `json:"keyLocation"` // URL of the key file
	URLs        []string `json:"urlList"`     // 1 to MaxURLs
}

// Submit sends a batch in one request. It returns the status of the response, 0 if there
// was none: 200 is accepted, 202 is accepted and the key is checked later.
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
	asking, attempt := engine.Begin(ctx)
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
	answer, _ := io.ReadAll(res.Body) // the status is the answer
	if e := b.classify(ctx, attempt, res.StatusCode, answer); e != nil {
		return res.StatusCode, e
	}
	return res.StatusCode, nil
}

// classify is the error of a response; nil if it accepts the batch.
func (b Batch) classify(ctx context.Context, attempt *engine.Attempt, status int, answer []byte) *engine.Error {
	var body struct {
		Code    string `json:"errorCode"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(answer, &body); err != nil {
		body.Code, body.Message = "", "" // most engines send no body
	}
	said := engine.Said(body.Message)
	if e := attempt.Status(service, status, said); e != nil {
		return e
	}
	e := &engine.Error{Status: status, RetryAfter: attempt.RetryAfter()}
	switch status {
	case http.StatusOK, http.StatusAccepted:
		return nil
	case http.StatusBadRequest:
		e.Kind, e.Cause = engine.Refused, "Refused by IndexNow"
		e.Text, e.Fix = engine.With("IndexNow refused the batch: its format is invalid.", said), "Check the IndexNow key and the URLs of the pages."
	case http.StatusForbidden:
		if body.Code == "SiteVerificationNotCompleted" {
			e.Kind, e.Cause = engine.Unavailable, "IndexNow key not verified yet"
			e.Text, e.Fix = "IndexNow has not verified the key yet.", "Linkwatch tries again later."
			break
		}
		e.Kind, e.Cause = engine.Credentials, "IndexNow key refused"
		e.Text = engine.With("IndexNow did not find the key on the website, or another one.", said)
		e.Fix = "Put the key file at " + b.KeyLocation + " and check it."
	case http.StatusUnprocessableEntity:
		e.Kind, e.Cause = engine.Refused, "Refused by IndexNow"
		e.Text = engine.With("IndexNow refused the batch: a page is not of "+b.Host+", or the key is another one.", said)
		e.Fix = "Check that all pages are of " + b.Host + " and that the key file has the key."
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		e.Kind, e.Cause = engine.NotFound, "Not found"
		e.Text = "There is no IndexNow at the endpoint (status " + strconv.Itoa(status) + ")."
		e.Fix = "Check INDEXNOW_ENDPOINT in the settings."
	default:
		return attempt.Failure(ctx, service, errors.New("unexpected status"))
	}
	return e
}
