package pages_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/app/apptest"
	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/views/ui"
)

// searched returns the search page of some finders.
func searched(t *testing.T, text string, finders ...pages.Finder) string {
	t.Helper()
	f := pages.New(&middleware.Errors{Log: slog.New(slog.DiscardHandler)}, "v1", "", time.Now)
	w := httptest.NewRecorder()
	c, _ := gin.CreateTestContext(w)
	c.Request = httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/search?q="+text, nil)
	f.SearchPage(finders...)(c)
	if w.Code != http.StatusOK {
		t.Errorf("got status %d", w.Code)
	}
	return w.Body.String()
}

func finder(kind string, find func(ctx context.Context) ([]ui.Hit, error)) pages.Finder {
	return pages.Finder{
		Kind: kind, All: func(text string) string { return "/" + kind + "?q=" + text },
		Find: func(ctx context.Context, _ string, _ int) ([]ui.Hit, error) { return find(ctx) },
	}
}

// TestSearchWithFailedFinders: the hits of other kinds are shown. Failed kinds are named, without the internal
// error.
func TestSearchWithFailedFinders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		page := searched(t, "x",
			finder("slow", func(ctx context.Context) ([]ui.Hit, error) { <-ctx.Done(); return nil, errors.New("interrupted") }),
			finder("broken", func(context.Context) ([]ui.Hit, error) { return nil, errors.New("SELECT secret") }),
			finder("panicking", func(context.Context) ([]ui.Hit, error) { panic("secret") }),
			finder("choosy", func(context.Context) ([]ui.Hit, error) { return nil, models.Invalid("query.q", "is secret") }),
			finder("fine", func(context.Context) ([]ui.Hit, error) { return []ui.Hit{{Title: "Found", Path: "/fine/1"}}, nil }),
		)
		if took := time.Since(begun); took != 2*time.Second {
			t.Errorf("got a duration of %v", took)
		}
		for _, part := range []string{`href="/fine/1"`, "slow: The request timed out.", "broken: Something went wrong", "panicking: Something went wrong", `href="/broken?q=x"`} {
			if !strings.Contains(page, part) {
				t.Errorf("the page lacks %q", part)
			}
		}
		for _, part := range []string{"secret", "choosy", "No results"} {
			if strings.Contains(page, part) {
				t.Errorf("the page contains %q", part)
			}
		}
	})
}

// Exact matches of the title or key come first, then prefixes. Five hits are shown, and a link to all if there are more.
func TestSearchOrdersHits(t *testing.T) {
	hit := func(titles ...string) (hits []ui.Hit) {
		for _, title := range titles {
			title, key, _ := strings.Cut(title, "/")
			hits = append(hits, ui.Hit{Title: title, Key: key, Path: "/of/" + title})
		}
		return hits
	}
	for _, c := range []struct{ found, want []ui.Hit }{
		{hit("My shop", "Shop two", "Shopping", "SHOP"), hit("SHOP", "Shop two", "Shopping", "My shop")},
		{hit("Old", "1", "2", "3", "4", "5", "Sale/shop"), hit("Sale", "Old", "1", "2", "3")},
	} {
		page := searched(t, "shop", finder("things", func(context.Context) ([]ui.Hit, error) { return c.found, nil }))
		at := 0
		for _, h := range c.want {
			next := strings.Index(page[at:], `href="`+h.Path+`"`)
			if next < 0 {
				t.Fatalf("%s is at the wrong position", h.Title)
			}
			at += next
		}
		if n := strings.Count(page, `href="/of/`); n != len(c.want) {
			t.Errorf("got %d hits, want %d", n, len(c.want))
		}
		if more := strings.Contains(page, `href="/things?q=shop"`); more != (len(c.found) > 5) {
			t.Errorf("%d hits: got a link to all: %v", len(c.found), more)
		}
	}
}

// Hits are ordered by what people see of their titles. A text of which they see nothing finds nothing.
func TestSearchIgnoresInvisibleCharacters(t *testing.T) {
	find := finder("things", func(context.Context) ([]ui.Hit, error) {
		return []ui.Hit{{Title: "My ❤", Path: "/of/1"}, {Title: "❤", Path: "/of/2"}}, nil
	})
	page := searched(t, "❤\ufe0f", find)
	if first, second := strings.Index(page, `href="/of/2"`), strings.Index(page, `href="/of/1"`); first < 0 || second < first {
		t.Errorf("got hits at %d and %d", first, second)
	}
	if page := searched(t, "\ufe0f", find); strings.Contains(page, "/of/") {
		t.Error("a variation selector has hits")
	}
}

// TestSearchEndsWithItsClient: finders stop if the client disconnects.
func TestSearchEndsWithItsClient(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	f := pages.New(&middleware.Errors{Log: slog.New(slog.DiscardHandler)}, "v1", "", time.Now)
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequestWithContext(ctx, http.MethodGet, "/search?q=x", nil)
	ended := false
	f.SearchPage(finder("slow", func(ctx context.Context) ([]ui.Hit, error) {
		leave()
		<-ctx.Done()
		ended = true
		return nil, ctx.Err()
	}))(c)
	if !ended {
		t.Error("a finder is still running")
	}
}

// The results are replaced while the user types. The command palette has its own.
func TestSearchParts(t *testing.T) {
	s := apptest.New(t)
	s.Save("https://example.com/quagga", "go")
	page := s.Get("/search?q=quagga")
	apptest.WantCount(t, page, `form.find[hx-get="/search"][hx-target="#results"][action="/search"]`, 1)
	apptest.WantCount(t, page, "#results .hits li", 1)
	part := s.Part("/search?q=quagga")
	apptest.WantCount(t, part, "#results .hits li", 1)
	apptest.WantCount(t, part, "h1, [role=option]", 0)
	apptest.WantText(t, part, "#results [role=status]", "1 result")
	if got := part.Header.Get("HX-Replace-Url"); got != "/search?q=quagga" {
		t.Errorf("the address becomes %q", got)
	}
	palette := s.Part("/search?for=palette&q=quagga")
	apptest.WantCount(t, palette, "#palette-list [role=option]", 1)
	if got := palette.Header.Get("HX-Replace-Url"); got != "" {
		t.Errorf("the palette changes the address to %q", got)
	}
}
