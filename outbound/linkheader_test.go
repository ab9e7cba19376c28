package outbound

import (
	"net/http"
	"strings"
	"testing"
)

func TestCanonicalOfLinkHeaders(t *testing.T) {
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{nil, ""},
		{[]string{`<https://example.com/a>; rel="canonical"`}, "https://example.com/a"},
		{[]string{`<https://example.com/a>;rel=canonical`}, "https://example.com/a"},
		{[]string{` < /a > ; REL = "next Canonical" ; title="x"`}, "/a"},
		{[]string{`</a>; rel=preload; as=style, </b>; rel=canonical`}, "/b"},
		{[]string{`</a,b;c>; title="x>, <y>; rel=canonical \" "; rel=next, </b>; rel=canonical`}, "/b"},
		{[]string{`</a>; rel=preload`, `</b>; crossorigin; rel=canonical`}, "/b"},
		{[]string{`</a>; rel=canonical, </b>; rel=canonical`}, "/a"},
		{[]string{`</a>; rel=next; rel=canonical`}, ""},
		{[]string{`</a>; anchor="/other"; rel=canonical`, `</b>; rel=canonical`}, "/b"},
		{[]string{`</a>; rel=canonicals`}, ""},
		{[]string{`/a; rel=canonical`, `</a`, `</a>`, `</a>; rel`, `</a>; rel=`, `</a>; rel="`, ``, `,`}, ""},
		{[]string{`</a>; rel="canonical`}, "/a"},
		{[]string{`</a>; rel=next x </b>; rel=canonical`}, ""},
	} {
		if got := canonicalOf(http.Header{"Link": c.lines}); got != c.want {
			t.Errorf("%q: got %q, want %q", c.lines, got, c.want)
		}
	}
}

// The link in the page comes first; that in the header is relative to the request, not to <base>.
func TestCanonicalOfAHeader(t *testing.T) {
	header := http.Header{"Link": {`<c>; rel="canonical"`}}
	for body, want := range map[string]string{
		"":                                     "https://example.com/a/c",
		"<base href=//b.example/>":             "https://example.com/a/c",
		`<link rel=canonical href="d">`:        "https://example.com/a/d",
		`<link rel=canonical href="ftp://x/">`: "",
	} {
		if got := ParsePage([]byte(body), "https://example.com/a/b", header, "").Canonical; got != want {
			t.Errorf("%q: got %q, want %q", body, got, want)
		}
	}
}

func FuzzCanonicalOf(f *testing.F) {
	f.Add(`</a,b;c>; title="x>, <y> \" "; rel=next, </b>; rel=canonical`)
	f.Add(`</a>; rel="canonical`)
	f.Add(`<>;;;=,"\`)
	f.Fuzz(func(t *testing.T, line string) {
		got := canonicalOf(http.Header{"Link": {line}})
		if !strings.Contains(line, got) || strings.Contains(got, ">") {
			t.Errorf("got %q", got)
		}
		if after := canonicalOf(http.Header{"Link": {"</x>; rel=canonical, " + line}}); after != "/x" {
			t.Errorf("after another link: %q", after)
		}
	})
}
