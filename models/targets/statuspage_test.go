package targets_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/targets"
)

func TestStatusPages(t *testing.T) {
	each(t, func(f fixture) {
		ids := f.addMany(3)
		p, err := f.AddPage(f.Context(), targets.PageSettings{Slug: "main", Title: " Our  services ", Description: "All.", TargetIDs: []string{ids[2], ids[0], ids[2]}})
		f.must(err)
		if p.Title != "Our services" || p.Size != 2 || p.Targets[0].ID != ids[2] || p.Targets[1].ID != ids[0] {
			t.Errorf("%+v", p)
		}
		_, err = f.AddPage(f.Context(), targets.PageSettings{Slug: "main", Title: "Again"})
		f.is(err, models.CodeConflict, "")
		p, err = f.EditPage(f.Context(), p.ID, targets.PageSettings{Slug: "main-2", Title: "Services", TargetIDs: ids[:2]})
		f.must(err)
		if p.Slug != "main-2" || p.Description != "" || p.Size != 2 {
			t.Errorf("%+v", p)
		}
		bySlug, err := f.PageBySlug(f.Context(), "main-2")
		f.must(err)
		if bySlug.ID != p.ID || len(bySlug.Targets) != 2 {
			t.Errorf("%+v", bySlug)
		}
		for id, code := range map[string]models.Code{ids[0]: "", ids[2]: models.CodeNotFound, "nonsense": models.CodeNotFound} {
			if _, err := f.PublicTarget(f.Context(), id); models.CodeOf(err) != code || code == "" && err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
		f.must(f.Delete(f.Context(), ids[0]))
		all, err := f.Pages(f.Context())
		f.must(err)
		if len(all) != 1 || all[0].Size != 1 {
			t.Errorf("%+v", all)
		}
		f.must(f.DeletePage(f.Context(), p.ID))
		f.is(f.DeletePage(f.Context(), p.ID), models.CodeNotFound, "")
		_, err = f.PageBySlug(f.Context(), "main-2")
		f.is(err, models.CodeNotFound, "")
	})
}

func TestStatusPagesRejectInvalidInput(t *testing.T) {
	each(t, func(f fixture) {
		for location, e := range map[string]targets.PageSettings{
			"slug":        {Slug: "Not OK", Title: "t"},
			"title":       {Slug: "s"},
			"description": {Slug: "s", Title: "t", Description: strings.Repeat("d", 2001)},
			"targets[0]":  {Slug: "s", Title: "t", TargetIDs: []string{models.NewID(models.KindTarget)}},
			"targets":     {Slug: "s", Title: "t", TargetIDs: make([]string, 101)},
		} {
			_, err := f.AddPage(f.Context(), e)
			f.is(err, models.CodeInvalid, location)
		}
		for _, slug := range []string{"", "new", strings.Repeat("s", 65), "ä"} {
			_, err := f.AddPage(f.Context(), targets.PageSettings{Slug: slug, Title: "t"})
			f.is(err, models.CodeInvalid, "slug")
		}
	})
}

// An edit does not restore a page that is deleted at the same time.
func TestEditedPageStaysDeleted(t *testing.T) {
	each(t, func(f fixture) {
		for range 20 {
			p, err := f.AddPage(f.Context(), targets.PageSettings{Slug: "s", Title: "t"})
			f.must(err)
			var wg sync.WaitGroup
			wg.Go(func() {
				_, err := f.EditPage(t.Context(), p.ID, targets.PageSettings{Slug: "s", Title: "u"})
				if err != nil && models.CodeOf(err) != models.CodeNotFound {
					t.Error(err)
				}
			})
			wg.Go(func() {
				if err := f.DeletePage(t.Context(), p.ID); err != nil {
					t.Error(err)
				}
			})
			wg.Wait()
			if n := f.rows("status_pages"); n != 0 {
				t.Fatal("it is back")
			}
		}
	})
}

func TestStatusPageDaysAndOutages(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		_, err := f.Edit(f.Context(), made.ID, targets.Edit{IntervalSeconds: new(6 * 3600)})
		f.must(err)
		for i := range 4 * 20 {
			if i == 40 {
				f.check(down())
			} else {
				f.check(up(1))
			}
		}
		p, err := f.AddPage(f.Context(), targets.PageSettings{Slug: "s", Title: "t", TargetIDs: []string{made.ID}})
		f.must(err)
		days, err := f.PageDays(f.Context(), p)
		f.must(err)
		of := days[p.Targets[0].Seq]
		if len(of) != targets.PageDays || of[targets.PageDays-1].At.Time != f.Now().Truncate(day) {
			t.Fatalf("%+v", of)
		}
		var sum targets.Share
		for _, d := range of {
			sum.Up, sum.Down = sum.Up+d.Up, sum.Down+d.Down
		}
		if all := p.Targets[0].Uptime[targets.Last90d]; sum.Up != all.Up || sum.Down != all.Down || sum.Down == 0 {
			t.Errorf("%+v", sum)
		}
		outages, err := f.PageOutages(f.Context(), p, 10)
		f.must(err)
		if len(outages) != 1 || outages[0].TargetID != made.ID {
			t.Errorf("%+v", outages)
		}
		f.clock.Advance(100 * 24 * time.Hour)
		if outages, err = f.PageOutages(f.Context(), p, 10); err != nil || len(outages) != 0 {
			t.Errorf("%+v %v", outages, err)
		}
	})
}
