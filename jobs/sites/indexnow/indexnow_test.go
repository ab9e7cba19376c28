package indexnow_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"linkwatch/jobs/sites/engine"
	"linkwatch/jobs/sites/indexnow"
	"linkwatch/jobs/sites/standin"
	"linkwatch/models/modelstest"
	"linkwatch/outbound"
)

func newClient(t *testing.T) (*indexnow.Client, *standin.Server) {
	t.Helper()
	modelstest.NoLeaks(t)
	s := standin.New(t)
	c, err := indexnow.NewClient(indexnow.Options{Endpoint: s.URL + standin.IndexNow, UserAgent: "Linkwatch/test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, s
}

func batch(urls ...string) indexnow.Batch {
	return indexnow.Batch{Host: "example.com", Key: "0123456789abcdef", KeyLocation: "https://example.com/0123456789abcdef.txt", URLs: urls}
}

const page = "https://example.com/a"

func failure(t *testing.T, err error) *engine.Error {
	t.Helper()
	e, ok := errors.AsType[*engine.Error](err)
	if !ok || e.Text == "" || e.Cause == "" {
		t.Fatalf("got error %#v", err)
	}
	return e
}

func TestSubmit(t *testing.T) {
	c, s := newClient(t)
	status, err := c.Submit(t.Context(), batch(page, "https://example.com/b"))
	if status != 200 || err != nil {
		t.Errorf("status %d, %v", status, err)
	}
	sent := s.Requests(standin.IndexNow)
	var body map[string]any
	if len(sent) != 1 || json.Unmarshal(sent[0].Body, &body) != nil || len(body) != 4 || body["host"] != "example.com" || body["key"] != "0123456789abcdef" ||
		body["keyLocation"] != "https://example.com/0123456789abcdef.txt" || len(sent[0].URLs) != 2 || sent[0].URLs[0] != page ||
		sent[0].Header.Get("User-Agent") != "Linkwatch/test" || !strings.HasPrefix(sent[0].Header.Get("Content-Type"), "application/json") {
		t.Errorf("%+v, %s", sent, sent[0].Body)
	}
	many := make([]string, indexnow.MaxURLs)
	for i := range many {
		many[i] = page
	}
	if status, err := c.Submit(t.Context(), batch(many...)); status != 200 || err != nil {
		t.Errorf("largest batch: status %d, %v", status, err)
	}
	for _, urls := range [][]string{nil, make([]string, indexnow.MaxURLs+1)} {
		if _, err := c.Submit(t.Context(), batch(urls...)); failure(t, err).Kind != engine.Refused {
			t.Errorf("%d pages: %v", len(urls), err)
		}
	}
	if n := s.Count(standin.IndexNow); n != 2 {
		t.Errorf("%d requests", n)
	}
}

func TestResponses(t *testing.T) {
	for name, f := range map[string]struct {
		fault    standin.Fault
		status   int
		kind     engine.Kind // "" = accepted
		text     string
		retry    time.Duration
		sitewide bool
	}{
		"accepted":      {fault: standin.Answer(200, ""), status: 200},
		"checked later": {fault: standin.Answer(202, ""), status: 202},
		"page":          {fault: standin.Garbage(), status: 200},
		"cut":           {fault: standin.Cut(), status: 200},
		"format":        {fault: standin.Answer(400, `{"errorCode":"InvalidRequestParameters","message":"Bad\nhost"}`), status: 400, kind: engine.Refused, text: "Bad host"},
		"key":           {fault: standin.Answer(403, ""), status: 403, kind: engine.Credentials, text: "https://example.com/0123456789abcdef.txt", sitewide: true},
		"key of Bing":   {fault: standin.Answer(403, `{"errorCode":"UserForbiddedToAccessSite","message":"User is unauthorized to access the site."}`), status: 403, kind: engine.Credentials, text: "User is unauthorized", sitewide: true},
		"not verified":  {fault: standin.Answer(403, `{"errorCode":"SiteVerificationNotCompleted","message":"Please wait."}`), status: 403, kind: engine.Unavailable, text: "not verified the key yet", sitewide: true},
		"another host":  {fault: standin.Answer(422, ""), status: 422, kind: engine.Refused, text: "not on example.com"},
		"too many":      {fault: standin.Answer(429, ""), status: 429, kind: engine.RateLimited, text: "too many requests", sitewide: true},
		"Retry-After":   {fault: standin.Answer(429, "", "Retry-After", "60"), status: 429, kind: engine.RateLimited, retry: time.Minute, sitewide: true},
		"500":           {fault: standin.Answer(500, "<html>"), status: 500, kind: engine.Unavailable, text: "status 500", sitewide: true},
		"503":           {fault: standin.Answer(503, "", "Retry-After", "9"), status: 503, kind: engine.Unavailable, retry: 9 * time.Second, sitewide: true},
		"404":           {fault: standin.Answer(404, ""), status: 404, kind: engine.NotFound, text: "INDEXNOW_ENDPOINT", sitewide: true},
		"redirect":      {fault: standin.Answer(301, "", "Location", "/x"), status: 301, kind: engine.Protocol, text: "status 301", sitewide: true},
		"teapot":        {fault: standin.Answer(418, ""), status: 418, kind: engine.Protocol, sitewide: true},
		"lost":          {fault: standin.Lost(), kind: engine.NoAnswer, text: "may have been processed", sitewide: true},
	} {
		t.Run(name, func(t *testing.T) {
			c, s := newClient(t)
			s.Fail(standin.IndexNow, f.fault)
			status, err := c.Submit(t.Context(), batch(page))
			if status != f.status || s.Count(standin.IndexNow) != 1 {
				t.Errorf("status %d, %d requests", status, s.Count(standin.IndexNow))
			}
			if f.kind == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			e := failure(t, err)
			if e.Kind != f.kind || e.Status != f.status || e.RetryAfter != f.retry || e.Sitewide() != f.sitewide || e.Lost() != (f.kind == engine.NoAnswer) || !strings.Contains(e.Text+" "+e.Fix, f.text) {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestNoResponse(t *testing.T) {
	c, s := newClient(t)
	s.Fail(standin.IndexNow, standin.Slow(nil))
	ctx, cancel := context.WithCancel(t.Context())
	answered := make(chan error)
	go func() { _, err := c.Submit(ctx, batch(page)); answered <- err }()
	s.Await(t, standin.IndexNow, 1)
	cancel()
	if e := failure(t, <-answered); !e.Lost() || !errors.Is(e, context.Canceled) {
		t.Errorf("%+v", e)
	}
	if _, err := c.Submit(ctx, batch(page)); failure(t, err).Kind != engine.Canceled {
		t.Errorf("canceled before: %v", err)
	}
	s.Close()
	if _, err := c.Submit(t.Context(), batch(page)); failure(t, err).Kind != engine.Unavailable {
		t.Errorf("unreachable: %v", err)
	}
	if _, err := indexnow.NewClient(indexnow.Options{Endpoint: "x"}); err == nil {
		t.Error("invalid endpoint URL: no error")
	}
}

func TestNewKey(t *testing.T) {
	key := indexnow.NewKey()
	if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(key) || key == indexnow.NewKey() {
		t.Error(key)
	}
}

func TestCheckKeyFile(t *testing.T) {
	const key = "0123456789abcdef"
	for name, f := range map[string]struct {
		content string
		fault   standin.Fault
		kind    engine.Kind // "" = key file is valid
		text    string
	}{
		"there":       {content: key},
		"line end":    {content: "\ufeff" + key + "\r\n"},
		"not there":   {fault: standin.Answer(404, ""), kind: engine.NotFound, text: "status 404"},
		"gone":        {fault: standin.Answer(410, ""), kind: engine.NotFound, text: "status 410"},
		"forbidden":   {fault: standin.Answer(403, ""), kind: engine.Credentials, text: "public access"},
		"unavailable": {fault: standin.Answer(503, "", "Retry-After", "9"), kind: engine.Unavailable, text: "status 503"},
		"another key": {content: key + "0", kind: engine.Credentials, text: "does not contain the key"},
		"other case":  {content: strings.ToUpper(key), kind: engine.Credentials, text: "does not contain the key"},
		"too long":    {content: key + strings.Repeat(" ", 5000), kind: engine.Credentials, text: "does not contain the key"},
		"empty":       {content: " ", kind: engine.Credentials, text: "is empty"},
		"page":        {fault: standin.Answer(200, "hello", "Content-Type", "text/html; charset=utf-8"), kind: engine.Credentials, text: "a page instead of the key file"},
		"page as text": {content: "<!doctype html><p>" + key, kind: engine.Credentials,
			text: "a page instead of the key file"},
		"loop": {fault: standin.Answer(302, "", "Location", "/no-text"), kind: engine.NotFound, text: "status 404"},
		"lost": {fault: standin.Lost(), kind: engine.Unavailable, text: "connection closed early"},
	} {
		t.Run(name, func(t *testing.T) {
			s := standin.New(t)
			client := outbound.New(outbound.Options{AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
			t.Cleanup(client.Close)
			s.File("/"+key+".txt", f.content)
			if f.fault != nil {
				s.Fail(standin.KeyFile, standin.Times(2, f.fault)...) // a lost GET is retried
			}
			err := indexnow.CheckKeyFile(t.Context(), client, s.URL+"/"+key+".txt", key)
			if f.kind == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if e := failure(t, err); e.Kind != f.kind || e.Fix == "" || !strings.Contains(e.Text+" "+e.Fix, f.text) {
				t.Errorf("%+v", e)
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		client := outbound.New(outbound.Options{})
		t.Cleanup(client.Close)
		if err := indexnow.CheckKeyFile(ctx, client, "https://example.com/x.txt", key); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	t.Run("private address", func(t *testing.T) {
		client := outbound.New(outbound.Options{})
		t.Cleanup(client.Close)
		e := failure(t, indexnow.CheckKeyFile(t.Context(), client, "http://127.0.0.1/x.txt", key))
		if e.Kind != engine.Unavailable || !strings.Contains(e.Text, "address not allowed") {
			t.Errorf("%+v", e)
		}
	})
}
