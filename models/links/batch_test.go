package links_test

import (
	"testing"

	"linkwatch/models"
	"linkwatch/models/links"
)

// AddAll stores links without fetching them, and queues a refresh of the new ones.
func TestAddAll(t *testing.T) {
	each(t, func(f fixture) {
		known := f.add("https://a.test/known")
		f.web.requests = nil
		stored, err := f.AddAll(f.Context(), []links.New{{URL: "https://A.test/known#x"}, {URL: "https://b.test"}, {URL: "https://c.test"}, {URL: "https://c.test#again"}})
		f.must(err)
		if stored != 2 || len(f.web.requests) != 0 {
			f.Errorf("%d new links, requests %q", stored, f.web.requests)
		}
		ids, err := f.ByURLs(f.Context(), []string{"https://a.test/known", "https://b.test", "https://c.test", "https://none.test"})
		f.must(err)
		if len(ids) != 3 || ids["https://a.test/known"] != known.ID {
			f.Errorf("ids %v", ids)
		}
		if l := f.get(ids["https://b.test"]); l.Health != links.Unchecked || l.Expired() {
			f.Errorf("got %+v", l)
		}
		select {
		case <-f.RefreshQueued():
		default:
			f.Error("the refresher is not woken")
		}
		items := f.claimRefreshes(f.lease, 10)
		if len(items) != 2 {
			f.Fatalf("%d links are queued, want 2", len(items))
		}
		f.must(f.FinishRefreshes(f.Context(), f.refetch(items...)...))
		if l := f.get(ids["https://b.test"]); l.Health != links.OK || l.Title != "Page at https://b.test" {
			f.Errorf("after the refresh: %+v", l)
		}
		if stored, err := f.AddAll(f.Context(), []links.New{{URL: "https://b.test"}}); err != nil || stored != 0 || len(f.claimRefreshes(f.lease, 10)) != 0 {
			f.Errorf("existing link was stored %d times: %v", stored, err)
		}
		_, err = f.AddAll(f.Context(), []links.New{{URL: "https://d.test"}, {URL: "ftp://d.test"}})
		f.wantCode(err, models.CodeInvalid)
		_, err = f.AddAll(f.Context(), make([]links.New, links.MaxBulk+1))
		f.wantCode(err, models.CodeInvalid)
	})
}

func TestHealthOf(t *testing.T) {
	each(t, func(f fixture) {
		l := f.add("https://a.test/old")
		f.web.set("https://a.test/old", links.Page{Status: 200, URL: "https://a.test/new", Permanent: true})
		f.clock.Advance(2 * week)
		_, err := f.Record(f.Context(), f.check(f.claim(f.lease, 1)...)...)
		f.must(err)
		f.add("https://b.test")
		got, err := f.HealthOf(f.Context(), []string{"https://a.test/old", "https://b.test", "https://none.test"})
		f.must(err)
		if a := got["https://a.test/old"]; len(got) != 2 || a.ID != l.ID || a.Health != links.Moved || a.MovedTo != "https://a.test/new" || a.LastStatusCode != 200 ||
			a.LastCheckedAt != f.Now() || got["https://b.test"].Health != links.OK {
			f.Errorf("got %+v", got)
		}
		if got, err := f.HealthOf(f.Context(), nil); err != nil || len(got) != 0 {
			f.Errorf("no URLs: %+v %v", got, err)
		}
	})
}
