package engine_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"linkwatch/jobs/sites/engine"
	"linkwatch/models/modelstest"
)

// A GET is not sent again if its connection breaks, even if the connection was used before. net/http alone would retry it.
func TestRequestsAreSentOnce(t *testing.T) {
	modelstest.NoLeaks(t)
	var requests atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.URL.Path == "/lost" {
			panic(http.ErrAbortHandler)
		}
	}))
	defer s.Close()
	c, err := engine.NewClient(s.URL, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut} {
		for _, path := range []string{"/", "/lost"} {
			requests.Store(0)
			var body io.Reader
			if method == http.MethodPost {
				body = strings.NewReader("{}")
			}
			ctx, attempt := engine.NewAttempt(t.Context())
			r, err := http.NewRequestWithContext(ctx, method, s.URL+path, body)
			if err != nil {
				t.Fatal(err)
			}
			res, err := c.HTTP.Do(r)
			if err == nil {
				_, _ = io.Copy(io.Discard, res.Body)
				res.Body.Close()
			}
			if n := requests.Load(); n != 1 || (err != nil) != (path == "/lost") {
				t.Errorf("%s %s: %d requests, %v", method, path, n, err)
			}
			if e := attempt.Failure(t.Context(), "X", err); e.Lost() != (path == "/lost") {
				t.Errorf("%s %s: %+v", method, path, e)
			}
		}
	}
}

// A client connects only to its endpoint, also without an Attempt in the context.
func TestOtherHosts(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	c, err := engine.NewClient("http://endpoint.invalid", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if res, err := c.HTTP.Get(s.URL); err == nil {
		t.Errorf("status %d", res.StatusCode)
	}
	ctx, attempt := engine.NewAttempt(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.HTTP.Do(r)
	if e := attempt.Failure(t.Context(), "X", err); e.Kind != engine.Unavailable || e.Text != "X could not be reached: address not allowed." {
		t.Errorf("%+v", e)
	}
	for _, endpoint := range []string{"", "x", "%", "http://"} {
		if _, err := engine.NewClient(endpoint, time.Minute); err == nil {
			t.Errorf("%q: no error", endpoint)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"": 0, "x": 0, "-5": 0, "0": 0, "30": 30 * time.Second, " 30 ": 30 * time.Second, "99999999": 24 * time.Hour, "99999999999999999999": 0,
		"Wed, 21 Oct 2015 07:28:00 GMT": 0, "Wed, 21 Oct 2099 07:28:00 GMT": 24 * time.Hour,
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Retry-After", value) }))
		c, err := engine.NewClient(s.URL, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		ctx, attempt := engine.NewAttempt(context.Background())
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := c.HTTP.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if got := attempt.RetryAfter(); got != want || attempt.StatusCode() != 200 {
			t.Errorf("%q: %v, status %d", value, got, attempt.StatusCode())
		}
		c.Close()
		s.Close()
	}
}

func TestSafeMessage(t *testing.T) {
	for message, want := range map[string]string{
		"": "", "No.\n\x00 Way": "No. Way", strings.Repeat("ä", 1000): strings.Repeat("ä", 300),
		"token s3cret": "", "Authorization: Bearer x": "", "ya29.x": "", "x eyJhbGci": "", "-----BEGIN PRIVATE KEY-----": "",
	} {
		if got := engine.SafeMessage(message, "", "s3cret"); got != want {
			t.Errorf("%q: %q", message, got)
		}
	}
	if got := engine.WithMessage("It failed.", "why") + engine.WithMessage("It failed.", ""); got != "It failed: whyIt failed." {
		t.Errorf("%q", got)
	}
}

// A request is not sent after the deadline. A request written in time may get its response later.
func TestSendBefore(t *testing.T) {
	modelstest.NoLeaks(t)
	var soon time.Time
	var requests atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		requests.Add(1)
		<-time.After(time.Until(soon) + time.Millisecond)
	}))
	defer s.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections, but never completes a TLS handshake
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	ask := func(endpoint string, at time.Time) (*engine.Attempt, error) {
		c, err := engine.NewClient(endpoint, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		ctx, attempt := engine.NewAttempt(engine.SendBefore(t.Context(), at))
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		res, err := c.HTTP.Do(r)
		if err == nil {
			res.Body.Close()
		}
		return attempt, err
	}
	for endpoint, at := range map[string]time.Time{s.URL: time.Now(), "https://" + silent.Addr().String(): time.Now().Add(50 * time.Millisecond)} {
		attempt, err := ask(endpoint, at)
		if e := attempt.Failure(t.Context(), "X", err); err == nil || e.Kind != engine.Canceled || e.Sent() || requests.Load() != 0 {
			t.Errorf("too late: %v, %+v", err, e)
		}
	}
	soon = time.Now().Add(time.Second)
	if _, err := ask(s.URL, soon); err != nil {
		t.Errorf("in time: %v", err)
	}
}

func TestAdvice(t *testing.T) {
	for want, e := range map[string]engine.Error{
		"It failed. Wait.": {Text: "It failed.", Fix: "Wait."},
		"Said: no. Wait.":  {Text: "Said: no", Fix: "Wait."},
		"Said: why? Wait.": {Text: "Said: why?", Fix: "Wait."},
		"It is as it is.":  {Text: "It is as it is."},
	} {
		if got := e.Advice(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
