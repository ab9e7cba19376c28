package help_test

import (
	"io/fs"
	"net/http"
	"path"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"linkwatch/app/apptest"
	"linkwatch/docs"
)

// hrefs returns the links of the elements that match sel.
func hrefs(p apptest.Page, sel string) (all []string) {
	p.Find(sel).Each(func(_ int, a *goquery.Selection) { all = append(all, a.AttrOr("href", "")) })
	return all
}

// Every embedded guide has a page, and every link on it leads to an element of a page or to another website.
func TestGuides(t *testing.T) {
	s := apptest.New(t)
	opened, asked := map[string]apptest.Page{}, map[string]bool{}
	open := func(at string) apptest.Page {
		if !asked[at] {
			opened[at], asked[at] = s.Get(at), true
		}
		return opened[at]
	}
	guides, fragments := hrefs(open("/help"), ".guide-list a"), 0
	for _, at := range guides {
		p := open(at)
		apptest.WantStatus(t, p, http.StatusOK)
		apptest.WantCount(t, p, "main h1", 1)
		apptest.WantCount(t, p, `.guides [aria-current="page"][href="`+at+`"]`, 1)
		apptest.WantCount(t, p, ".guide img", 0)
		if sections := p.Find(".guide h2, .guide h3").Length(); sections == 0 || p.Find(".contents li").Length() != sections {
			t.Errorf("%s: got %d sections, %d of them in the contents", at, sections, p.Find(".contents li").Length())
		}
		for _, to := range hrefs(p, "main a") {
			where, fragment, _ := strings.Cut(to, "#")
			switch {
			case strings.HasPrefix(to, "https://") && where != "":
				continue
			case where == "":
				where = at
			case !strings.HasPrefix(where, "/"):
				t.Errorf("%s: got a link to %s", at, to)
				continue
			}
			target := open(where)
			if target.StatusCode >= http.StatusBadRequest && where != "/login" { // which this client may not open
				t.Errorf("%s: the link to %s gets %d", at, to, target.StatusCode)
			}
			if fragment != "" {
				fragments++
				if target.Find(`[id="`+fragment+`"]`).Length() != 1 {
					t.Errorf("%s: the link to %s leads to no element", at, to)
				}
			}
		}
	}
	files, err := fs.Glob(docs.FS, "*.md")
	s.Must(err)
	more, err := fs.Glob(docs.FS, "guide/*.md")
	s.Must(err)
	for _, file := range append(files, more...) {
		if at := "/help/" + strings.TrimSuffix(path.Base(file), ".md"); !asked[at] {
			t.Errorf("%s is not in the list of guides", file)
		}
	}
	if fragments < 200 {
		t.Errorf("got only %d links to sections", fragments)
	}
	apptest.WantStatus(t, s.Get("/help/nothing"), http.StatusNotFound)
}

func TestSearchOfGuides(t *testing.T) {
	s := apptest.New(t)
	for text, want := range map[string]string{
		"single sign":     "/help/access#about-single-sign-on", // a heading
		"Sign Single":     "/help/access#about-single-sign-on",
		"SHORT_HOST":      "/help/short#about-domains-and-limits",
		"short_host zzz":  "",
		"zzz":             "",
		`"quiet hours"`:   "/help/alerts#about-choose-what-is-sent",
		`"hours quiet"`:   "",
		`quiet "hours`:    "",
		"forgot password": "/help/access#about-in-the-browser",
		"2fa":             "/help/access#about-in-the-browser",
		"bookmarklet":     "/help/links#about-in-the-browser",
		"theme":           "/help/pages#about-colors",
		"shortcuts":       "/help/pages#about-keyboard",
		"elasticsearch":   "/help/elasticsearch",
		"outbound_allow_": "/help/settings#about-outbound-requests",
	} {
		q := "?q=" + strings.ReplaceAll(text, " ", "+")
		a := s.Get("/help" + q)
		apptest.WantStatus(t, a, http.StatusOK)
		found := hrefs(a, ".guide-list a")
		if got := strings.Join(found, " "); !strings.Contains(got+" ", want+" ") || want == "" && got != "" {
			t.Errorf("%q: got %s", text, got)
		}
		for _, to := range found {
			at, fragment, _ := strings.Cut(to, "#")
			if p := s.Get(at); fragment != "" && p.Find("#"+fragment).Length() != 1 {
				t.Errorf("%q: no element of %s", text, to)
			}
		}
		if want == "" {
			apptest.WantText(t, a, "#results", "No results.")
			continue
		}
		palette := s.Part("/search" + q + "&for=palette")
		options := palette.Find(`[role=group][aria-label=Help] a[role=option]`)
		if options.Length() == 0 || options.Length() > 6 {
			t.Errorf("%q: the palette has %d options", text, options.Length())
		}
	}
	apptest.WantText(t, s.Get("/help?q=SHORT_HOST"), ".guide-list", "SHORT_HOST")
	apptest.WantCount(t, s.Part("/help?q=alert"), "header", 0)
	many := s.Get("/help?q=e")
	apptest.WantCount(t, many, ".guide-list li", 50)
	apptest.WantText(t, many, "#results", "The first 50 sections.")
	long := strings.Repeat("a", 600)
	a := s.Get("/help?q=" + long)
	apptest.WantStatus(t, a, http.StatusBadRequest)
	apptest.WantText(t, a, "#q-error", "The search must have at most 512 bytes.")
	apptest.WantCount(t, a, ".guide-list li", 13)
	if n := s.Count("/help/watch"); n != 0 {
		t.Errorf("got %d queries for a guide", n)
	}
}
