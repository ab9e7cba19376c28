package google_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"linkwatch/jobs/sites/engine"
	"linkwatch/jobs/sites/google"
	"linkwatch/jobs/sites/standin"
	"linkwatch/models/modelstest"
)

const (
	site = "https://example.com/"
	page = "https://example.com/a"
	feed = "https://example.com/sitemap.xml?a=1&b=2"
)

func newClient(t *testing.T, change ...func(*google.Options)) (*google.Client, *standin.Server) {
	t.Helper()
	modelstest.NoLeaks(t)
	s := standin.New(t)
	return clientOf(t, s, standin.Credentials(), change...), s
}

func clientOf(t *testing.T, s *standin.Server, credentials []byte, change ...func(*google.Options)) *google.Client {
	t.Helper()
	account, err := google.ParseCredentials(credentials)
	if err != nil {
		t.Fatal(err)
	}
	o := google.Options{Indexing: s.URL + "/", SearchConsole: s.URL, Token: s.URL + standin.Token, UserAgent: "Linkwatch/test"}
	for _, f := range change {
		f(&o)
	}
	e, err := google.NewEndpoints(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return google.NewClient(e, account)
}

// brief is the timeout of requests without a response.
const brief = 100 * time.Millisecond

type method struct {
	name, service string
	do            func(context.Context, *google.Client) error
}

var methods = []method{
	{"publish", standin.Publish, func(ctx context.Context, c *google.Client) error { return c.Publish(ctx, page, false) }},
	{"metadata", standin.Metadata, func(ctx context.Context, c *google.Client) error { _, err := c.Metadata(ctx, page); return err }},
	{"inspect", standin.Inspect, func(ctx context.Context, c *google.Client) error { _, err := c.Inspect(ctx, site, page); return err }},
	{"sitemap", standin.Sitemaps, func(ctx context.Context, c *google.Client) error { return c.SubmitSitemap(ctx, site, feed) }},
	{"site", standin.Sites, func(ctx context.Context, c *google.Client) error { _, err := c.Site(ctx, site); return err }},
}

// failure checks that err is an *engine.Error without secrets and returns it.
func failure(t *testing.T, s *standin.Server, err error) *engine.Error {
	t.Helper()
	e, ok := errors.AsType[*engine.Error](err)
	if !ok {
		t.Fatalf("got error %v", err)
	}
	if e.Text == "" || e.Cause == "" {
		t.Errorf("error without text or cause: %#v", e)
	}
	all := fmt.Sprintf("%#v %v", *e, err)
	secrets := []string{"PRIVATE", "ya29", "eyJ", "Bearer", s.Listener.Addr().String(), "assertion"}
	for _, r := range s.Requests("") {
		if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
			secrets = append(secrets, token)
		}
	}
	for _, secret := range secrets {
		if strings.Contains(all, secret) {
			t.Errorf("the error contains %q: %s", secret, all)
		}
	}
	return e
}
