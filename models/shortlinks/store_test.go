package shortlinks_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
)

func (f fixture) list(filter shortlinks.Filter) (keys []string) {
	f.Helper()
	after := models.Cursor{}
	for {
		page, err := f.List(f.Context(), filter, after, 2)
		f.must(err)
		for _, l := range page.Items {
			keys = append(keys, l.Key)
		}
		if after = page.Next; !page.More() {
			return keys
		}
	}
}

func TestList(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("live"), func(n *shortlinks.New) { n.Title = "Größe 100%" })
		f.clock.Advance(time.Second)
		f.add(key("used"), limit(1)) // links with the same time are ordered by key
		f.add(key("ends"), ttl(time.Minute))
		f.add(key("off1"), ttl(time.Minute))
		f.add(key("dead"))
		_, err := f.Edit(f.Context(), "off1", shortlinks.Edit{Disabled: new(true)})
		f.must(err)
		f.visit("used")
		f.must(f.Delete(f.Context(), "dead"))
		f.clock.Advance(time.Minute)
		f.add(key("last"), limit(2), ttl(time.Hour))
		for name, c := range map[string]struct {
			filter shortlinks.Filter
			want   []string
		}{
			"all":            {shortlinks.Filter{}, []string{"live", "ends", "off1", "used", "last"}},
			"newest":         {shortlinks.Filter{Newest: true}, []string{"last", "used", "off1", "ends", "live"}},
			"active":         {shortlinks.Filter{Status: shortlinks.Active}, []string{"live", "last"}},
			"expired":        {shortlinks.Filter{Status: shortlinks.Expired}, []string{"ends", "used"}},
			"disabled":       {shortlinks.Filter{Status: shortlinks.Disabled}, []string{"off1"}},
			"joker in title": {shortlinks.Filter{Text: "gr%e"}, nil},
			"sign":           {shortlinks.Filter{Text: "größe 100%"}, []string{"live"}},
			"key":            {shortlinks.Filter{Text: "FF"}, []string{"off1"}},
			"address":        {shortlinks.Filter{Text: "example.com/PAGE", Status: shortlinks.Active, Newest: true}, []string{"last", "live"}},
			"joker":          {shortlinks.Filter{Text: "l_st"}, nil},
		} {
			got := f.list(c.filter)
			if !slices.Equal(got, c.want) && len(got)+len(c.want) > 0 {
				t.Errorf("%s: got %v, want %v", name, got, c.want)
			}
			for _, k := range got {
				if status := f.get(k).Status(f.Now()); c.filter.Status != "" && status != c.filter.Status {
					t.Errorf("%s: got status %s", k, status)
				}
			}
		}
		_, err = f.List(f.Context(), shortlinks.Filter{}, models.Cursor{CreatedAt: f.Now(), ID: "x'\x00"}, 2)
		f.wantError(err, models.CodeInvalid, "query.page_token")
	})
}

// A page starts after the last item of the previous one, even if items were added or deleted meanwhile.
func TestListWhileItChanges(t *testing.T) {
	each(t, func(f fixture) {
		for i := range 6 {
			f.add(key(fmt.Sprintf("key-%d", i)))
			f.clock.Advance(time.Second)
		}
		page, err := f.List(f.Context(), shortlinks.Filter{}, models.Cursor{}, 3)
		f.must(err)
		f.must(f.Delete(f.Context(), "key-1"))
		f.must(f.Delete(f.Context(), "key-2"))
		f.add(key("key-6"))
		page, err = f.List(f.Context(), shortlinks.Filter{}, page.Next, 10)
		f.must(err)
		if len(page.Items) != 4 || page.Items[0].Key != "key-3" || page.More() {
			t.Errorf("got %+v", page.Items)
		}
	})
}

func TestByURL(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("old1"))
		f.add(key("ends"), ttl(time.Minute))
		f.clock.Advance(time.Hour)
		f.add(key("off1"))
		_, err := f.Edit(f.Context(), "off1", shortlinks.Edit{Disabled: new(true)})
		f.must(err)
		if l, ok, err := f.ByURL(f.Context(), "https://example.com/page"); err != nil || !ok || l.Key != "old1" {
			t.Errorf("got %v, %v, %v", l.Key, ok, err)
		}
		if _, ok, err := f.ByURL(f.Context(), "https://example.com"); err != nil || ok {
			t.Errorf("got %v, %v", ok, err)
		}
	})
}

// A short link that has expired and has no visits left is in the list once, and pages are complete.
func TestListOfExpired(t *testing.T) {
	each(t, func(f fixture) {
		f.addMany(9, "expires_at = CASE WHEN seq % 3 <> 1 THEN created_at + 1 END, exhausted_at = CASE WHEN seq % 3 <> 0 THEN created_at END")
		f.clock.Advance(time.Minute)
		for _, newest := range []bool{false, true} {
			var got []string
			for after := (models.Cursor{}); ; {
				page, err := f.List(f.Context(), shortlinks.Filter{Status: shortlinks.Expired, Newest: newest}, after, 2)
				f.must(err)
				for _, l := range page.Items {
					got = append(got, l.Key)
				}
				if after = page.Next; !page.More() {
					break
				}
			}
			slices.Sort(got)
			if len(got) != 9 || len(slices.Compact(got)) != 9 {
				t.Errorf("newest %v: got %v", newest, got)
			}
		}
	})
}

// If many links have expired, the list is read in index order; if few have, it is sorted. Both
// return the same list.
func TestListOfManyExpired(t *testing.T) {
	f := newFixture(t, modelstest.New(t))
	f.addMany(20_500, "expires_at = 1")
	f.add(key("live"))
	page, err := f.List(f.Context(), shortlinks.Filter{Status: shortlinks.Expired, Newest: true}, models.Cursor{}, 5)
	if err != nil || len(page.Items) != 5 || page.Items[0].Key != "k-020499" || !page.More() {
		t.Errorf("got %+v, %v", page, err)
	}
	f.clock.Advance(2 * time.Hour)
	f.reap(10_000)
	after, err := f.List(f.Context(), shortlinks.Filter{Status: shortlinks.Expired}, models.Cursor{}, 5)
	if err != nil || len(after.Items) != 5 || after.Items[0].Key != "k-000000" {
		t.Errorf("got %+v, %v", after, err)
	}
}
