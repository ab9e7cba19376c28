package api

import (
	"strings"
	"testing"
)

// FuzzTags: entity tags that parse are quoted parts of the header, and parse again.
func FuzzTags(f *testing.F) {
	for _, header := range []string{"*", `"a"`, `"a", W/"b" ,"c"`, `"a" "b"`, `W/`, `"`, `,"a"`, `"a",`} {
		f.Add(header)
	}
	f.Fuzz(func(t *testing.T, header string) {
		tags, ok := parseTags(header)
		for _, tag := range tags {
			if !ok || !strings.Contains(header, tag) || len(tag) < 2 || strings.Count(tag, `"`) != 2 {
				t.Errorf("tag %q of %q", tag, header)
			}
		}
		again, ok := parseTags(strings.Join(tags, ", "))
		if !ok || len(again) != len(tags) {
			t.Errorf("%q: got %q, then %q", header, tags, again)
		}
	})
}
