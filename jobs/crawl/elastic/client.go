package elastic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	// go-elasticsearch refuses OpenSearch by a product check, and its client imports its generated typed API, which takes minutes to compile.
	"github.com/opensearch-project/opensearch-go/v4"
	"github.com/opensearch-project/opensearch-go/v4/opensearchapi"
)

// transport sends the library's requests to one address. It takes the place of the
// library's own transport, which checks nodes in the background, retries without our
// backoff and has settings in the environment.
type transport struct {
	client        *http.Client
	base          *url.URL // without user
	authorization string
}

// newClient returns the library's client for an http:// or https:// URL, which can
// have a user, a password and a path. The API key goes before them.
func newClient(client *http.Client, address, apiKey string) (*opensearchapi.Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, errors.New("the URL of the search engine is invalid") // the parser's error would show the password
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

// Perform implements opensearchtransport.Interface: the body of the response is read
// already. A status from 300 on is a *statusError.
func (t *transport) Perform(r *http.Request) (*http.Response, error) {
	sent := r.Clone(r.Context())
	sent.URL = t.base.JoinPath(r.URL.EscapedPath())
	sent.URL.RawQuery = r.URL.RawQuery
	if r.Body != nil {
		// A copy: net/http may read it after its response has come, when the library fills the buffer again.
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
	body, err := io.ReadAll(res.Body) // the client bounds it
	if err != nil {
		return nil, fmt.Errorf("reading the response: %w", err)
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		return nil, newStatusError(res.StatusCode, body)
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

// statusError is a response of the search engine that says that a request failed.
type statusError struct {
	status int
	kind   string // such as resource_already_exists_exception; "" = it does not say
	reason string
}

func newStatusError(status int, body []byte) *statusError {
	var said struct {
		Error struct {
			Type   string `json:"type"`
			Reason string `json:"reason"`
		} `json:"error"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return &statusError{status: status} // proxies answer with pages
	}
	return &statusError{status, said.Error.Type, said.Error.Reason}
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

// asStatus returns the response that an error tells of.
func asStatus(err error) (e *statusError, ok bool) { return errors.AsType[*statusError](err) }

// status is that of the response which an error tells of; 0 = there was none.
func status(err error) int {
	if e, ok := asStatus(err); ok {
		return e.status
	}
	return 0
}

// maxText is the length of an error in bytes.
const maxText = 500

// clip shortens a text to maxText and makes it valid UTF-8.
func clip(text string) string {
	if len(text) > maxText {
		text = text[:maxText] + "…"
	}
	return string(bytes.ToValidUTF8([]byte(text), nil))
}
