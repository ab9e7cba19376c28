package elastic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	// go-elasticsearch rejects OpenSearch, and its generated API takes minutes to compile.
	"github.com/opensearch-project/opensearch-go/v4"
	"github.com/opensearch-project/opensearch-go/v4/opensearchapi"
)

// transport sends the library's requests to one address. It replaces the library's own transport,
// which checks nodes in the background, retries without our backoff and reads settings from
// the environment.
type transport struct {
	client        *http.Client
	base          *url.URL // without credentials
	authorization string
}

// newClient returns the library's client for an http:// or https:// URL, which can have a user, a
// password and a path. The API key takes precedence over user and password.
func newClient(client *http.Client, address, apiKey string) (*opensearchapi.Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, errors.New("invalid search engine URL") // the parser's error would contain the password
	}
	t := &transport{client: client, base: u.JoinPath()}
	t.base.User = nil
	switch {
	case apiKey != "":
		t.authorization = "ApiKey " + apiKey
	case u.User != nil:
		password, _ := u.User.Password()
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(u.User.Username(), password)
		t.authorization = r.Header.Get("Authorization")
	}
	return opensearchapi.NewFromClient(&opensearch.Client{Transport: t}), nil
}

// Perform implements opensearchtransport.Interface. It buffers the response body and returns a
// *statusError for a status of 300 or above.
func (t *transport) Perform(r *http.Request) (*http.Response, error) {
	sent := r.Clone(r.Context())
	sent.URL = t.base.JoinPath(r.URL.EscapedPath())
	sent.URL.RawQuery = r.URL.RawQuery
	if r.Body != nil {
		// A copy, because net/http may still read it after the response, when the library reuses the buffer.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		sent.Body, sent.GetBody, sent.ContentLength = io.NopCloser(bytes.NewReader(body)), nil, int64(len(body))
	}
	if t.authorization != "" {
		sent.Header.Set("Authorization", t.authorization)
	}
	res, err := t.client.Do(sent) //nolint:gosec // the operator sets the address
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body) // the client limits the size
	if err != nil {
		return nil, fmt.Errorf("read response: %w", err)
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		return nil, newStatusError(res.StatusCode, body)
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
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
