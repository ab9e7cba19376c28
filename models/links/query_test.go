package links

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"linkwatch/models"
)

func words(ws ...string) (out []Word) {
	for _, w := range ws {
		out = append(out, Word{w})
	}
	return out
}

func tagNames(ns ...string) (out []TagName) {
	for _, n := range ns {
		out = append(out, TagName{n, Word{n}})
	}
	return out
}

func TestParseQuery(t *testing.T) {
	for in, want := range map[string]Query{
		"":                          {},
		" \t ":                      {},
		"Go  LANG":                  {Words: words("go", "lang")},
		`"The Go" x`:                {Words: words("the go", "x")},
		"a tag:b c title:d e url:f": {Words: words("a"), Tags: []TagGroup{{false, tagNames("b", "c")}}, Title: words("d", "e"), URL: words("f")},
		"tag:a,b":                   {Tags: []TagGroup{{true, tagNames("a", "b")}}},
		"tag:a, b":                  {Tags: []TagGroup{{false, tagNames("a", "b")}}},
		"tag:a ,b":                  {Tags: []TagGroup{{false, tagNames("a", "b")}}},
		"tag:a,,b":                  {Tags: []TagGroup{{true, tagNames("a", "b")}}},
		`tag:"a b",c`:               {Tags: []TagGroup{{true, tagNames("a b", "c")}}},
		"tag: a":                    {Tags: []TagGroup{{true, tagNames("a")}}},
		"tag:a tag:b":               {Tags: []TagGroup{{true, tagNames("a")}, {true, tagNames("b")}}},
		"tag:Café":                  {Tags: []TagGroup{{true, []TagName{{"café", Word{"cafe"}}}}}},
		"TAG:a":                     {Tags: []TagGroup{{true, tagNames("a")}}},
		"a,b":                       {Words: words("a,b")},
		"https://x.y":               {Words: words("https://x.y")},
		"url:https://x.y":           {URL: words("https://x.y")},
		"c# don't 100% a_b":         {Words: words("c#", "don't", "100%", "a_b")},
		"tags:x":                    {Words: words("tags:x")},
		"\u202e\x00x":               {Words: words("x")},
		"\u200b \u202e":             {},
		`""`:                        {},
		`title:a""`:                 {Title: words("a")},
	} {
		got, err := ParseQuery(in)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %+v (%v), want %+v", in, got, err, want)
		}
	}
	for in, where := range map[string]string{
		`a "b`:                   "at character 3: the quote is not closed",
		`"`:                      "at character 1: the quote is not closed",
		`é don"t`:                "at character 6: the quote",
		"tag:":                   "at character 1: tag: needs a word after it",
		"a url: ":                "at character 3: url: needs a word after it",
		"tag: url:x":             "at character 1: tag: needs a word after it",
		`title:""`:               "at character 1: title: needs a word after it",
		"tag:,":                  "at character 1: tag: needs a word after it",
		strings.Repeat("a ", 33): "at most 32 words",
		strings.Repeat("a", 513): "at most 512 bytes",
	} {
		_, err := ParseQuery(in)
		if models.CodeOf(err) != models.CodeInvalid || !strings.Contains(err.Error(), where) {
			t.Errorf("%.20q: %v, want %q", in, err, where)
		}
	}
}

// FuzzQuery checks that every query returns links or an error for the user. No input is FTS5 syntax.
func FuzzQuery(f *testing.F) {
	for _, s := range []string{`a "b c" tag:x,y url:z`, "c#", "don't", "%_", `"`, "NEAR(a b)", "a* OR -b ^c", "title : x", "语 言", "\x00\ufffd\ue022", "{title}:x"} {
		f.Add(s)
	}
	ctx := context.Background()
	db, err := models.Open(ctx, models.SQLite, filepath.Join(f.TempDir(), "fuzz.db"), slog.New(slog.DiscardHandler))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = db.Close() })
	if err := db.Migrate(ctx); err != nil {
		f.Fatal(err)
	}
	s := NewStore(db, nil, nil, Options{CheckInterval: 1})
	if _, err := s.Import(ctx, []New{{URL: "https://example.com/a", Title: `c# don't "quoted" 100%_ 语言`, Tags: []string{"x", "y z"}}}); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, q string) {
		found, err := s.List(ctx, Filter{Query: q}, models.Page{Number: 1, Size: 10})
		if err != nil && models.CodeOf(err) != models.CodeInvalid {
			t.Fatalf("%q: %v", q, err)
		}
		if err == nil && found.Total != len(found.Items) {
			t.Fatalf("%q: total %d with %d items", q, found.Total, len(found.Items))
		}
	})
}

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"example", "example", 0}, {"exmaple", "example", 1}, {"exampel", "example", 1}, {"exmpel", "example", 2},
		{"kitten", "sitting", 3}, {"tset", "test", 1}, {"", "ab", 2}, {"abc", "", 3}, {"пример", "премьер", 2}, {"ab", "ba", 1},
	} {
		if got := editDistance([]rune(c.a), []rune(c.b), maxEdits); got != c.want {
			t.Errorf("%q to %q takes %d, want %d", c.a, c.b, got, c.want)
		}
	}
	// Compare with the plain definition, with random short words.
	rnd := rand.New(rand.NewPCG(3, 4))
	word := func() []rune {
		w := make([]rune, rnd.IntN(6))
		for i := range w {
			w[i] = rune('a' + rnd.IntN(3))
		}
		return w
	}
	for range 2000 {
		a, b := word(), word()
		if got, want := editDistance(a, b, maxEdits), min(plainEditDistance(a, b), maxEdits+1); got != want {
			t.Fatalf("%q to %q takes %d, want %d", string(a), string(b), got, want)
		}
	}
}

func plainEditDistance(a, b []rune) int {
	if len(a) == 0 || len(b) == 0 {
		return len(a) + len(b)
	}
	i, j := len(a)-1, len(b)-1
	cost := 1
	if a[i] == b[j] {
		cost = 0
	}
	d := min(plainEditDistance(a[:i], b)+1, plainEditDistance(a, b[:j])+1, plainEditDistance(a[:i], b[:j])+cost)
	if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
		d = min(d, plainEditDistance(a[:i-1], b[:j-1])+1)
	}
	return d
}
