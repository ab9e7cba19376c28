package shortlinks_test

import (
	"testing"

	"linkwatch/models/shortlinks"
)

// A short link is found with and without the characters that models.Ignored names.
func TestSearchIgnores(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("first"), func(n *shortlinks.New) { n.Title = "❤\ufe0f مَدْرَسَة" })
		f.add(key("second"), func(n *shortlinks.New) { n.Title = "מְנַהֵל" })
		for text, want := range map[string]string{"❤ مدرسة": "[first]", "❤\ufe0f مَدْرَسَة": "[first]", "מנהל": "[second]"} {
			if got := f.found(text, 5); got != want {
				t.Errorf("%s: got %s, want %s", text, got, want)
			}
		}
	})
}
