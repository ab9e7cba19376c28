package shortlinks_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
)

// TestHybridExpirationStrategy_NoSynchronousDeletes: a redirect writes nothing
// and deletes nothing, whether its short link has expired or not. A cache hit
// sends no statement to the database.
func TestHybridExpirationStrategy_NoSynchronousDeletes(t *testing.T) {
	eachCache(t, func(s *server, another func() *server) {
		s.shorten(`"short_key":"ends","ttl_seconds":60`)
		s.noStatements("a hit", func() { s.redirectsTo("/s/ends", longURL) })

		cold := another()
		cold.onlyReads("a miss", 1, func() { cold.redirectsTo("/s/ends", longURL) })
		cold.noStatements("the hit after it", func() { cold.redirectsTo("/s/ends", longURL) })

		s.Clock.Advance(59 * time.Second)
		s.redirectsTo("/s/ends", longURL)
		s.Clock.Advance(time.Second)
		s.noStatements("an expired entry", func() { s.gone("/s/ends", "has expired") })
		s.noStatements("its tombstone", func() { s.gone("/s/ends", "has expired") })

		cold = another()
		cold.Clock.Advance(time.Minute)
		cold.onlyReads("an expired link in the database", 1, func() { cold.gone("/s/ends", "has expired") })
		cold.noStatements("its tombstone", func() { cold.gone("/s/ends", "has expired") })

		// It still exists: only the reaper deletes.
		if got := s.Do("GET", "/v1/shortlinks/ends", "").Want(200); got["status"] != "expired" {
			t.Errorf("%v", got)
		}
	})
}

// TestExpiredFromTheInstant: a short link expires at its exact time, for any state of the caches.
func TestExpiredFromTheInstant(t *testing.T) {
	eachCache(t, func(s *server, another func() *server) {
		s.shorten(`"short_key":"ends","expires_at":"` + s.at(time.Hour) + `"`)
		s.Clock.Advance(time.Hour - time.Microsecond)
		s.redirectsTo("/s/ends", longURL)
		s.Clock.Advance(time.Microsecond)
		s.gone("/s/ends", "has expired")
		// Also on an instance that has not cached it.
		cold := another()
		cold.Clock.Advance(time.Hour)
		cold.gone("/s/ends", "has expired")
	})
}

// TestTombstones: the reason why a key is unavailable is read once and cached.
func TestTombstones(t *testing.T) {
	eachCache(t, func(s *server, another func() *server) {
		s.shorten(`"short_key":"expired","ttl_seconds":60`)
		s.shorten(`"short_key":"used-up","max_visits":1`)
		s.shorten(`"short_key":"switched"`)
		s.shorten(`"short_key":"deleted"`)
		s.redirectsTo("/s/used-up", longURL)
		s.Do("PATCH", "/v1/shortlinks/switched", `{"disabled":true}`).Want(200)
		s.Do("DELETE", "/v1/shortlinks/deleted", "").Want(204)
		cold := another()
		for _, x := range []*server{s, cold} {
			x.Clock.Advance(time.Minute)
			for key, reason := range map[string]string{
				"expired": "has expired", "used-up": "visit limit", "switched": "disabled", "deleted": "was deleted",
			} {
				x.gone("/s/"+key, reason)
				x.noStatements("the tombstone of "+key, func() { x.gone("/s/"+key, reason) })
			}
		}
	})
}

// TestUnknownKeys: an unknown key costs two queries, of the live short links and the archive, an invalid key none.
func TestUnknownKeys(t *testing.T) {
	eachCache(t, func(s *server, _ func() *server) {
		s.onlyReads("an unknown key", 2, func() { s.Request("GET", "/s/nothing").Problem(404, "not-found", "") })
		s.noStatements("the same again", func() { s.Request("GET", "/s/nothing").Problem(404, "not-found", "") })
		for _, path := range []string{
			"/s/abc", "/s/" + strings.Repeat("a", 65), "/s/with.dot", "/s/with%20blank", "/s/sch%C3%B6n", "/s/%00%00%00%00", "/s/", "/s/a/b", "/s/a%2Fbcd",
			"/s/..%2F..%2Fadmin", "/s/abcd'--",
		} {
			s.noStatements(path, func() { s.Request("GET", path).Problem(404, "not-found", "") })
		}
		s.shorten(`"short_key":"nothing"`)
		s.redirectsTo("/s/nothing", longURL)
	})
}

