package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode"
	"unicode/utf8"

	"linkwatch/models/links"
)

// fate is what happens to a generated page.
type fate int

const (
	fateWell fate = iota
	fateGone
	fateMoved
	fateShut   // refuses programs
	fateSilent // no response since today
	fateDead   // no response for days
)

// fateOf returns the fate of a link, counted from the newest. Each fate occurs even among
// 100 links.
func fateOf(i int) fate {
	switch {
	case i%600 == 60:
		return fateDead
	case i%250 == 7:
		return fateSilent
	case i%250 == 13:
		return fateMoved
	case i%80 == 21:
		return fateGone
	case i%50 == 33:
		return fateShut
	}
	return fateWell
}

// web is a links.Fetcher that sends no requests. A page is available at its first request,
// and has its fate after that.
type web struct{ pages map[string]*madePage }

type madePage struct {
	links.Page
	fate fate
	seen bool
}

func newWeb() *web { return &web{map[string]*madePage{}} }

func (w *web) add(url string, p links.Page, f fate) {
	p.Status, p.URL = 200, url
	w.pages[url] = &madePage{Page: p, fate: f}
}

// Fetch implements links.Fetcher.
func (w *web) Fetch(_ context.Context, url string) (links.Page, error) {
	p := w.pages[url]
	if p == nil {
		return links.Page{}, &links.FetchError{Reason: "host not found"}
	}
	first := !p.seen
	p.seen = true
	if first {
		return p.Page, nil
	}
	switch p.fate {
	case fateGone:
		return links.Page{Status: 404, URL: url}, nil
	case fateShut:
		return links.Page{Status: 403, URL: url}, nil
	case fateMoved:
		moved := p.Page
		moved.URL, moved.Permanent = strings.Replace(url, ".example/", ".example/archive/", 1), true
		return moved, nil
	case fateSilent:
		return links.Page{}, &links.FetchError{Reason: "timed out"}
	case fateDead:
		return links.Page{}, &links.FetchError{Reason: "host not found"}
	case fateWell:
	}
	return p.Page, nil
}

// Probe implements links.Fetcher.
func (w *web) Probe(ctx context.Context, url string) (links.Page, error) {
	return w.Fetch(ctx, url)
}

// pageMaker generates links and their pages, the same ones each time.
type pageMaker struct {
	rand         *rand.Rand
	n            int
	title, topic string // of the last link
	host         string
}

func newPageMaker() *pageMaker { return &pageMaker{rand: random(2)} }

var (
	hosts  = strings.Fields("north-harbor quietcode papertrail fieldnotes lowtide greenroom ironworks moonpost daybreak oldmill openbench riverbed")
	topics = strings.Fields("Go SQLite PostgreSQL HTTP DNS TLS Linux Kubernetes CSS accessibility testing security performance typography gardening cooking cycling history maps music photography privacy radio woodworking")
	titles = []string{
		"A field guide to %s", "What I learned from ten years of %s", "%s for people in a hurry", "The quiet art of %s",
		"Notes on %s and %s", "How %s changed the way we think about %s", "Common mistakes in %s", "%s from first principles",
		"Why %s is harder than it looks", "A short history of %s", "Measuring %s without fooling yourself", "%s, %s and the long view",
	}
	kinds = strings.Fields("read-later reference tutorial talk tool book")
	lines = []string{
		"Twenty small habits that make %s a pleasure, each with an example to try.",
		"An hour of reading that saves a week of %s.",
		"What the manuals leave out, told by people who do %s every day.",
		"A plain introduction to %s, with pictures and without jargon.",
	}
)

// link generates the next link. It has no title if its page will be fetched, which has one.
func (m *pageMaker) link(read bool) links.New {
	m.n++
	topic, other := m.pick(topics), m.pick(topics)
	title := m.pick(titles)
	words := []any{topic, other}
	title = capital(fmt.Sprintf(title, words[:strings.Count(title, "%s")]...))
	slug := strings.ReplaceAll(strings.ToLower(strings.ReplaceAll(title, ",", "")), " ", "-")
	host := m.pick(hosts)
	l := links.New{
		URL:   fmt.Sprintf("https://%s.example/%d/%s-%d", host, 2015+m.rand.IntN(11), slug, m.n),
		Title: title,
		Tags:  []string{topic},
	}
	if m.rand.IntN(2) == 0 && other != topic {
		l.Tags = append(l.Tags, other)
	}
	if m.rand.IntN(3) == 0 {
		l.Tags = append(l.Tags, m.pick(kinds))
	}
	if m.rand.IntN(8) == 0 {
		l.Notes = "Came up in a talk about " + other + "."
	}
	m.title, m.topic, m.host = title, topic, host
	if read {
		l.Title = ""
	}
	return l
}

// page generates the page of the last link.
func (m *pageMaker) page() links.Page {
	return links.Page{Title: m.title, OpenGraph: links.OpenGraph{
		Title: m.title, Description: fmt.Sprintf(m.pick(lines), m.topic),
		SiteName: capital(strings.ReplaceAll(m.host, "-", " ")), Type: "article",
	}}
}

func (m *pageMaker) pick(from []string) string { return from[m.rand.IntN(len(from))] }

// capital returns a text with its first letter in upper case.
func capital(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[size:]
}
