package outbound

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/maypok86/otter/v2"
)

// check is Robots.Check, which must not fail.
func check(t *testing.T, r *Robots, u string) Verdict {
	t.Helper()
	v, err := r.Check(t.Context(), u)
	if err != nil {
		t.Fatalf("Check: %v", err)
	}
	return v
}

func TestRobotsStatuses(t *testing.T) {
	const file = "User-agent: *\nDisallow: /no\nCrawl-delay: 1.5"
	allowed, refused := Verdict{Allowed: true}, Verdict{Delay: 1500 * time.Millisecond, Reason: "disallowed by robots.txt"}
	unavailable := func(why string) Verdict {
		return Verdict{Reason: "robots.txt unavailable: " + why, Temporary: true, Responded: true}
	}
	for _, tc := range []struct {
		status int
		want   Verdict
	}{
		{200, refused},
		{203, refused},
		{304, allowed},
		{400, allowed},
		{401, allowed},
		{403, allowed},
		{404, allowed},
		{410, allowed},
		{429, unavailable("status 429")},
		{500, unavailable("status 500")},
		{503, unavailable("status 503")},
		{599, unavailable("status 599")},
		{301, refused},
		{302, refused},
		{399, allowed},
	} {
		srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if tc.status < 303 && tc.status > 300 {
				if n, _ := strconv.Atoi(r.URL.RawQuery); n < robotsRedirects {
					http.Redirect(w, r, fmt.Sprintf("/elsewhere?%d", n+1), tc.status)
					return
				}
			} else {
				w.WriteHeader(tc.status)
			}
			_, _ = fmt.Fprint(w, file)
		})
		r := NewRobots(testClient(t, Options{}), RobotsOptions{Agent: "Linkwatch"})
		tc.want.Fetched = true
		if got := check(t, r, srv.URL+"/no?x"); got != tc.want {
			t.Errorf("%d: got %+v, want %+v", tc.status, got, tc.want)
		}
		if got := check(t, r, srv.URL+"/robots.txt"); !got.Allowed {
			t.Errorf("%d: robots.txt itself is refused", tc.status)
		}
	}
}

func TestRobotsFailures(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	hangs := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	loops := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) })
	out := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "ftp://example.com/", http.StatusFound)
	})
	inside := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://10.0.0.1/", http.StatusFound)
	})
	r := NewRobots(testClient(t, Options{Timeout: 50 * time.Millisecond}), RobotsOptions{Agent: "Linkwatch"})
	for u, want := range map[string]Verdict{
		gone.URL:           {Reason: "robots.txt unavailable: connection refused", Temporary: true},
		hangs.URL:          {Reason: "robots.txt unavailable: timed out", Temporary: true},
		inside.URL:         {Reason: "robots.txt unavailable: address not allowed", Temporary: true},
		"http://127.0.0.2": {Reason: "robots.txt unavailable: address not allowed", Temporary: true},
		loops.URL:          {Allowed: true},
		out.URL:            {Allowed: true},
		"ftp://x/":         {Reason: "invalid URL"},
		"":                 {Reason: "invalid URL"},
	} {
		want.Fetched = want.Reason != "invalid URL"
		if got := check(t, r, u); got != want {
			t.Errorf("%s: got %+v, want %+v", u, got, want)
		}
	}
}

// A fetch that fails with KindBusy is not cached.
func TestRobotsWithoutBudget(t *testing.T) {
	srv := serve(t, func(http.ResponseWriter, *http.Request) {})
	c := testClient(t, Options{}).Budget(1, time.Millisecond)
	r := NewRobots(c, RobotsOptions{Agent: "Linkwatch"})
	c.slots <- struct{}{}
	if got := check(t, r, srv.URL); got != (Verdict{Reason: "robots.txt unavailable: too many fetches at a time", Temporary: true, Fetched: true}) {
		t.Errorf("got %+v", got)
	}
	<-c.slots
	if got := check(t, r, srv.URL); !got.Allowed {
		t.Errorf("got %+v", got)
	}
}

