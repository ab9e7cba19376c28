package outbound

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeClock is a clock that only Add moves.
type fakeClock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *fakeClock { return &fakeClock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestParseRetryAfter(t *testing.T) {
	now := newClock().Now()
	for in, want := range map[string]time.Duration{
		"120": 2 * time.Minute, " 1 ": time.Second, "3600": time.Hour, "3601": time.Hour, "86400": time.Hour,
		"99999999999999999999999": time.Hour,
		"0":                       0, "-5": 0, "": 0, "soon": 0, "1.5": 0, "1e3": 0, "+3": 0, "１２": 0,
		now.Add(90 * time.Second).Format(http.TimeFormat): 90 * time.Second,
		now.Add(90 * time.Hour).Format(http.TimeFormat):   time.Hour,
		now.Add(-time.Minute).Format(http.TimeFormat):     0,
		"Mon, 99 Foo 2026 00:00:00 GMT":                   0,
	} {
		if got := parseRetryAfter(in, now); got != want {
			t.Errorf("%q: got %v, want %v", in, got, want)
		}
	}
}

// waitOf returns the RetryAfter of err, or 0.
func waitOf(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.RetryAfter
	}
	return 0
}

func TestThrottling(t *testing.T) {
	asked, status, retryAfter := 0, 503, "120"
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(status)
	})
	other := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, srv.URL, http.StatusFound) })
	clock := newClock()
	c := testClient(t, Options{Clock: clock.Now})
	ask := func(insist bool) (*Response, error) {
		return c.Fetch(t.Context(), Request{URL: srv.URL, Insist: insist})
	}
	refused := func(wait time.Duration, insist bool) {
		t.Helper()
		before := asked
		_, err := ask(insist)
		fails(t, err, KindThrottled, "rate limited by the host")
		if got := waitOf(err); got != wait || asked != before {
			t.Fatalf("told to wait %v, want %v; asked %d times", got, wait, asked-before)
		}
	}
	answered := func(want int, insist bool) {
		t.Helper()
		if res, err := ask(insist); err != nil || res.StatusCode != want {
			t.Fatalf("got %+v, %v", res, err)
		}
	}

	answered(503, false)
	refused(2*time.Minute, false)
	refused(2*time.Minute, true) // Retry-After is always respected
	_, err := c.Fetch(t.Context(), Request{URL: other.URL, MaxRedirects: 4})
	fails(t, err, KindThrottled, "rate limited by the host") // also at the end of a redirect
	clock.Add(time.Minute)
	refused(time.Minute, false)
	clock.Add(time.Minute)

	// Without the header: 1 s, 2 s, 4 s … 15 min.
	status, retryAfter = 429, ""
	for _, wait := range []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900} {
		answered(429, false)
		refused(time.Duration(wait)*time.Second, false)
		answered(429, true) // the retry of a monitor does not double the backoff
		refused(time.Duration(wait)*time.Second, false)
		clock.Add(time.Duration(wait) * time.Second)
	}
	status = 500
	answered(500, false)
	status, retryAfter = 429, "garbage"
	answered(429, false) // starts over
	refused(time.Second, false)
	status = 200
	answered(200, true) // a response ends the backoff
	answered(200, false)
}

func TestPauseIsNotLiftedByOlderAnswers(t *testing.T) {
	clock := newClock()
	p := newPoliteness(clock.Now)
	p.note("h", 429, "60")
	p.note("h", 200, "")   // of an earlier request
	p.note("h", 503, "30") // does not shorten the backoff
	if got := waitOf(p.allow("h", true)); got != time.Minute {
		t.Errorf("told to wait %v", got)
	}
	p.note("h", 503, "90")
	if got := waitOf(p.allow("h", true)); got != 90*time.Second {
		t.Errorf("told to wait %v", got)
	}
}

func TestHostTable(t *testing.T) {
	clock := newClock()
	p := newPoliteness(clock.Now)
	for i := range maxHosts {
		p.note(fmt.Sprint("h", i), 429, fmt.Sprint(100+i%3000))
	}
	p.note("one more", 429, "50")
	if len(p.hosts) != maxHosts {
		t.Errorf("%d hosts", len(p.hosts))
	}
	gone := 0
	for i := range maxHosts {
		if _, ok := p.hosts[fmt.Sprint("h", i)]; !ok {
			gone++
			if i%3000 != 0 {
				t.Errorf("h%d was dropped, whose pause is not the shortest", i)
			}
		}
	}
	if gone != 1 {
		t.Errorf("%d were dropped", gone)
	}
	clock.Add(2 * time.Hour) // all backoffs have ended long ago
	p.note("late", 429, "")
	if len(p.hosts) != 1 {
		t.Errorf("%d hosts after all pauses are over", len(p.hosts))
	}
}

func TestConcurrentUse(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/busy") {
			w.WriteHeader(http.StatusTooManyRequests)
		}
		_, _ = fmt.Fprint(w, r.URL.Path)
	})
	c := testClient(t, Options{})
	var wg sync.WaitGroup
	for i := range 16 {
		path := fmt.Sprint("/", i)
		if i%8 == 7 {
			path = "/busy"
		}
		wg.Go(func() {
			for range 10 {
				res, err := c.Fetch(t.Context(), Request{URL: srv.URL + path, Insist: true})
				if err != nil || string(res.Body) != path {
					t.Errorf("%s: got %+v, %v", path, res, err)
				}
			}
		})
	}
	wg.Wait()
}

// Requests that ignore the backoff are sent in it, and neither start one nor end it.
func TestIgnoreBackoff(t *testing.T) {
	status := 429
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if status != 200 {
			w.Header().Set("Retry-After", "120")
		}
		w.WriteHeader(status)
	})
	c := testClient(t, Options{})
	fetch := func(ignore bool) (*Response, error) {
		return c.Fetch(t.Context(), Request{URL: srv.URL, IgnoreBackoff: ignore})
	}
	res, err := fetch(true)
	if err != nil || res.StatusCode != 429 || res.RetryAfter != 2*time.Minute {
		t.Fatalf("got %+v, %v", res, err)
	}
	if res, err := fetch(false); err != nil || res.StatusCode != 429 {
		t.Fatalf("the first request started a backoff: %+v, %v", res, err)
	}
	status = 200
	if res, err := fetch(true); err != nil || res.StatusCode != 200 {
		t.Errorf("got %+v, %v", res, err)
	}
	_, err = fetch(false)
	fails(t, err, KindThrottled, "rate limited by the host")
}
