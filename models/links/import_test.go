package links_test

import (
	"fmt"
	"slices"
	"testing"

	"linkwatch/models"
	"linkwatch/models/links"
)

func TestImport(t *testing.T) {
	each(t, func(t fixture) {
		t.add("https://a.test/have", "old")
		var ns []links.New
		for i := range 1500 {
			ns = append(ns, links.New{URL: fmt.Sprintf("https://b.test/%d", i), Tags: []string{"imported", fmt.Sprint("n", i%7)}})
		}
		ns = append(ns, links.New{URL: "https://a.test/have/", Tags: []string{"more"}}, links.New{URL: "https://b.test/3#again", Tags: []string{"twice"}})
		stored, err := t.Import(t.Context(), ns)
		t.must(err)
		if stored != 1500 || len(t.web.requests) != 1 {
			t.Errorf("%d stored, %d requests", stored, len(t.web.requests))
		}
		if got := t.tag("imported"); got.LinkCount != 1500 {
			t.Errorf("got %+v", got)
		}
		if got := t.urls(links.Filter{Query: "tag:twice"}); !slices.Equal(got, []string{"https://b.test/3"}) {
			t.Errorf("got %q", got)
		}
		if got := t.urls(links.Filter{Query: "tag:old,more"}); !slices.Equal(got, []string{"https://a.test/have"}) {
			t.Errorf("got %q", got)
		}
		c, err := t.Counts(t.Context())
		t.must(err)
		if c.Active != 1501 || c.Health[links.Unchecked] != 1500 {
			t.Errorf("got %+v", c)
		}
		due := t.claim(t.lease, 10)
		if len(due) > 1 { // spread over a day; one may be due now
			t.Errorf("%d links are due right after an import", len(due))
		}
		if _, err := t.Import(t.Context(), []links.New{{URL: "https://c.test/"}, {URL: "nonsense"}}); models.CodeOf(err) != models.CodeInvalid {
			t.Errorf("got %v", err)
		}
		after, err := t.Counts(t.Context())
		t.must(err)
		if after.Active != c.Active {
			t.Errorf("%d links were stored with an invalid one", after.Active-c.Active)
		}
	})
}
