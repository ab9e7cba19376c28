package links_test

import (
	"slices"
	"strings"
	"testing"

	"linkwatch/models"
	"linkwatch/models/links"
)

// A search finds a text with and without the characters that people do not see or usually do not write.
func TestSearchIgnores(t *testing.T) {
	each(t, func(t fixture) {
		plain := t.titled("https://a.test/plain", "❤ heart")
		emoji := t.titled("https://a.test/emoji", "I ❤\ufe0f Go", "❤\ufe0f love")
		vowels := t.titled("https://a.test/vowels", "هَذِهِ مَدْرَسَةٌ كـــبيرة")
		none := t.titled("https://a.test/none", "مدرسة أحمد")
		points := t.titled("https://a.test/points", "שָׁלוֹם עוֹלָם")
		variant := t.titled("https://a.test/variant", "東京都葛\U000e0100飾区")
		address := t.titled("https://a.test/مُحَمَّد", "Address")
		for q, want := range map[string][]links.Link{
			"❤":                   {emoji, plain},
			"❤\ufe0f":             {emoji, plain},
			"❤\ufe0e heart":       {plain},
			"title:❤\ufe0f":       {emoji, plain},
			"\"❤\ufe0f heart\"":   {plain},
			"\"❤ go\"":            {emoji},
			"tag:❤":               {emoji}, // a part of its tag
			"tag:\"❤ love\"":      {emoji},
			"مدرسة":               {none, vowels},
			"مَدْرَسَةٌ":          {none, vowels},
			"كبيرة":               {vowels},
			"\"هذه مدرسة كبيرة\"": {vowels},
			"שלום":                {points},
			"\ufb2aָלום עולם":     {points},
			"葛飾":                  {variant},
			"葛\U000e0101飾区":       {variant},
			"url:محمد":            {address},
			"مُحمد":               {address},
		} {
			urls := []string{}
			for _, l := range want {
				urls = append(urls, l.URL)
			}
			got := t.urls(links.Filter{Query: q})
			slices.Sort(got)
			slices.Sort(urls)
			if !slices.Equal(got, urls) {
				t.Errorf("%s found %q, want %q", q, got, urls)
			}
		}
		for _, q := range []string{"\ufe0f", "ـ", "\u064b", "title:\ufe0f"} {
			_, err := t.List(t.Context(), links.Filter{Query: q}, firstPage)
			t.wantCode(err, models.CodeInvalid)
		}
		found, err := t.Find(t.Context(), "❤\ufe0f heart", 5)
		if err != nil || len(found) != 1 || found[0].ID != plain.ID {
			t.Errorf("global search: %+v, %v", found, err)
		}
	})
}

// Near misses are counted in the letters that are left.
func TestNearMissesIgnore(t *testing.T) {
	each(t, func(t fixture) {
		l := t.titled("https://a.test/a", "مَدْرَسَةٌ كَبِيرَةٌ", "مُهَنْدِسٌ")
		for q, want := range map[string]string{"مدرصة": "مدرسة", "كَبِيرَاة": "كبيرة", "tag:مهندز": "مهندس"} {
			found, err := t.List(t.Context(), links.Filter{Query: q}, firstPage)
			t.must(err)
			typed := models.Fold(strings.TrimPrefix(q, "tag:"))
			if len(found.Items) != 1 || found.Items[0].ID != l.ID || !slices.Equal(found.Near[typed], []string{want}) {
				t.Errorf("%s: %d links, near misses %q", q, len(found.Items), found.Near)
			}
		}
	})
}

// Names of tags that look the same are one tag, with the form that was stored first.
func TestTagsIgnore(t *testing.T) {
	each(t, func(t fixture) {
		a, b := t.add("https://a.test/a", "❤", "❤\ufe0f"), t.add("https://a.test/b", "❤\ufe0f", "شِدَّة")
		ts, err := t.AddTags(t.Context(), a.ID, []string{"❤\ufe0f", "شدة"})
		t.must(err)
		if len(ts) != 2 || ts[0].Name != "❤" || ts[0].LinkCount != 2 || ts[1].Name != "شِدَّة" || ts[1].LinkCount != 2 {
			t.Errorf("got %+v", ts)
		}
		if got := t.tagNames(links.TagsByLastUse); len(got) != 2 {
			t.Errorf("got tags %q", got)
		}
		for _, name := range []string{"❤", "❤\ufe0f", "شدة", "شِدّة"} {
			for _, f := range []links.Filter{{Tag: name}, {Query: "tag:" + name}} {
				if got := t.urls(f); len(got) != 2 {
					t.Errorf("%+v: %q", f, got)
				}
			}
			for what, list := range map[string]func() ([]links.Tag, error){
				"complete": func() ([]links.Tag, error) { return t.CompleteTags(t.Context(), name, 5) },
				"list": func() ([]links.Tag, error) {
					found, err := t.Tags(t.Context(), name, links.TagsByName, firstPage)
					return found.Items, err
				},
			} {
				if ts, err := list(); err != nil || len(ts) != 1 {
					t.Errorf("%s %s: %+v, %v", what, name, ts, err)
				}
			}
		}
		names, err := t.TagNames(t.Context(), []string{a.CanonicalURL})
		if err != nil || !slices.Contains(names[a.CanonicalURL], models.FoldName("❤\ufe0f")) {
			t.Errorf("names %q, %v", names, err)
		}

		heart := t.tag("❤")
		if same, err := t.SwapTag(t.Context(), a.ID, heart.ID, "❤\ufe0f"); err != nil || same.ID != heart.ID {
			t.Errorf("swapped for itself: %+v, %v", same, err)
		}
		renamed, merged, err := t.RenameTag(t.Context(), heart.ID, "❤\ufe0f")
		if err != nil || merged || renamed.Name != "❤\ufe0f" || renamed.ID != heart.ID {
			t.Errorf("another form: %+v, %v, %v", renamed, merged, err)
		}
		if into, n, err := t.MergeTarget(t.Context(), heart.ID, "شدة"); err != nil || n != 2 || into.Name != "شِدَّة" {
			t.Errorf("merge target %+v with %d links, %v", into, n, err)
		}
		if into, merged, err := t.RenameTag(t.Context(), heart.ID, "شدة"); err != nil || !merged || into.LinkCount != 2 {
			t.Errorf("merged: %+v, %v, %v", into, merged, err)
		}
		ch, err := t.TagAll(t.Context(), []string{"\u2b50\ufe0f"}, a.ID, b.ID)
		t.must(err)
		_, _, err = t.RenameTag(t.Context(), t.tag("\u2b50").ID, "\u2b50")
		t.must(err)
		if _, err := t.Undo(t.Context(), ch.ID); err != nil {
			t.Error(err)
		}
		if got := t.tagNames(links.TagsByName); !slices.Equal(got, []string{"شِدَّة"}) {
			t.Errorf("after undo: %q", got)
		}
		// A name of such characters alone is a name.
		if got := t.add("https://a.test/c", "ـ", "\u064b").Tags; len(got) != 2 || len(t.urls(links.Filter{Tag: "ـ"})) != 1 {
			t.Errorf("tags %q", got)
		}
	})
}
