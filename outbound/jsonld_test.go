package outbound

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func linkedData(script string) string {
	return ParsePage([]byte("<script type=' Application/LD+json'>"+script+"</script>"), testPage, nil, "").JSONLD
}

func TestJSONLD(t *testing.T) {
	for in, want := range map[string]string{
		`{"@type":"http://schema.org/NewsArticle","headline":"H","author":"A","publisher":"P","image":"i.png","wordCount":5}`:                               `[{"@type":"NewsArticle","headline":"H","author":[{"name":"A"}],"publisher":{"name":"P"},"image":"i.png","wordCount":5}]`,
		`[{"@type":["Article","X"],"author":[{"@type":"Person","name":"A"},"B",{"x":1}],"publisher":{"name":["P"]},"image":[{"url":"i"}],"wordCount":"7"}]`: `[{"@type":"Article","author":[{"name":"A"},{"name":"B"}],"publisher":{"name":"P"},"image":"i","wordCount":7}]`,
		`{"@context":"x","@graph":[{"@type":"WebSite","name":"N","url":{"@id":"u"}},{"@type":"Person","name":{"@value":"V"}}]}`:                             `[{"@type":"WebSite","name":"N","url":"u"},{"@type":"Person","name":"V"}]`,
		`{"name":"a","name":"b","keywords":["x","y"],"inLanguage":{"name":"German","alternateName":"de"}}`:                                                  `[{"name":"a","inLanguage":"German","keywords":"x, y"}]`,
		"<!-- {\"name\":\"a\nb\"} -->":                 `[{"name":"a b"}]`,
		"//<![CDATA[\n{\"name\":\"a\"}\n//]]>":         `[{"name":"a"}]`,
		"/*<![CDATA[*/ [{\"name\":\"a\"}] /*]]>*/":     `[{"name":"a"}]`,
		`{"name":"a"};`:                                `[{"name":"a"}]`,
		`[{"name":"a"},{"name":"b"`:                    "",
		`{"name":"a",}`:                                "",
		`{"name":null,"author":{},"publisher":[]}`:     "",
		`{"name":"<b>"}`:                               `[{"name":"\u003cb\u003e"}]`,
		`{"name":"` + strings.Repeat("x", 2000) + `"}`: `[{"name":"` + strings.Repeat("x", thingTextLimit) + `"}]`,
		`"x"`: "", ``: "", `{`: "", `[[[]]]`: "", `{1:2}`: "", "\x00": "",
	} {
		if got := linkedData(in); got != want {
			t.Errorf("%.200s\ngot  %.300s\nwant %.300s", in, got, want)
		}
	}
	two := ParsePage([]byte(`<script type=application/ld+json>{"name":"a"}</script><script type=application/ld+json>{</script><script>{"name":"x"}</script><script type=application/ld+json>{"name":"b"}</script>`), testPage, nil, "")
	if two.JSONLD != `[{"name":"a"},{"name":"b"}]` || two.Text != "" {
		t.Errorf("got %+v", two)
	}
}

func TestHostileJSONLD(t *testing.T) {
	for _, in := range []string{
		strings.Repeat("[", 10_001), strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), strings.Repeat(`{"@graph":`, 10_000), strings.Repeat(`{"author":`, 20_000),
		`{"author":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + "}", `{"name":"` + strings.Repeat("x", 5<<20) + `"}`,
		"[" + strings.Repeat(`{"name":"x"},`, 20_000) + "1]", "{" + strings.Repeat(`"name":"x",`, 20_000) + `"name":1}`,
		`[{"keywords":[` + strings.Repeat(`"a",`, 60_000) + `1]}]`,
	} {
		if got := linkedData(in); len(got) > jsonLDLimit || got != "" && !json.Valid([]byte(got)) {
			t.Errorf("%.20s: got %d bytes, %.100s", in, len(got), got)
		}
	}
	many := strings.Repeat(`<script type=application/ld+json>{"description":"`+strings.Repeat("x", 900)+`"}</script>`, 5000)
	if got := ParsePage([]byte(many), testPage, nil, "").JSONLD; len(got) > jsonLDLimit || !json.Valid([]byte(got)) {
		t.Errorf("got %d bytes", len(got))
	}
}

func FuzzJSONLD(f *testing.F) {
	for _, s := range []string{`{"@graph":[{"author":["a",{"name":{"@value":"b"}}]}]}`, "<![CDATA[{}", `{"image":{"url":["x"]},"wordCount":1e3}`, `[{"a":`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		var found things
		found.add(script)
		got := found.json()
		if len(got) > jsonLDLimit {
			t.Errorf("%d bytes", len(got))
		}
		var all []thing
		if err := json.Unmarshal([]byte(got), &all); got != "" && (err != nil || len(all) == 0) {
			t.Errorf("%v: %s", err, got)
		}
	})
}

func TestAuthorsAndDates(t *testing.T) {
	const ld = "<script type=application/ld+json>"
	day := time.Date(2024, 3, 5, 0, 0, 0, 0, time.UTC)
	for in, want := range map[string]Page{
		`<meta property=article:published_time content="2024-03-05T01:00:00+01:00"><meta property=article:modified_time content=2024-03-05T00:00Z>`: {Published: day, Modified: day},
		ld + `{"@type":"Article","datePublished":"2024-03-05","dateModified":["2024-03-05T00:00:00.000Z"],"author":["A",{"name":"B"}]}</script>`:    {Author: "A, B", Published: day, Modified: day},
		`<time datetime=2024-03-05 pubdate>today</time><time datetime=2024-03-05T00:00 itemprop=dateModified>`:                                      {Published: day, Modified: day},
		`<meta itemprop=datePublished content="March 5, 2024"><meta name=author content=" A  B ">`:                                                  {Author: "A B", Published: day},
		`<meta name=DC.date content=2024/03/05><meta property=article:author content=https://example.com/a><meta name=dc.creator content=C>`:        {Author: "C", Published: day},
		`<meta name=date content=2024-03-05t01:00:00+01:00><meta name=last-modified content=2024-03-05t00:00:00.0z>`:                                {Published: day, Modified: day},
		`<time datetime="2024-03-05 00:00:00z" pubdate>` + ld + `{"headline":"h","dateModified":"2024-03-05T00:00:00z"}</script>`:                   {Published: day, Modified: day},
		`<meta name=date content=soon><meta name=pubdate content="Tue, 05 Mar 2024 00:00:00 GMT">`:                                                  {Published: day},
		`<meta name=date content=1989-12-31><time datetime=2024-03-05>no</time>`:                                                                    {},
		`<meta name=date content=` + time.Now().AddDate(2, 0, 0).Format(time.DateOnly) + `>`:                                                        {},
		`<meta name=date content="` + strings.Repeat("2", 5000) + `"><template><time datetime=2024-03-05 pubdate></template>`:                       {},
	} {
		got := ParsePage([]byte(in), testPage, nil, "")
		if got.Author != want.Author || !got.Published.Equal(want.Published) || !got.Modified.Equal(want.Modified) {
			t.Errorf("%.120s\ngot %q %v %v", in, got.Author, got.Published, got.Modified)
		}
	}
}

func FuzzParseDate(f *testing.F) {
	now := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, s := range []string{"2024-03-05T01:00:00+01:00", "Mon, 2 Jan 2006 15:04:05 CET", "2026-06", "0000-00-00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d := parseDate(s, now); !d.IsZero() && (d.Year() < 1990 || d.Year() > 2026 || d.Location() != time.UTC) {
			t.Errorf("%q: %v", s, d)
		}
	})
}