// TestColdHotKey: concurrent visits to a key that is not cached cost one query.
func TestColdHotKey(t *testing.T) {
	eachCache(t, func(s *server, another func() *server) {
		newServer(s.TB, apptest.On(s.DB)).shorten(`"short_key":"hot-key"`) // without the shared cache
		cold := another()
		var wrong atomic.Int64
		cold.onlyReads("the burst", 1, func() {
			var group sync.WaitGroup
			start := make(chan struct{})
			for range 200 {
				group.Go(func() {
					<-start
					if a, err := cold.TryRequest("GET", "/s/hot-key"); err != nil || a.Header.Get("Location") != longURL {
						wrong.Add(1)
					}
				})
			}
			close(start)
			group.Wait()
		})
		if n := wrong.Load(); n > 0 {
			s.Errorf("%d of 200 visits were not redirected", n)
		}
	})
}

// TestMaxVisitsIsExact: the visit limit is exact for 50 concurrent visitors on two instances.
func TestMaxVisitsIsExact(t *testing.T) {
	eachCache(t, func(s *server, another func() *server) {
		const most = 20
		s.shorten(`"short_key":"limited","max_visits":20`)
		instances := []*server{s, another()}
		var redirected, refused, other atomic.Int64
		var group sync.WaitGroup
		for i := range 50 {
			group.Go(func() {
				switch a, err := instances[i%2].TryRequest("GET", "/s/limited"); {
				case err == nil && a.Status == http.StatusFound && a.Header.Get("Location") == longURL:
					redirected.Add(1)
				case err == nil && a.Status == http.StatusGone:
					refused.Add(1)
				default:
					other.Add(1)
				}
			})
		}
		group.Wait()
		if redirected.Load() != most || refused.Load() != 50-most || other.Load() != 0 {
			s.Errorf("got %d redirected, %d refused, %d other; want %d and %d", redirected.Load(), refused.Load(), other.Load(), most, 50-most)
		}
		s.gone("/s/limited", "visit limit")
		s.noStatements("the tombstone", func() { s.gone("/s/limited", "visit limit") })
		got := s.Do("GET", "/v1/shortlinks/limited", "").Want(200)
		if got["visits"] != float64(most) || got["status"] != "expired" {
			s.Errorf("%v", got)
		}
	})
}

// TestChangesShowAtOnce: no redirect is stale after a change.
func TestChangesShowAtOnce(t *testing.T) {
	eachCache(t, func(s *server, _ func() *server) {
		at := s.shorten(`"short_key":"changing"`)
		s.redirectsTo("/s/changing", longURL)
		edit := func(change string) {
			s.Helper()
			s.Do("PATCH", at, change).Want(200)
		}
		edit(`{"disabled":true}`)
		s.gone("/s/changing", "disabled")
		edit(`{"disabled":false}`)
		s.redirectsTo("/s/changing", longURL)
		edit(`{"long_url":"https://other.test/"}`)
		s.redirectsTo("/s/changing", "https://other.test/")
		edit(`{"expires_at":"` + s.at(time.Minute) + `"}`)
		s.Clock.Advance(time.Minute)
		s.gone("/s/changing", "has expired")
		edit(`{"expires_at":null}`)
		s.redirectsTo("/s/changing", "https://other.test/")
		s.writeVisits()
		edit(`{"max_visits":1}`) // it had more
		s.gone("/s/changing", "visit limit")
		edit(`{"max_visits":null}`)
		s.redirectsTo("/s/changing", "https://other.test/")
		s.Do("DELETE", at, "").Want(204)
		s.gone("/s/changing", "was deleted")
		s.Do("POST", at+"/restore", "").Want(200)
		s.redirectsTo("/s/changing", "https://other.test/")
	})
}

