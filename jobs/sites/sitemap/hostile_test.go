package sitemap

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"linkwatch/models/sites"
)

// endless is a file that starts with head and repeats part forever.
type endless struct {
	head, part string
	sent       int64
	left       string
}

func (e *endless) Read(p []byte) (int, error) {
	if e.sent == 0 {
		e.left = e.head
	}
	n := 0
	for n < len(p) {
		if e.left == "" {
			e.left = e.part
		}
		m := copy(p[n:], e.left)
		n, e.left = n+m, e.left[m:]
	}
	e.sent += int64(n)
	return n, nil
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

const smallLimit = 4 << 20 // bytes: 50 MB take minutes under the race detector

// Reading of an endless file stops at the limit with little memory.
func TestEndlessFiles(t *testing.T) {
	const large, long = "The file is larger than 50 MB. Reading stopped after 0 entries", "The XML is broken after 0 entries: a tag or text is too long"
	for name, tc := range map[string]struct {
		head, part string
		want       string
		mb         uint64 // maximum allocation
	}{
		"white space":         {"", " \n", large, 2},
		"NULs":                {"", "\x00", "This is a binary file, not a sitemap", 2},
		"NULs in XML":         {"<urlset><url><loc>" + strings.Repeat("x", 1000), "\x00", long, 8},
		"NULs in text":        {"http://a.de/\n" + strings.Repeat("x", 1000), "\x00", "The file is larger than 50 MB. Reading stopped after 1 entry", 2},
		"a line":              {"http://", "x", large, 2},
		"blank lines":         {"http://", "\r\n", large, 2},
		"bad lines":           {"", "x\n", noURLs, 2},
		"comments":            {"<urlset>", "<!-- x -->", large, 2},
		"a comment":           {"<urlset><!--", "x", long, 8},
		"a DOCTYPE":           {"<!DOCTYPE urlset [", "<!ENTITY a 'b'>", large, 2},
		"a long DOCTYPE":      {"<!DOCTYPE urlset [", "x", long, 8},
		"a name":              {"<urlset><", "x", long, 8},
		"an attribute":        {"<urlset><url x='", "x", long, 8},
		"an attribute's name": {"<urlset><url ", "x", long, 8},
		"attributes":          {"<urlset><url ", "x=1 ", long, 32},
		"text":                {"<urlset><url><loc>http://", "x", long, 8},
		"CDATA":               {"<urlset><url><loc><![CDATA[", "x", long, 8},
		"many CDATA":          {"<urlset><url><loc>", "<![CDATA[x]]>", large, 2},
		"entities":            {"<urlset><url><loc>", "&#120;", long, 8},
		"tags in an entry":    {"<urlset><url>", "<x></x>", large, 16},
		"loc in an entry":     {"<urlset><url>", "<loc>x</loc>", large, 16},
		"entries without URL": {"<urlset>", "<url></url>", large, 16},
		"nesting":             {"", "<urlset>", "The XML is broken after 0 entries: elements are nested too deeply", 2},
		"end tags":            {"<urlset>", "</x>", "The XML is broken after 0 entries: an element is not closed", 2},
		"after the root":      {"<urlset/>", " ", large, 2},
		"unknown encoding":    {`<?xml version="1.0" encoding="x"?>`, "x", "The XML declaration has an unknown encoding; use UTF-8", 2},
		"UTF-16":              {"\xff\xfe", " \x00", large, 2},
	} {
		e := &endless{head: tc.head, part: tc.part}
		used := allocated(func() {
			_, got, err := readSome(t, smallLimit, e)
			if shown, ok := errors.AsType[*Error](err); !ok || shown.Error() != tc.want || got.Complete {
				t.Errorf("%s: got %+v, %v", name, got, err)
			}
		})
		if used > tc.mb<<20 || e.sent > smallLimit+inputSlack {
			t.Errorf("%s: %d bytes read, %d KiB allocated", name, e.sent, used>>10)
		}
	}
}

func TestEndlessGzip(t *testing.T) {
	stored := "\x00\x04\x00\xfb\xff    " // deflate block of four spaces
	for name, e := range map[string]*endless{
		"members of nothing": {part: gzipped(t, "")},
		"spaces":             {head: gzipped(t, "")[:10], part: stored},
		"header":             {head: "\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\xff", part: "x"}, // an endless file name
	} {
		used := allocated(func() {
			_, _, err := readSome(t, smallLimit, e)
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Errorf("%s: got %v", name, err)
			}
		})
		if used > 2<<20 || e.sent > 2*(smallLimit+inputSlack) {
			t.Errorf("%s: %d bytes read, %d KiB allocated", name, e.sent, used>>10)
		}
	}
}

