package shortlinks_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/shortlinks"
)

func TestAdd(t *testing.T) {
	each(t, func(f fixture) {
		l := f.add(func(n *shortlinks.New) {
			*n = shortlinks.New{
				LongURL: " https://Example.com:443/a/?q=1#part ", Key: "My-key_1", Title: " A  title ",
				ExpiresAt: f.Now().Add(time.Hour), MaxVisits: 3,
			}
		})
		if l.LongURL != "https://Example.com:443/a/?q=1#part" || l.CanonicalURL != "https://example.com/a?q=1" || l.Title != "A title" {
			t.Errorf("got %+v", l)
		}
		if got := f.get("My-key_1"); got != l || got.Status(f.Now()) != shortlinks.Active || got.Visits != 0 {
			t.Errorf("got %+v", got)
		}
		if _, err := f.Get(f.Context(), "my-key_1"); models.CodeOf(err) != models.CodeNotFound {
			t.Errorf("keys are case-sensitive: got %v", err)
		}
		if l := f.add(ttl(90 * time.Second)); l.ExpiresAt != f.Now().Add(90*time.Second) {
			t.Errorf("got expiry %v", l.ExpiresAt)
		}
	})
}

func TestAddErrors(t *testing.T) {
	each(t, func(f fixture) {
		for _, c := range []struct {
			location string
			change   func(n *shortlinks.New)
		}{
			{"long_url", func(n *shortlinks.New) { n.LongURL = "" }},
			{"long_url", func(n *shortlinks.New) { n.LongURL = "javascript:alert(1)" }},
			{"long_url", func(n *shortlinks.New) { n.LongURL = "ftp://example.com" }},
			{"long_url", func(n *shortlinks.New) { n.LongURL = "https://u:p@example.com" }},
			{"long_url", func(n *shortlinks.New) { n.LongURL = "https://256.1.1.1/" }},
			{"long_url", func(n *shortlinks.New) { n.LongURL = "https://foo.0x4/" }},
			{"long_url", func(n *shortlinks.New) { n.LongURL = "127.1" }},
			{"long_url", func(n *shortlinks.New) { n.LongURL = "https://example.com/" + strings.Repeat("a", 2048) }},
			{"long_url", func(n *shortlinks.New) { n.LongURL = "https://SPAM.example/x" }},
			{"long_url", func(n *shortlinks.New) { n.LongURL = "https://www.spam.example./x" }},
			{"long_url", func(n *shortlinks.New) { n.LongURL = "https://links.example/s/abcd" }},
			{"long_url", func(n *shortlinks.New) { n.LongURL = "https://links.example/x/../s/abcd" }},
			{"long_url", func(n *shortlinks.New) { n.LongURL = "https://links.example/%73%2Fabcd" }},
			{"long_url", func(n *shortlinks.New) { n.LongURL = "http://LW.example/abcd" }},
			{"short_key", key("abc")},
			{"short_key", key(strings.Repeat("k", 65))},
			{"short_key", key("with space")},
			{"short_key", key("umläut")},
			{"short_key", key("a.b.c")},
			{"short_key", key("Admin")},
			{"expires_at", func(n *shortlinks.New) { n.ExpiresAt = f.Now() }},
			{"expires_at", func(n *shortlinks.New) { n.ExpiresAt = f.Now().Add(-time.Hour) }},
			{"expires_at", func(n *shortlinks.New) { n.ExpiresAt = f.Now().Add(101 * 365 * day) }},
			{"ttl_seconds", ttl(-time.Second)},
			{"ttl_seconds", ttl(time.Millisecond)},
			{"ttl_seconds", ttl(shortlinks.MaxTTL + time.Second)},
			{"ttl_seconds", func(n *shortlinks.New) { n.TTL, n.ExpiresAt = time.Minute, f.Now().Add(time.Minute) }},
			{"max_visits", limit(-1)},
			{"max_visits", limit(shortlinks.MaxVisits + 1)},
			{"title", func(n *shortlinks.New) { n.Title = strings.Repeat("t", 301) }},
			{"header.Idempotency-Key", func(n *shortlinks.New) { n.IdempotencyKey = "two words" }},
		} {
			n := shortlinks.New{LongURL: "https://example.com"}
			c.change(&n)
			_, _, err := f.Add(f.Context(), n)
			f.wantError(err, models.CodeInvalid, c.location)
		}
		if some, err := f.Any(f.Context()); some || err != nil {
			t.Errorf("stored after errors: %v", err)
		}
	})
}