// TestClockSetBack: after an expired response, a short link never redirects again.
func TestClockSetBack(t *testing.T) {
	eachCache(t, func(s *server, _ func() *server) {
		s.shorten(`"short_key":"ends","ttl_seconds":60`)
		s.shorten(`"short_key":"cached","ttl_seconds":60`)
		s.redirectsTo("/s/cached", longURL)
		s.Clock.Advance(time.Minute)
		s.gone("/s/ends", "has expired")
		s.Clock.Advance(-time.Hour)
		s.gone("/s/ends", "has expired")
		s.gone("/s/cached", "has expired") // not visited while the clock was ahead
	})
}

// TestBusyDatabase: cached short links redirect while they are current. Those that need the database
// return 503, and no expired short link redirects.
func TestBusyDatabase(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		s := newServer(t, apptest.On(db))
		s.shorten(`"short_key":"cached"`)
		s.shorten(`"short_key":"ends","ttl_seconds":60`)
		s.shorten(`"short_key":"limited","max_visits":5`)
		s.Clock.Advance(59 * time.Second)
		s.redirectsTo("/s/cached", longURL)
		s.redirectsTo("/s/ends", longURL)
		s.Clock.Advance(time.Second)

		release := modelstest.Hold(t, db, "short_links")
		s.redirectsTo("/s/cached", longURL)
		s.gone("/s/ends", "has expired")
		a := s.Request("GET", "/s/limited") // its visit cannot be claimed
		a.Problem(http.StatusServiceUnavailable, "unavailable", "")
		if a.Header.Get("Retry-After") == "" || a.Header.Get("Cache-Control") != "private, no-store" {
			t.Errorf("%v", a.Header)
		}
		if db.Engine == models.Postgres { // SQLite reads while another writes
			cold := newServer(t, apptest.On(db))
			cold.Request("GET", "/s/cached").Problem(http.StatusServiceUnavailable, "unavailable", "")
			s.Clock.Advance(shortlinks.MaxStale) // another instance may have changed it
			s.Request("GET", "/s/cached").Problem(http.StatusServiceUnavailable, "unavailable", "")
		}
		release()
		s.redirectsTo("/s/limited", longURL)
		if got := s.Do("GET", "/v1/shortlinks/limited", "").Want(200); got["visits"] != 1.0 {
			t.Errorf("visits without a claim were counted: %v", got)
		}
	})
}

// TestFailedDatabase: cached short links redirect while they are current, others do not.
func TestFailedDatabase(t *testing.T) {
	each(t, func(s *server) {
		s.shorten(`"short_key":"cached"`)
		s.shorten(`"short_key":"ends","ttl_seconds":60`)
		s.Clock.Advance(59 * time.Second)
		s.redirectsTo("/s/cached", longURL)
		s.redirectsTo("/s/ends", longURL)
		modelstest.Exec(s.TB, s.DB, "ALTER TABLE short_links RENAME TO lost")
		s.Clock.Advance(time.Second)
		s.redirectsTo("/s/cached", longURL)
		a := s.Request("GET", "/s/uncached")
		a.Problem(500, "internal", "")
		if id := a.Header.Get("X-Request-Id"); id == "" || !strings.Contains(a.Body, id) {
			s.Errorf("the problem does not name request %q: %s", id, a.Body)
		}
		s.gone("/s/ends", "has expired")
		modelstest.Exec(s.TB, s.DB, "ALTER TABLE lost RENAME TO short_links")
		s.Request("GET", "/s/uncached").Problem(404, "not-found", "")
	})
}

// TestInvalidStoredDestination: a redirect checks the stored destination again, so that no other scheme
// and no line break gets into a header.
func TestInvalidStoredDestination(t *testing.T) {
	each(t, func(s *server) {
		for i, bad := range []string{
			"javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "file:///etc/passwd", "//example.com/x", "/admin", "",
			"https://user:password@example.com/", "https://example.com\r\nSet-Cookie: a=b", " https://", "HTTPS:example.com",
		} {
			key := "bad-" + string(rune('a'+i))
			s.shorten(`"short_key":"` + key + `"`)
			modelstest.Exec(s.TB, s.DB, "UPDATE short_links SET long_url = ? WHERE short_key = ?", bad, key)
			cold := newServer(s.TB, apptest.On(s.DB))
			cold.gone("/s/"+key, "is blocked")
			cold.noStatements("its tombstone", func() { cold.gone("/s/"+key, "is blocked") })
		}
	})
}