func TestGzipBombs(t *testing.T) {
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	if _, err := io.Copy(w, io.LimitReader(&endless{head: "<urlset>", part: " <!-- -->"}, 60<<20)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{"60 MB": bomb.String(), "in gzip": gzipped(t, bomb.String())} {
		used := allocated(func() {
			_, got, err := readAll(t, strings.NewReader(file))
			if shown, ok := errors.AsType[*Error](err); !ok || !strings.Contains(shown.Error(), "50 MB") && !strings.Contains(shown.Error(), "inside a gzip") || got.Complete {
				t.Errorf("%s: got %+v, %v", name, got, err)
			}
		})
		if used > 2<<20 {
			t.Errorf("%s: %d KiB allocated", name, used>>10)
		}
	}
}

// Exactly 50 MB are allowed, compressed or not.
func TestLargestFile(t *testing.T) {
	file := pages(page("http://a.de/"))
	file += strings.Repeat(" ", sites.MaxSitemapBytes-len(file))
	for _, sent := range []string{file, gzipped(t, file)} {
		if _, got, err := readAll(t, strings.NewReader(sent)); err != nil || !got.Complete {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	for _, sent := range []string{file + " ", gzipped(t, file+" "), file + strings.Repeat(" ", 1<<20)} {
		got, result, err := readAll(t, strings.NewReader(sent))
		if err == nil || err.Error() != "The file is larger than 50 MB. Reading stopped after 1 entry" || len(got) != 1 || result.Complete {
			t.Errorf("got %+v, %v", result, err)
		}
	}
}

// DOCTYPE entities are not resolved, and no external file is read.
func TestEntitiesOfADoctype(t *testing.T) {
	laughs := `<!DOCTYPE urlset [<!ENTITY lol0 "http://lol/">`
	for i := range 9 {
		n := string(rune('0' + i))
		laughs += "<!ENTITY lol" + string(rune('1'+i)) + ` "` + strings.Repeat("&lol"+n+";", 10) + `">`
	}
	for name, doctype := range map[string]string{
		"billion laughs": laughs + "]>",
		"quadratic":      `<!DOCTYPE urlset [<!ENTITY lol9 "` + strings.Repeat("x", 500_000) + `">]>`,
		"external":       `<!DOCTYPE urlset [<!ENTITY lol9 SYSTEM "file:///etc/passwd">]>`,
		"external DTD":   `<!DOCTYPE urlset SYSTEM "http://127.0.0.1:1/x.dtd">`,
		"parameter":      `<!DOCTYPE urlset [<!ENTITY % lol9 SYSTEM "http://127.0.0.1:1/x.dtd"> %lol9;]>`,
		"redefined":      `<!DOCTYPE urlset [<!ENTITY amp "http://evil/">]>`,
	} {
		file := xmlHead + doctype + "<urlset>" + page("http://a.de/?&lol9;") + page("http://a.de/?&amp;") + strings.Repeat("<url><lastmod>&lol9;</lastmod></url>", 10_000) + "</urlset>"
		used := allocated(func() {
			got, result, err := readAll(t, strings.NewReader(file))
			if err != nil || len(got) != 1 || got[0] != "http://a.de/?&" || result.Skipped != 10_001 ||
				result.Reasons[0] != "Entry 1: the URL has an entity that XML does not define" {
				t.Errorf("%s: got %q, %+v, %v", name, got, result, err)
			}
		})
		if used > 16<<20 {
			t.Errorf("%s: %d KiB allocated", name, used>>10)
		}
	}
}

// A tag with too many attributes ends the reading: it would make the tokenizer slow for all later tags.
func TestManyAttributesEndTheFile(t *testing.T) {
	file := "<urlset><url " + manyAttributes(50_000) + "/>" + strings.Repeat("<a b></a>", 1_000_000) + "</urlset>"
	if _, _, err := readAll(t, strings.NewReader(file)); err == nil || err.Error() != "The XML is broken after 0 entries: a tag has too many attributes" {
		t.Errorf("got %v", err)
	}
}

// Memory use does not grow with the size of a sitemap.
func TestMemoryOfALargeSitemap(t *testing.T) {
	file := urlset(sites.MaxSitemapURLs, "")
	var live, before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n := 0
	got, err := Read(bytes.NewReader(file), func(sites.Kind, sites.Entry) error {
		if n++; n == sites.MaxSitemapURLs {
			runtime.GC()
			runtime.ReadMemStats(&live)
		}
		return nil
	})
	if err != nil || !got.Complete || got.Entries != sites.MaxSitemapURLs {
		t.Errorf("got %+v, %v", got, err)
	}
	if used := int64(live.HeapAlloc) - int64(before.HeapAlloc); used > 1<<20 {
		t.Errorf("%d KiB in use", used>>10)
	}
}