// Destinations on hosts that only look like blocked ones, and on our pages that are not short
// links, are allowed.
func TestAllowedDestinations(t *testing.T) {
	each(t, func(f fixture) {
		for _, u := range []string{"https://notspam.example", "https://spam.example.org", "https://links.example/status/shop", "https://links.example:8443/s/abcd"} {
			f.add(func(n *shortlinks.New) { n.LongURL = u })
		}
	})
}

func TestTakenKeys(t *testing.T) {
	each(t, func(f fixture) {
		f.add(key("taken"), ttl(time.Minute))
		take := func(k string) error {
			_, _, err := f.Add(f.Context(), shortlinks.New{LongURL: "https://other.test", Key: k})
			return err
		}
		f.wantError(take("taken"), models.CodeConflict, "")
		f.must(take("Taken"))
		f.clock.Advance(time.Hour + 2*time.Minute)
		f.wantError(take("taken"), models.CodeConflict, "") // expired, but still there
		f.reap(10)
		f.wantError(take("taken"), models.CodeConflict, "") // in the archive
		f.clock.Advance(400 * day)
		f.reapArchived(10)
		f.must(take("taken"))
		f.must(f.Delete(f.Context(), "taken"))
		f.wantError(take("taken"), models.CodeConflict, "") // deleted, but it can be restored
		f.clock.Advance(day + time.Hour)
		f.reap(10)
		f.must(take("taken"))
		f.redirectsTo("taken", "https://other.test")
	})
}

// If many clients add the same key at once, one succeeds.
func TestOneClientGetsTheKey(t *testing.T) {
	each(t, func(f fixture) {
		var wg sync.WaitGroup
		got := make(chan models.Code, 20)
		for range cap(got) {
			wg.Go(func() {
				_, _, err := f.Add(f.Context(), shortlinks.New{LongURL: "https://example.com", Key: "wanted"})
				got <- models.CodeOf(err)
			})
		}
		wg.Wait()
		close(got)
		won := 0
		for code := range got {
			switch code {
			case "":
				won++
			case models.CodeConflict:
			default:
				t.Error(code)
			}
		}
		if won != 1 {
			t.Errorf("got %d successful adds, want 1", won)
		}
	})
}

func TestAddIdempotency(t *testing.T) {
	each(t, func(f fixture) {
		var wg sync.WaitGroup
		type made struct {
			key     string
			created bool
		}
		got := make(chan made, 20)
		for range cap(got) {
			wg.Go(func() {
				l, created, err := f.Add(f.Context(), shortlinks.New{LongURL: "https://example.com", IdempotencyKey: "once"})
				if err != nil {
					t.Error(err)
				}
				got <- made{l.Key, created}
			})
		}
		wg.Wait()
		close(got)
		keys, created := map[string]bool{}, 0
		for m := range got {
			keys[m.key] = true
			if m.created {
				created++
			}
		}
		if len(keys) != 1 || created != 1 {
			t.Errorf("got %d created, keys %v", created, keys)
		}
		page, err := f.List(f.Context(), shortlinks.Filter{}, models.Cursor{}, 10)
		if err != nil || len(page.Items) != 1 {
			t.Errorf("got %d rows, %v", len(page.Items), err)
		}
		// On another instance, later and with other values: the same short link.
		l, again, err := f.another().Add(f.Context(), shortlinks.New{LongURL: "https://else.test", IdempotencyKey: "once"})
		if err != nil || again || !keys[l.Key] || l.LongURL != "https://example.com" {
			t.Errorf("got %v, %v, %+v", err, again, l)
		}
		// Even if it is in the archive.
		f.must(f.edit(l.Key, shortlinks.Edit{ExpiresAt: new(f.Now().Add(time.Minute))}))
		f.clock.Advance(2 * time.Hour)
		f.reap(10)
		if same, again, err := f.Add(f.Context(), shortlinks.New{LongURL: "https://example.com", IdempotencyKey: "once"}); err != nil || again || same.Key != l.Key {
			t.Errorf("got %v, %v, %+v", err, again, same)
		}
		// Even if another short link has the short key now.
		f.opts.KeepExpired = 0
		f = f.another()
		f.reapArchived(10)
		f.add(key(l.Key))
		another, again, err := f.Add(f.Context(), shortlinks.New{LongURL: "https://example.com", IdempotencyKey: "once"})
		if err != nil || !again || another.Key == l.Key {
			t.Errorf("got %v, %v, %+v", err, again, another)
		}
		f.clock.Advance(models.KeyRetention)
		if _, created, err := f.Add(f.Context(), shortlinks.New{LongURL: "https://else.test", IdempotencyKey: "once"}); err != nil || !created {
			t.Errorf("a key expires after a day: got created %v, %v", created, err)
		}
	})
}
