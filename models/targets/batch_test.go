package targets_test

import (
	"testing"

	"linkwatch/models"
	"linkwatch/models/targets"
)

func TestAddAll(t *testing.T) {
	each(t, func(f fixture) {
		known := f.add("https://a.test/known")
		added, err := f.AddAll(f.Context(), []targets.New{
			{URL: "https://A.test/known#x", Name: "Other"}, {URL: "https://b.test", Name: " B "}, {URL: "https://c.test/1"}, {URL: "https://c.test/1#again"},
		})
		f.must(err)
		if added != 2 {
			f.Errorf("%d are new, want 2", added)
		}
		ids, err := f.ByURLs(f.Context(), []string{"https://a.test/known", "https://b.test", "https://c.test/1", "https://none.test"})
		f.must(err)
		if len(ids) != 3 || ids["https://a.test/known"] != known.ID {
			f.Errorf("ids %v", ids)
		}
		got, err := f.Get(f.Context(), ids["https://b.test"])
		f.must(err)
		if got.Name != "B" || got.Host != "b.test" || got.Status() != targets.Pending || got.NextCheckAt != f.Now() || got.ClaimedBy != "" {
			f.Errorf("%+v", got)
		}
		f.must(f.Delete(f.Context(), known.ID))
		if ids, err := f.ByURLs(f.Context(), []string{"https://a.test/known"}); err != nil || len(ids) != 0 {
			f.Errorf("a deleted target is found: %v %v", ids, err)
		}
		_, err = f.AddAll(f.Context(), []targets.New{{URL: "https://d.test"}, {URL: "ftp://d.test"}})
		f.is(err, models.CodeInvalid, "url")
		_, err = f.AddAll(f.Context(), make([]targets.New, targets.MaxBatch+1))
		f.is(err, models.CodeInvalid, "targets")
		if added, err := f.AddAll(f.Context(), nil); err != nil || added != 0 {
			f.Errorf("of none %d are new: %v", added, err)
		}
		if counts, err := f.Counts(f.Context()); err != nil || counts.All() != 2 {
			f.Errorf("%v %v", counts, err)
		}
	})
}

func TestStatusOf(t *testing.T) {
	each(t, func(f fixture) {
		is := f.add("https://a.test/down")
		f.check(down())
		paused := f.add("https://b.test")
		_, err := f.Edit(f.Context(), paused.ID, targets.Edit{Paused: new(true)})
		f.must(err)
		gone := f.add("https://c.test")
		f.must(f.Delete(f.Context(), gone.ID))
		got, err := f.StatusOf(f.Context(), []string{"https://a.test/down", "https://b.test", "https://c.test", "https://none.test"})
		f.must(err)
		if a := got["https://a.test/down"]; len(got) != 2 || a.ID != is.ID || a.Status() != targets.Down || a.LastStatusCode != 500 ||
			a.LastCheckedAt != f.Now() || a.LastError != "unexpected status 500" || got["https://b.test"].Status() != targets.Paused {
			f.Errorf("%+v", got)
		}
		if got, err := f.StatusOf(f.Context(), nil); err != nil || len(got) != 0 {
			f.Errorf("of none: %+v %v", got, err)
		}
	})
}
