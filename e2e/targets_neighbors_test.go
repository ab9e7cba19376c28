//go:build e2e

package e2e

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/models/modelstest"
)

// On one server, two targets hang, one is throttled and one fails with Retry-After. The others are still checked: each
// has a check between two that hang, an outage of one is found, and so is its recovery. Meanwhile /v1, the pages and the
// metrics show which targets are late, and why.
func TestBadTargetsDoNotStopTheirNeighbors(t *testing.T) {
	t.Parallel() // waits for checks that time out
	web := site(t)
	host := strings.TrimPrefix(web.URL, "http://")
	resting := func(code int) http.HandlerFunc {
		return func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Retry-After", "600")
			rw.WriteHeader(code)
		}
	}
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	web.set("/throttled", resting(http.StatusTooManyRequests))
	web.set("/failing", resting(http.StatusServiceUnavailable))
	s := Start(t, "CHECK_INTERVAL=1s", "HTTP_TIMEOUT=1s")
	var good, hanging []target
	for _, path := range []string{"/a", "/b", "/c"} {
		good = append(good, s.addTarget(web.URL+path))
	}
	for _, path := range []string{"/hangs/1", "/hangs/2"} {
		web.set(path, hang)
		hanging = append(hanging, s.addTarget(web.URL+path))
	}
	throttled, failing := s.addTarget(web.URL+"/throttled"), s.addTarget(web.URL+"/failing")
	for _, x := range hanging { // from now on, the server knows that they hang
		modelstest.Eventually(t, x.URL+" has hung", func() bool { return s.target(x.ID).LastError == "timed out" })
	}
	modelstest.Eventually(t, "a target is late", func() bool {
		x := s.target(good[0].ID)
		return x.LateReason == "another check of "+host+" is running" && !x.LateSince.IsZero()
	})
	modelstest.Eventually(t, "the list shows it", func() bool { return strings.Contains(bodyOf(t, s, "/watch"), "late for ") })
	modelstest.Eventually(t, "its page shows it", func() bool {
		return strings.Contains(bodyOf(t, s, "/watch/"+good[0].ID), "Waiting: another check of "+host+" is running.")
	})
	modelstest.Eventually(t, "the metrics show it", func() bool {
		_, n, found := strings.Cut(bodyOf(t, s, "/metrics"), "\nlinkwatch_targets_late ")
		return found && n[0] != '0'
	})

	since := len(s.results(good[0].ID))
	modelstest.Eventually(t, "each that hangs was checked twice more", func() bool {
		for _, x := range hanging {
			if len(s.results(x.ID)) < 3 {
				return false
			}
		}
		return len(s.results(good[0].ID)) >= since+6
	})
	for _, x := range good {
		if between := checksBetween(s, x, hanging); slices.Contains(between, 0) {
			t.Errorf("%s: no check between two that hang: %v", x.URL, between)
		}
	}
	if n := web.requests("/throttled"); n != 1 {
		t.Errorf("the throttled target got %d requests before its Retry-After ended", n)
	}
	if n := web.requests("/failing"); n != 1 {
		t.Errorf("the failing target got %d requests before its Retry-After ended", n)
	}
	if x := s.target(throttled.ID); x.Status != "pending" || x.LateReason != "" || time.Until(x.NextCheckAt) < 5*time.Minute {
		t.Errorf("throttled: %+v", x)
	}
	s.becomes(failing.ID, "down")

	web.set("/b", status(http.StatusInternalServerError))
	s.becomes(good[1].ID, "down")
	web.set("/b", article)
	s.becomes(good[1].ID, "up")
	outages, _ := listed[struct{ Cause string }](s, "/v1/targets/"+good[1].ID+"/outages")
	if len(outages) != 1 || outages[0].Cause != "unexpected status 500" {
		t.Errorf("outages: %+v", outages)
	}

	// A requested check goes before the others that wait.
	before := web.requests("/c")
	if status := s.Call("POST", "/v1/targets/"+good[2].ID+"/check", nil, nil); status != http.StatusOK || web.requests("/c") == before {
		t.Errorf("check now: status %d", status)
	}
	// Those that hang are checked too, and can recover.
	for _, x := range hanging {
		web.set(strings.TrimPrefix(x.URL, web.URL), article)
	}
	for _, x := range hanging {
		s.becomes(x.ID, "up")
	}
	modelstest.Eventually(t, "no target is late", func() bool { return s.target(good[0].ID).LateReason == "" })
	for filter, want := range map[string]int{host: 7, "127.0.0.1": 7, "127.0.0.1:1": 0} {
		if all, _ := listed[target](s, "/v1/targets?host="+url.QueryEscape(filter)); len(all) != want {
			t.Errorf("host=%s: %d targets, want %d", filter, len(all), want)
		}
	}
}

// checksBetween returns the number of checks of a target between each two checks that hang, after each has hung once.
func checksBetween(s *Server, x target, hanging []target) (between []int) {
	s.t.Helper()
	var hung []time.Time
	for _, h := range hanging {
		for _, r := range s.results(h.ID) {
			if r.Error == "timed out" {
				hung = append(hung, r.CheckedAt)
			}
		}
	}
	slices.SortFunc(hung, time.Time.Compare)
	hung = hung[len(hanging):]
	checks := s.results(x.ID)
	for i := range hung[:len(hung)-1] {
		n := 0
		for _, r := range checks {
			if r.CheckedAt.After(hung[i]) && r.CheckedAt.Before(hung[i+1]) {
				n++
			}
		}
		between = append(between, n)
	}
	return between
}
