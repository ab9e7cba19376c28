//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/models/modelstest"
)

// Checks record when the certificate expires.
func TestCertificateOfATarget(t *testing.T) {
	t.Parallel()
	web, setting := trusted(t, article)
	s := Start(t, setting)
	plain := s.addTarget(site(t).URL)
	secure := s.addTarget(web.URL)
	s.becomes(secure.ID, "up")
	s.becomes(plain.ID, "up")
	if got, want := s.target(secure.ID).TLSExpiresAt, web.Certificate().NotAfter; !got.Equal(want) {
		t.Errorf("got certificate expiry %v, want %v", got, want)
	}
	if got := s.target(plain.ID).TLSExpiresAt; !got.IsZero() {
		t.Errorf("target without TLS: got certificate expiry %v", got)
	}
}

// Targets in the API: add, read, wait for checks, edit, delete.
func TestTargetAPI(t *testing.T) {
	t.Parallel()
	web, s := site(t), Start(t, "CHECK_INTERVAL=300ms")
	spelled := strings.Replace(web.URL, "http", "HTTP", 1) + "/status/?a=1#section"
	first := s.addTargetAs(map[string]any{"url": spelled, "name": "The site"})
	if first.Status != "pending" || first.URL != spelled || first.CanonicalURL != web.URL+"/status?a=1" || first.Host != "127.0.0.1" || first.Name != "The site" {
		t.Errorf("new target: got %+v", first)
	}
	var again target
	if status := s.Call("POST", "/v1/targets", map[string]any{"url": web.URL + "/status/?a=1"}, &again); status != 200 || again.ID != first.ID {
		t.Errorf("the same URL in another spelling: got %d with %s, want 200 with %s", status, again.ID, first.ID)
	}
	other := s.addTarget(web.URL + "/other")

	// Checks run without requests. Their results are listed newest first, in pages without skips or repeats.
	modelstest.Eventually(t, "five checks of each are stored", func() bool { return len(s.results(first.ID)) >= 5 && len(s.results(other.ID)) >= 5 })
	if now := s.target(first.ID); now.Status != "up" || now.LastStatusCode != 200 || now.LastError != "" || now.Uptime["24h"] == nil || *now.Uptime["24h"] != 1 {
		t.Errorf("after five successful checks: got %+v", now)
	}
	newest := s.results(first.ID)[0]
	all := everything[result](s, "/v1/targets/"+first.ID+"/results", 2)
	inOrder := slices.IsSortedFunc(all, func(a, b result) int { return b.CheckedAt.Compare(a.CheckedAt) })
	once := map[string]bool{}
	for _, r := range all {
		once[r.ID] = true
		if r.TargetID != first.ID || r.StatusCode != 200 || r.Error != "" || r.Attempts != 1 {
			t.Errorf("successful check: got %+v", r)
		}
	}
	if !inOrder || len(once) != len(all) || !once[newest.ID] {
		t.Errorf("pages of two: got %d results, %d distinct, newest first: %v", len(all), len(once), inOrder)
	}
	since := all[2].CheckedAt.Format(time.RFC3339Nano)
	for _, r := range everything[result](s, "/v1/targets/"+first.ID+"/results?since="+url.QueryEscape(since), 500) {
		if r.CheckedAt.Before(all[2].CheckedAt) {
			t.Errorf("since=%s lists a check of %s", since, r.CheckedAt)
		}
	}

	// A paused target is not checked, but others are.
	var paused target
	if status := s.Call("PATCH", "/v1/targets/"+first.ID, map[string]any{"paused": true}, &paused); status != 200 || paused.Status != "paused" || !paused.NextCheckAt.IsZero() {
		t.Errorf("pause: got %d, status %s, next check %s", status, paused.Status, paused.NextCheckAt)
	}
	checks, neighbor := web.requests("/status"), web.requests("/other")
	modelstest.Eventually(t, "five more checks of the other target", func() bool { return web.requests("/other") >= neighbor+5 })
	if more := web.requests("/status") - checks; more > 1 { // one check may have been running
		t.Errorf("paused target: got %d checks", more)
	}
	if status := s.Call("POST", "/v1/targets/"+first.ID+"/check", nil, nil); status != 409 {
		t.Errorf("check a paused target now: got %d, want 409", status)
	}
	s.Call("PATCH", "/v1/targets/"+first.ID, map[string]any{"paused": false, "name": "Renamed", "interval_seconds": 3600}, nil)
	s.becomes(first.ID, "up")
	if now := s.target(first.ID); now.Name != "Renamed" || now.IntervalSeconds != 3600 || now.NextCheckAt.Before(time.Now().Add(30*time.Minute)) {
		t.Errorf("after the change: got %+v", now)
	}

	// A check can be requested long before it is due.
	before := s.results(first.ID)
	var now result
	if status := s.Call("POST", "/v1/targets/"+first.ID+"/check", nil, &now); status != 200 || now.TargetID != first.ID || now.StatusCode != 200 {
		t.Errorf("check now: got %d %+v", status, now)
	}
	if after := s.results(first.ID); len(after) != len(before)+1 || after[0].ID != now.ID {
		t.Errorf("after check now: got %d results, before %d, the newest is %s, want %s", len(after), len(before), after[0].ID, now.ID)
	}

	if status := s.Call("DELETE", "/v1/targets/"+first.ID, nil, nil); status != 204 {
		t.Errorf("delete: got %d, want 204", status)
	}
	if status := s.Call("GET", "/v1/targets/"+first.ID, nil, nil); status != 404 {
		t.Errorf("deleted target: got %d, want 404", status)
	}
	if again := s.addTarget(web.URL + "/status?a=1"); again.ID == first.ID {
		t.Error("the new target has the id of the deleted one")
	}
}

