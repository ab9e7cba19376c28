package elastic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// client sends requests to one search engine. No library is used, because there are only three requests. The one of
// Elasticsearch takes minutes to compile and rejects OpenSearch.
type client struct {
	http          *http.Client
	base          *url.URL // without credentials
	authorization string
}

// newClient returns the client for an http:// or https:// URL, which can have a user, a password and a path. The API
// key takes precedence over user and password.
func newClient(sender *http.Client, address, apiKey string) (*client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, errors.New("invalid search engine URL") // the parser's error would contain the password
	}
	c := &client{http: sender, base: u.JoinPath()}
	c.base.User = nil
	switch {
	case apiKey != "":
		c.authorization = "ApiKey " + apiKey
	case u.User != nil:
		password, _ := u.User.Password()
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(u.User.Username(), password)
		c.authorization = r.Header.Get("Authorization")
	}
	return c, nil
}

// The types of bodies.
const (
	typeJSON   = "application/json"
	typeNDJSON = "application/x-ndjson"
)

// request is a request to the search engine.
type request struct {
	method, path string
	query        url.Values
	bodyType     string
	body         []byte
}

// do sends a request and decodes the JSON of its response into out. The error is a *statusError for a status of 300 or
// above.
func (c *client) do(ctx context.Context, send request, out any) error {
	u := c.base.JoinPath(send.path)
	u.RawQuery = send.query.Encode()
	r, err := http.NewRequestWithContext(ctx, send.method, u.String(), bytes.NewReader(send.body))
	if err != nil {
		return err
	}
	if send.bodyType != "" {
		r.Header.Set("Content-Type", send.bodyType)
	}
	if c.authorization != "" {
		r.Header.Set("Authorization", c.authorization)
	}
	res, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body) // the client limits the size
	if err != nil {
		return fmt.Errorf("read response: %w", err)
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		return newStatusError(res.StatusCode, body)
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("parse response: %w", err)
	}
	return nil
}

// statusError is an error response of the search engine.
type statusError struct {
	status int
	kind   string // such as resource_already_exists_exception; "" = unknown
	reason string
}

func newStatusError(status int, body []byte) *statusError {
	var response struct {
		Error struct {
			Type   string `json:"type"`
			Reason string `json:"reason"`
		} `json:"error"`
	}
	if err := json.Unmarshal(body, &response); err != nil {
		return &statusError{status: status} // proxies return HTML
	}
	return &statusError{status, response.Error.Type, response.Error.Reason}
}

// Error implements error.
func (e *statusError) Error() string {
	text := fmt.Sprintf("status %d", e.status)
	for _, part := range []string{e.kind, e.reason} {
		if part != "" {
			text += ": " + part
		}
	}
	return clip(text)
}

func asStatus(err error) (e *statusError, ok bool) { return errors.AsType[*statusError](err) }

// status returns the status of the error response in an error; 0 = none.
func status(err error) int {
	if e, ok := asStatus(err); ok {
		return e.status
	}
	return 0
}

// maxText is the maximum length of an error in bytes.
const maxText = 500

// clip truncates a text to maxText bytes and makes it valid UTF-8.
func clip(text string) string {
	if len(text) > maxText {
		text = text[:maxText] + "…"
	}
	return string(bytes.ToValidUTF8([]byte(text), nil))
}
