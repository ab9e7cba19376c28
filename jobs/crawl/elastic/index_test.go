package elastic

import (
	"regexp"
	"strings"
	"testing"

	"linkwatch/models/crawl"
)

func TestIndexNames(t *testing.T) {
	for name, want := range map[string]string{
		"News": "news", "The Daily-News (UK)": "the_daily_news_uk", "_-+x+-_": "x", "..": "s_1ab", "": "s_1ab", "日本": "s_1ab", "Café 24": "caf_24",
		"a/../b": "a_b", strings.Repeat("long ", 100): strings.Repeat("long_", 37) + "lon", strings.Repeat("a", 187) + " b": strings.Repeat("a", 187),
	} {
		if got := Index(crawl.Document{SourceName: name, SourceID: "s_1Ab"}); got != want+"_raw_content" {
			t.Errorf("%q: got %s (%d bytes)", name, got, len(got))
		}
	}
	if got := Index(crawl.Document{}); got != "source_raw_content" {
		t.Error(got)
	}
}

// FuzzIndex checks that every name is valid for engines and is its own index name.
func FuzzIndex(f *testing.F) {
	for _, seed := range []string{"", "News", "_x", "日本", "İ", "a.b", strings.Repeat("x", 300)} {
		f.Add(seed, seed)
	}
	valid := regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)*_raw_content$`)
	f.Fuzz(func(t *testing.T, name, id string) {
		got := Index(crawl.Document{SourceName: name, SourceID: id})
		if !valid.MatchString(got) || len(got) > maxIndex {
			t.Errorf("%q: got %q", name, got)
		}
		again := Index(crawl.Document{SourceName: strings.TrimSuffix(got, suffix)})
		if again != got {
			t.Errorf("%q: got %q, then %q", name, got, again)
		}
	})
}
