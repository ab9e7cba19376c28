package links_test

import (
	"testing"

	"linkwatch/models"
	"linkwatch/models/links"
)

func TestApplyMove(t *testing.T) {
	each(t, func(t fixture) {
		t.web.set("http://a.test/", links.Page{Status: 200, URL: "https://a.test/", Permanent: true})
		l := t.add("http://a.test/")
		if l.Health != links.Moved || l.MovedTo != "https://a.test/" || l.URL != "http://a.test/" {
			t.Fatalf("got %+v", l)
		}
		moved, err := t.ApplyMove(t.Context(), l.ID)
		t.must(err)
		if moved.URL != "https://a.test/" || moved.CanonicalURL != "https://a.test" || moved.Health != links.OK || moved.MovedTo != "" {
			t.Errorf("got %+v", moved)
		}
		_, err = t.ApplyMove(t.Context(), l.ID)
		t.wantCode(err, models.CodeConflict)

		t.web.set("http://b.test/", links.Page{Status: 200, URL: "https://a.test", Permanent: true})
		other := t.add("http://b.test/")
		_, err = t.ApplyMove(t.Context(), other.ID)
		t.wantCode(err, models.CodeConflict)
		if got := t.get(other.ID); got.URL != "http://b.test/" {
			t.Errorf("partly moved: %+v", got)
		}
	})
}
