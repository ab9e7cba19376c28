package targets_test

import (
	"fmt"
	"testing"

	"linkwatch/models"
	"linkwatch/models/targets"
)

// A target is found with and without the characters that models.Ignored names.
func TestSearchIgnores(t *testing.T) {
	each(t, func(f fixture) {
		for i, name := range []string{"❤\ufe0f مَدْرَسَة", "מְנַהֵל"} {
			_, _, err := f.Add(t.Context(), targets.New{URL: fmt.Sprintf("https://a.test/%d", i), Name: name})
			f.must(err)
		}
		for _, text := range []string{"❤ مدرسة", "❤\ufe0f مَدْرَسَة", "מנהל"} {
			found, err := f.Find(t.Context(), text, 5)
			f.must(err)
			page, err := f.List(t.Context(), targets.Filter{Text: text}, models.Cursor{}, 5)
			f.must(err)
			if len(found) != 1 || len(page.Items) != 1 {
				t.Errorf("%s: found %d, listed %d", text, len(found), len(page.Items))
			}
		}
	})
}
