package apptest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
)

// Page is a response with its parsed HTML.
type Page struct {
	*http.Response
	*goquery.Document
	HTML string
}

// Browse sends a request as a browser does.
func (a *App) Browse(r *http.Request) Page {
	a.Helper()
	r.Host = "127.0.0.1:8080"
	if a.as != "" {
		r.Header.Set(actorHeader, a.as)
	}
	a.signIn(r)
	if r.Header.Get("Accept") == "" {
		r.Header.Set("Accept", "text/html")
	}
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, r)
	res := w.Result()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		a.Fatal(err)
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(string(b)))
	if err != nil {
		a.Fatal(err)
	}
	res.Request = r
	return Page{res, doc, string(b)}
}

// Get opens a page.
func (a *App) Get(path string) Page {
	a.Helper()
	return a.Browse(httptest.NewRequestWithContext(a.Context(), http.MethodGet, path, nil))
}

// Count returns the number of database queries of a page.
func (a *App) Count(path string) int64 {
	a.Helper()
	before := a.Queries.Load()
	if p := a.Get(path); p.StatusCode != http.StatusOK {
		a.Errorf("%s: status %d", path, p.StatusCode)
	}
	return a.Queries.Load() - before
}

// Part sends a GET request as htmx does.
func (a *App) Part(path string) Page {
	a.Helper()
	r := httptest.NewRequestWithContext(a.Context(), http.MethodGet, path, nil)
	r.Header.Set("HX-Request", "true")
	return a.Browse(r)
}

// Post posts a form.
func (a *App) Post(path string, form url.Values) Page {
	a.Helper()
	path, _, _ = strings.Cut(path, "#") // browsers do not send the fragment
	r := httptest.NewRequestWithContext(a.Context(), http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return a.Browse(r)
}

// Follow posts a form and follows the redirect.
func (a *App) Follow(path string, form url.Values) Page {
	a.Helper()
	p := a.Post(path, form)
	if p.StatusCode != http.StatusSeeOther {
		a.Fatalf("POST %s: status %d, want 303; page: %s", path, p.StatusCode, Text(p, "main"))
	}
	to, _, _ := strings.Cut(p.Header.Get("Location"), "#") // browsers do not send the fragment
	return a.Get(to)
}

// Submit submits a form of the page, as a browser without JavaScript does.
func (a *App) Submit(p Page, form string) Page {
	a.Helper()
	f := p.Find(form)
	if f.Length() != 1 {
		a.Fatalf("%d forms match %s", f.Length(), form)
	}
	values := url.Values{}
	f.Find("input[name]").Each(func(_ int, in *goquery.Selection) {
		values.Add(in.AttrOr("name", ""), in.AttrOr("value", ""))
	})
	return a.Follow(f.AttrOr("action", ""), values)
}

// Text returns the text of the elements that match sel, with single spaces between words.
func Text(a Page, sel string) string {
	var words []string
	a.Find(sel).Find("*").AddBack().Contents().Each(func(_ int, n *goquery.Selection) {
		if goquery.NodeName(n) == "#text" {
			words = append(words, strings.Fields(n.Text())...)
		}
	})
	return strings.Join(words, " ")
}

// WantText fails the test unless the text of the elements that match sel contains want.
func WantText(t *testing.T, a Page, sel, want string) {
	t.Helper()
	if got := Text(a, sel); !strings.Contains(got, want) {
		t.Errorf("%s: got text %q, want it to contain %q", sel, got, want)
	}
}

// WantStatus fails the test unless a page has the status.
func WantStatus(t *testing.T, a Page, want int) {
	t.Helper()
	if a.StatusCode != want {
		t.Errorf("status %d, want %d; page: %s", a.StatusCode, want, Text(a, "main"))
	}
}

// WantCount fails the test unless exactly want elements match sel.
func WantCount(t *testing.T, a Page, sel string, want int) {
	t.Helper()
	if got := a.Find(sel).Length(); got != want {
		t.Errorf("%d elements match %s, want %d", got, sel, want)
	}
}