func TestHugeRobots(t *testing.T) {
	const half = "Disallow: /half\n"
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		const begin = "User-agent: *\nDisallow: /no\n#"
		_, _ = fmt.Fprint(w, begin, strings.Repeat("x", robotsLimit-len(begin)-len(half)+3), "\n", half)
		for err := error(nil); err == nil; { // without an end
			_, err = fmt.Fprint(w, "\nDisallow: /after")
		}
	})
	r := NewRobots(testClient(t, Options{Timeout: time.Minute}), RobotsOptions{Agent: "Linkwatch"})
	for path, want := range map[string]bool{"/no": false, "/after": true, "/ha": true, "/half": true, "/": true} {
		if got := check(t, r, srv.URL+path); got.Allowed != want {
			t.Errorf("%s: got %+v", path, got)
		}
	}
}

func TestRobotsCache(t *testing.T) {
	var asked atomic.Int64
	var status atomic.Int64
	status.Store(http.StatusOK)
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(int(status.Load()))
		_, _ = fmt.Fprint(w, "User-agent: *\nDisallow: /no\n")
	})
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	r := NewRobots(testClient(t, Options{}), RobotsOptions{Agent: "Linkwatch", Clock: func() time.Time { return now }})
	for _, step := range []struct {
		after   time.Duration
		status  int
		asked   int64
		allowed bool
	}{
		{0, 200, 1, true},
		{24*time.Hour - 1, 500, 1, true},
		{1, 500, 2, false},
		{time.Minute - 1, 200, 2, false},
		{1, 200, 3, true},
		{-time.Hour, 200, 4, true},
	} {
		now = now.Add(step.after)
		status.Store(int64(step.status))
		for range 3 {
			if v := check(t, r, srv.URL+"/yes"); v.Allowed != step.allowed || asked.Load() != step.asked {
				t.Errorf("%+v: asked %d times, %+v", step, asked.Load(), v)
			}
		}
	}
	// A host by its name is another one.
	check(t, r, strings.Replace(srv.URL, "127.0.0.1", "localhost", 1))
	if asked.Load() == 4 {
		t.Error("two hosts share a robots.txt")
	}
}

func TestRobotsCacheIsBounded(t *testing.T) {
	r := NewRobots(nil, RobotsOptions{})
	large := &robotsEntry{rules: parseRobots("User-agent: *\n"+strings.Repeat("Disallow: /0123456789\n", 20_000), "")}
	for i := range 100 {
		r.cache.Set(strconv.Itoa(i), large)
	}
	for i := range robotsHosts + robotsHosts/4 {
		r.cache.Set("small"+strconv.Itoa(i), &robotsEntry{})
	}
	c := r.cache.(*otter.Cache[string, *robotsEntry])
	c.CleanUp()
	if n, w := c.EstimatedSize(), c.WeightedSize(); n > robotsHosts || w > robotsCacheSize || n < robotsHosts/100 {
		t.Errorf("%d hosts, %d bytes", n, w)
	}
}

// One caller fetches for all. If it is canceled, the others do not fail.
func TestRobotsFetchIsShared(t *testing.T) {
	here, answer := make(chan struct{}, 8), make(chan struct{})
	srv := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		here <- struct{}{}
		select {
		case <-answer:
		case <-r.Context().Done():
		}
	})
	r := NewRobots(testClient(t, Options{Timeout: time.Minute}), RobotsOptions{Agent: "Linkwatch"})
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := r.Check(ctx, srv.URL)
		first <- err
	}()
	<-here
	var others sync.WaitGroup
	for range 5 {
		others.Go(func() {
			if v, err := r.Check(t.Context(), srv.URL); err != nil || !v.Allowed {
				t.Errorf("got %+v, %v", v, err)
			}
		})
	}
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	<-here // one of the others fetches
	close(answer)
	others.Wait()
	if len(here) > 0 {
		t.Errorf("%d fetches more", len(here))
	}
	if _, err := r.Check(ctx, "http://127.0.0.1:1/"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