// A target that is down has an error, and the first successful check ends its outage.
func TestTargetDownAndUp(t *testing.T) {
	t.Parallel()
	web, s := site(t), Start(t, "CHECK_INTERVAL=200ms")
	down := s.addTarget(web.set("/shop", status(404)))
	s.becomes(down.ID, "down")
	modelstest.Eventually(t, "it failed twice", func() bool { return s.target(down.ID).ConsecutiveFailures >= 2 })
	if now := s.target(down.ID); now.LastError != "unexpected status 404" || now.LastStatusCode != 404 {
		t.Errorf("down: got error %q, status %d", now.LastError, now.LastStatusCode)
	}
	if r := s.results(down.ID)[0]; r.Error != "unexpected status 404" || r.Attempts != 1 {
		t.Errorf("404: got %+v, want one attempt", r)
	}
	web.set("/shop", nil)
	s.becomes(down.ID, "up")
	if now := s.target(down.ID); now.LastError != "" || now.ConsecutiveFailures != 0 || *now.Uptime["24h"] >= 1 || *now.Uptime["24h"] <= 0 {
		t.Errorf("up again: got %+v, uptime %v", now, *now.Uptime["24h"])
	}
	outages, _ := listed[struct {
		Cause     string
		StartedAt time.Time  `json:"started_at"`
		EndedAt   *time.Time `json:"ended_at"`
	}](s, "/v1/targets/"+down.ID+"/outages")
	if len(outages) != 1 || outages[0].Cause != "unexpected status 404" || outages[0].EndedAt == nil || !outages[0].EndedAt.After(outages[0].StartedAt) {
		t.Errorf("got outages %+v, want one that has ended", outages)
	}

	// Checks also evaluate expectations.
	keyword := s.addTargetAs(map[string]any{"url": web.set("/keyword", titled("All is well")), "expect": map[string]any{"keyword": "well"}})
	absent := s.addTargetAs(map[string]any{"url": web.URL + "/keyword?2", "expect": map[string]any{"keyword_absent": "All is"}})
	teapot := s.addTargetAs(map[string]any{"url": web.set("/teapot", status(418)), "expect": map[string]any{"status": "418"}})
	s.becomes(keyword.ID, "up")
	s.becomes(absent.ID, "down")
	s.becomes(teapot.ID, "up")
}

// keyed posts a target with an Idempotency-Key.
func keyed(t *testing.T, s *Server, key, url string) (status int, got target) {
	t.Helper()
	res := send(t, s, "POST", "/v1/targets", `{"url": "`+url+`"}`, func(r *http.Request) {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", key)
	})
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, got
}

// A key creates one target, even if later requests have another body, also after a restart.
func TestTargetIdempotencyKey(t *testing.T) {
	t.Parallel()
	web, store := site(t), storeIn(t)
	s := Start(t, store)
	status, first := keyed(t, s, "retry-1", web.URL+"/one")
	if status != 201 {
		t.Fatalf("first use of a key: got %d, want 201", status)
	}
	for _, path := range []string{"/one", "/two"} {
		if status, got := keyed(t, s, "retry-1", web.URL+path); status != 200 || got.ID != first.ID || got.URL != first.URL {
			t.Errorf("key again, with %s: got %d with %s of %s, want 200 with the first", path, status, got.ID, got.URL)
		}
	}
	s.Kill()
	s = Start(t, store)
	if status, got := keyed(t, s, "retry-1", web.URL+"/three"); status != 200 || got.ID != first.ID {
		t.Errorf("key after a restart: got %d with %s, want 200 with the first", status, got.ID)
	}
	if all, _ := listed[target](s, "/v1/targets"); len(all) != 1 {
		t.Errorf("got %d targets for one key, want 1", len(all))
	}
}

// Pages of targets have no gaps and no repeats while targets are added and deleted.
func TestTargetListCursors(t *testing.T) {
	t.Parallel()
	web, s := site(t), Start(t, "CHECK_INTERVAL=1h")
	port := web.URL[strings.LastIndexByte(web.URL, ':'):]
	var want []string
	for i := range 25 {
		want = append(want, s.addTarget(fmt.Sprintf("%s/page-%02d", web.URL, i)).ID)
	}
	elsewhere := s.addTarget("http://127.0.0.2" + port + "/page")
	ids := func(ts []target) (ids []string) {
		for _, t := range ts {
			ids = append(ids, t.ID)
		}
		return ids
	}
	if got := ids(everything[target](s, "/v1/targets?host=127.0.0.1", 4)); !slices.Equal(got, want) {
		t.Errorf("pages of four by host: got %q, want the order of creation %q", got, want)
	}
	if got := ids(everything[target](s, "/v1/targets?host=127.0.0.2", 4)); !slices.Equal(got, []string{elsewhere.ID}) {
		t.Errorf("other host: got %q", got)
	}
	seen, token := listed[target](s, "/v1/targets?limit=10")
	s.Call("DELETE", "/v1/targets/"+want[3], nil, nil)  // on an earlier page
	s.Call("DELETE", "/v1/targets/"+want[9], nil, nil)  // the one in the token
	s.Call("DELETE", "/v1/targets/"+want[20], nil, nil) // on a later page
	late := s.addTarget(web.URL + "/late")
	rest, _ := listed[target](s, "/v1/targets?limit=500&page_token="+url.QueryEscape(token))
	expected := append(slices.Delete(slices.Clone(want), 20, 21), elsewhere.ID, late.ID)
	if got := ids(append(seen, rest...)); !slices.Equal(got, expected) {
		t.Errorf("changes between two pages: got %q, want %q", got, expected)
	}
}
