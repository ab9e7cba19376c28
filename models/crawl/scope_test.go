package crawl_test

import (
	"slices"
	"testing"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// TestScope checks that a crawl is limited to its domains and their subdomains, or by default to the host of its source with
// or without "www.". The port is part of both. http and https are one site on their default ports.
func TestScope(t *testing.T) {
	source := func(host string, port int, domains ...string) crawl.Source {
		return crawl.Source{Host: host, Port: port, AllowedDomains: domains}
	}
	domains := source("start.example", 0, "a.example", "docs.b.example", "127.0.0.1", "c.example:8080", "d.example:443")
	none := source("www.a.example", 0)
	ported := source("127.0.0.1", 8001)
	named := source("a.example", 8001, "a.example", "a.example:8002", "b.example", "c.example:80", "::1", "[::1]:8003", "127.0.0.1:8004")
	for _, c := range []struct {
		source crawl.Source
		url    string
		want   bool
	}{
		{domains, "http://a.example/", true},
		{domains, "https://www.a.example", true},
		{domains, "https://x.y.a.example/b?c", true},
		{domains, "http://nota.example/", false},
		{domains, "http://a.example.evil.example/", false},
		{domains, "http://a.examples/", false},
		{domains, "http://docs.b.example/", true},
		{domains, "http://v2.docs.b.example/", true},
		{domains, "http://b.example/", false},
		{domains, "http://blog.b.example/", false},
		{domains, "http://127.0.0.1/", true},
		{domains, "http://127.0.0.1:8080/", false},
		{domains, "http://127.0.0.2/", false},
		{domains, "http://start.example/", false},
		{domains, "http://example/", false},
		{domains, "http://a.example:8080/", false},
		{domains, "http://c.example:8080/", true},
		{domains, "http://www.c.example:8080/", true},
		{domains, "http://c.example/", false},
		{domains, "http://d.example/", true},
		{domains, "https://d.example/?at=10:30", true},
		{domains, "", false},
		{none, "http://www.a.example/", true},
		{none, "https://a.example?x", true},
		{none, "https://a.example:8443/", false},
		{none, "http://docs.a.example/", false},
		{none, "http://www.docs.a.example/", false},
		{none, "http://nota.example/", false},
		{none, "", false},
		{ported, "http://127.0.0.1:8001/a", true},
		{ported, "https://127.0.0.1:8001/a", true},
		{ported, "http://127.0.0.1:8002/a", false},
		{ported, "http://127.0.0.1/a", false},
		{named, "http://a.example:8001/", true},
		{named, "http://a.example:8002/", true},
		{named, "http://a.example:8003/", false},
		{named, "http://a.example/", false},
		{named, "http://b.example:8001/", true},
		{named, "http://b.example/", false},
		{named, "https://c.example/", true},
		{named, "http://[::1]:8001/", true},
		{named, "http://[::1]:8003/", true},
		{named, "http://[::1]/", false},
		{named, "http://[::2]:8001/", false},
		{named, "http://127.0.0.1:8004/", true},
	} {
		if got := c.source.Allows(c.url); got != c.want {
			t.Errorf("domains %v of %s, %q: got %v", c.source.AllowedDomains, c.source.Authority(), c.url, got)
		}
	}
}

// TestAllowedDomains checks how allowed domains are stored, and which are refused.
func TestAllowedDomains(t *testing.T) {
	w := newWorld(t, modelstest.New(t))
	for _, c := range []struct {
		url  string
		in   []string
		want []string // nil = refused
	}{
		{"http://a.example/", []string{"A.example", "*.B.example:8080", "b.example:08080"}, []string{"a.example", "b.example:8080"}},
		{"http://a.example:8001/", []string{"a.example"}, []string{"a.example"}},
		{"http://a.example:8001/", []string{"a.example:8001", "a.example:8002"}, []string{"a.example:8001", "a.example:8002"}},
		{"http://[::1]:8001/", []string{"[::1]", "[0:0::1]:8002"}, []string{"::1", "[::1]:8002"}},
		{"http://[::1]/", []string{"::1"}, []string{"::1"}},
		{"https://a.example/", []string{"a.example:80"}, []string{"a.example:80"}},
		{"http://a.example:8001/", []string{"a.example:8002"}, nil},
		{"http://a.example:8001/", []string{"b.example"}, nil},
		{"http://a.example/", []string{"a.example:"}, nil},
		{"http://a.example/", []string{"a.example", "a.example:0"}, nil},
		{"http://a.example/", []string{"a.example", "a.example:65536"}, nil},
		{"http://a.example/", []string{"a.example", "a.example:+80"}, nil},
		{"http://a.example/", []string{"a.example", "http://a.example"}, nil},
		{"http://a.example/", []string{"a.example", "[::1"}, nil},
		{"http://a.example/", []string{"a.example", "[::1]8080"}, nil},
		{"http://a.example/", []string{"a.example", ":8080"}, nil},
	} {
		src, err := w.AddSource(w.Context(), crawl.NewSource{URL: c.url, AllowedDomains: c.in})
		if c.want == nil {
			if models.CodeOf(err) != models.CodeInvalid {
				t.Errorf("%s, %q: got %v, %v", c.url, c.in, src.AllowedDomains, err)
			}
			continue
		}
		if err != nil || !slices.Equal(src.AllowedDomains, c.want) {
			t.Errorf("%s, %q: got %q, %v", c.url, c.in, src.AllowedDomains, err)
		}
	}
}

// TestEachPortIsASite checks that sources of one host on several ports are told apart: by new jobs, manual URLs, feed entries
// and the lookup of a site. Their names have the port.
func TestEachPortIsASite(t *testing.T) {
	each(t, func(w *world) {
		one, two := w.job("http://127.0.0.1:8001/", 0), w.job("http://127.0.0.1:8002/", 0)
		if one.SourceID == two.SourceID || one.SourceName != "127.0.0.1:8001" || two.SourceName != "127.0.0.1:8002" {
			t.Errorf("got sources %s and %s", one.SourceName, two.SourceName)
		}
		if other := w.job("http://127.0.0.1:8002/x", 0); other.SourceID != two.SourceID {
			t.Errorf("got source %s", other.SourceName)
		}
		plain, secure := w.job("http://a.example/", 0), w.job("https://a.example/", 0)
		if plain.SourceID != secure.SourceID {
			t.Error("http and https are two sites")
		}
		src, created, err := w.EnsureSource(w.Context(), crawl.NewSource{URL: "http://127.0.0.1:8001"})
		if err != nil || created || src.ID != one.SourceID {
			t.Errorf("got %+v, %v, %v", src, created, err)
		}
		_, err = w.AddJob(w.Context(), crawl.NewJob{SourceID: one.SourceID, URL: "http://127.0.0.1:8002/"})
		if models.CodeOf(err) != models.CodeInvalid {
			t.Errorf("job on another port: got %v", err)
		}
		if _, _, err := w.AddEntry(w.Context(), "http://127.0.0.1:8002/", one.SourceID); models.CodeOf(err) != models.CodeInvalid {
			t.Errorf("URL on another port: got %v", err)
		}
		e, _, err := w.AddEntry(w.Context(), "http://127.0.0.1:8002/y", "")
		if w.ok(err); e.SourceID != two.SourceID {
			t.Error("the URL is in the source of another port")
		}
		for url, want := range map[string]string{"http://127.0.0.1:8002/z": two.SourceID, "http://127.0.0.1:8003/": "", "https://a.example/z": plain.SourceID} {
			if site, _, err := w.SiteOf(w.Context(), url); err != nil || site.SourceID != want {
				t.Errorf("%s: got %+v, %v", url, site, err)
			}
		}
	})
}

// TestFactsOfAPort checks that a page is not looked up in the source of another port.
func TestFactsOfAPort(t *testing.T) {
	each(t, func(w *world) {
		w.job("http://a.example:8001/", 0)
		w.begin()
		w.crawlAll(func(string) []string { return nil })
		facts, err := w.FactsOf(w.Context(), []string{"http://a.example:8001/", "http://a.example:8002/"})
		w.ok(err)
		if len(facts) != 1 || facts["http://a.example:8001/"].SourceID == "" {
			t.Errorf("got %+v", facts)
		}
	})
}
