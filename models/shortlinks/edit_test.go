package shortlinks_test

import (
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
)

func TestEdit(t *testing.T) {
	each(t, func(f fixture) {
		l := f.add(key("edit"), ttl(time.Hour), limit(5))
		end := f.Now().Add(day)
		got, err := f.Edit(f.Context(), "edit", shortlinks.Edit{
			LongURL: new("https://new.test/x"), ExpiresAt: &end, MaxVisits: new(int64(0)), Title: new("New"), Disabled: new(true),
		})
		f.must(err)
		if got.LongURL != "https://new.test/x" || got.CanonicalURL != "https://new.test/x" || got.ExpiresAt != end || got.MaxVisits != 0 ||
			got.Title != "New" || got.Status(f.Now()) != shortlinks.Disabled || got.CreatedAt != l.CreatedAt {
			t.Errorf("got %+v", got)
		}
		if stored := f.get("edit"); stored != got {
			t.Errorf("stored   %+v\nreturned %+v", stored, got)
		}
		if got.Version <= l.Version {
			t.Error("the version did not increase")
		}
		if unchanged, err := f.Edit(f.Context(), "edit", shortlinks.Edit{}); err != nil || unchanged.LongURL != got.LongURL || unchanged.ExpiresAt != got.ExpiresAt {
			t.Errorf("got %+v, %v", unchanged, err)
		}
		for location, e := range map[string]shortlinks.Edit{
			"long_url":   {LongURL: new("javascript:alert(1)")},
			"expires_at": {ExpiresAt: new(f.Now())},
			"max_visits": {MaxVisits: new(int64(-1))},
			"title":      {Title: new(strings.Repeat("t", 301))},
		} {
			_, err := f.Edit(f.Context(), "edit", e)
			f.wantError(err, models.CodeInvalid, location)
		}
		if after := f.get("edit"); after.LongURL != got.LongURL || after.Title != got.Title {
			t.Errorf("a failed edit changed the link: %+v", after)
		}
		_, err = f.Edit(f.Context(), "none", shortlinks.Edit{})
		f.wantError(err, models.CodeNotFound, "")
		_, err = f.Edit(f.Context(), "x'\x00", shortlinks.Edit{})
		f.wantError(err, models.CodeNotFound, "")
	})
}

// An expiry in the past can stay while other fields change.
func TestEditOfAnExpiredLink(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("late"), ttl(time.Minute))
		f.clock.Advance(time.Hour)
		past := f.get("late").ExpiresAt
		_, err := f.Edit(f.Context(), "late", shortlinks.Edit{Title: new("New"), ExpiresAt: &past})
		f.must(err)
		f.redirectsTo("late", "gone")
		_, err = f.Edit(f.Context(), "late", shortlinks.Edit{ExpiresAt: &models.Time{}})
		f.must(err)
		f.redirectsTo("late", "https://example.com/page")
	})
}

// A link whose host was blocked later can still change in all other fields.
func TestEditOfABlockedLink(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("late"))
		modelstest.Exec(t, f.db, "UPDATE short_links SET long_url = 'https://spam.example/x'")
		got, err := f.Edit(f.Context(), "late", shortlinks.Edit{LongURL: new("https://spam.example/x"), Title: new("New"), Disabled: new(true)})
		if err != nil || got.Title != "New" || !got.Disabled {
			t.Errorf("got %+v, %v", got, err)
		}
		_, err = f.Edit(f.Context(), "late", shortlinks.Edit{LongURL: new("https://spam.example/y")})
		f.wantError(err, models.CodeInvalid, "long_url")
	})
}
