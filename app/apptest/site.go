package apptest

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"linkwatch/models"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
)

// Site is the program as a browser meets it.
type Site struct {
	*App
	Queries *atomic.Int64 // to the database so far
}

// NewSite makes a site over a fresh database.
func NewSite(t testing.TB, change ...func(*Setup)) *Site {
	t.Helper()
	a := New(t, append([]func(*Setup){func(s *Setup) { s.Log = slog.New(slog.DiscardHandler) }}, change...)...)
	return &Site{a, modelstest.Queries(t, a.DB)}
}

// Save saves a link, a minute before the next.
func (s *Site) Save(u string, tags ...string) links.Link {
	s.Helper()
	l, _, err := s.Links.Add(s.Context(), links.New{URL: u, Tags: tags})
	if err != nil {
		s.Fatal(err)
	}
	s.Clock.Advance(time.Minute)
	return l
}

// Page is a response and what a browser makes of it.
type Page struct {
	*http.Response
	*goquery.Document
	HTML string
}

// Do sends a request as a browser does.
func (s *Site) Do(r *http.Request) Page {
	s.Helper()
	r.Host = "127.0.0.1:8080"
	if r.Header.Get("Accept") == "" {
		r.Header.Set("Accept", "text/html")
	}
	w := httptest.NewRecorder()
	s.Router.ServeHTTP(w, r)
	res := w.Result()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.Fatal(err)
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(string(b)))
	if err != nil {
		s.Fatal(err)
	}
	res.Request = r
	return Page{res, doc, string(b)}
}

// Get opens a page.
func (s *Site) Get(path string) Page {
	s.Helper()
	return s.Do(httptest.NewRequestWithContext(s.Context(), http.MethodGet, path, nil))
}

// Count is how many queries a page takes.
func (s *Site) Count(path string) int64 {
	s.Helper()
	before := s.Queries.Load()
	if a := s.Get(path); a.StatusCode != http.StatusOK {
		s.Errorf("%s: status %d", path, a.StatusCode)
	}
	return s.Queries.Load() - before
}

// Part asks as htmx does.
func (s *Site) Part(path string) Page {
	s.Helper()
	r := httptest.NewRequestWithContext(s.Context(), http.MethodGet, path, nil)
	r.Header.Set("HX-Request", "true")
	return s.Do(r)
}

// Post posts a form.
func (s *Site) Post(path string, form url.Values) Page {
	s.Helper()
	path, _, _ = strings.Cut(path, "#") // browsers keep it to themselves
	r := httptest.NewRequestWithContext(s.Context(), http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return s.Do(r)
}

// Follow posts a form and opens the page that it leads to.
func (s *Site) Follow(path string, form url.Values) Page {
	s.Helper()
	a := s.Post(path, form)
	if a.StatusCode != http.StatusSeeOther {
		s.Fatalf("POST %s: status %d, want 303; page: %s", path, a.StatusCode, Text(a, "main"))
	}
	return s.Get(a.Header.Get("Location"))
}

// Submit posts a form of the page as a browser without JavaScript would.
func (s *Site) Submit(a Page, form string) Page {
	s.Helper()
	f := a.Find(form)
	if f.Length() != 1 {
		s.Fatalf("%d forms match %s", f.Length(), form)
	}
	values := url.Values{}
	f.Find("input[name]").Each(func(_ int, in *goquery.Selection) {
		values.Add(in.AttrOr("name", ""), in.AttrOr("value", ""))
	})
	return s.Follow(f.AttrOr("action", ""), values)
}

// Text is the text of what sel matches, with single blanks between elements.
func Text(a Page, sel string) string {
	var words []string
	a.Find(sel).Find("*").AddBack().Contents().Each(func(_ int, n *goquery.Selection) {
		if goquery.NodeName(n) == "#text" {
			words = append(words, strings.Fields(n.Text())...)
		}
	})
	return strings.Join(words, " ")
}

// WantText fails unless the text of what sel matches holds want.
func WantText(t *testing.T, a Page, sel, want string) {
	t.Helper()
	if got := Text(a, sel); !strings.Contains(got, want) {
		t.Errorf("%s says %q, want it to hold %q", sel, got, want)
	}
}

// WantStatus fails unless a page has a status.
func WantStatus(t *testing.T, a Page, want int) {
	t.Helper()
	if a.StatusCode != want {
		t.Errorf("status %d, want %d; page: %s", a.StatusCode, want, Text(a, "main"))
	}
}

// WantCount fails unless so many elements match sel.
func WantCount(t *testing.T, a Page, sel string, want int) {
	t.Helper()
	if got := a.Find(sel).Length(); got != want {
		t.Errorf("%d elements match %s, want %d", got, sel, want)
	}
}

// TagID is the id of a tag, "" if there is none.
func (s *Site) TagID(name string) string {
	s.Helper()
	tags, err := s.Links.Tags(s.Context(), name, links.TagsByName, models.Page{Number: 1, Size: 100})
	if err != nil {
		s.Fatal(err)
	}
	for _, tag := range tags.Items {
		if tag.Name == name {
			return tag.ID
		}
	}
	return ""
}
