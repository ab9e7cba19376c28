package targets_test

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/targets"
)

func TestAddTarget(t *testing.T) {
	s := apptest.New(t)
	a := s.Do("POST", "/v1/targets", `{"url":"HTTPS://Example.com:443/path/?a=1#section","name":"Shop","interval_seconds":60,
		"expect":{"status":"200-299, 404","keyword":"cart","keyword_absent":"sorry","max_latency_ms":800}}`)
	got := a.Want(http.StatusCreated)
	at := "/v1/targets/" + fmt.Sprint(got["id"])
	if a.Header.Get("Location") != at || !strings.HasPrefix(at, "/v1/targets/t_") {
		t.Errorf("Location %q", a.Header.Get("Location"))
	}
	want := map[string]any{
		"url": "HTTPS://Example.com:443/path/?a=1#section", "canonical_url": "https://example.com/path?a=1", "host": "example.com",
		"name": "Shop", "interval_seconds": 60.0, "paused": false, "status": "pending", "owner": "system", "private": false,
		"expect":     map[string]any{"status": "200-299,404", "keyword": "cart", "keyword_absent": "sorry", "max_latency_ms": 800.0},
		"created_at": "2026-03-24T12:00:00Z", "updated_at": "2026-03-24T12:00:00Z", "next_check_at": "2026-03-24T12:00:00Z",
		"last_checked_at": nil, "last_status_code": nil, "last_latency_ms": nil, "last_error": nil, "consecutive_failures": 0.0,
		"late_since": nil, "late_reason": nil,
		"tls_expires_at": nil, "uptime": map[string]any{"24h": nil, "7d": nil, "30d": nil, "90d": nil},
		"uptime_since": map[string]any{"24h": nil, "7d": nil, "30d": nil, "90d": nil},
	}
	apptest.Has(t, got, want)
	apptest.Has(t, s.Do("GET", at, "").Want(200), want)
	if len(got) != len(want)+1 {
		t.Errorf("%d members, want %d and the id: %v", len(got), len(want), got)
	}
	s.Do("HEAD", at, "").Want(200)

	plain := s.Do("POST", "/v1/targets", `{"url":"http://plain.test","name":null,"interval_seconds":null,"expect":null}`).Want(http.StatusCreated)
	apptest.Has(t, plain, map[string]any{
		"name": "", "interval_seconds": 15.0, "canonical_url": "http://plain.test",
		"expect": map[string]any{"status": "200-399", "keyword": nil, "keyword_absent": nil, "max_latency_ms": nil},
	})
}

// TestBoundInDigits checks that messages show bounds without exponents.
func TestBoundInDigits(t *testing.T) {
	s := apptest.New(t)
	a := s.Do("POST", "/v1/targets", `{"url":"https://example.com","interval_seconds":2592001}`)
	a.Problem(400, "invalid-request", "interval_seconds")
	if !strings.Contains(a.Body, "at most 2,592,000") || strings.Contains(a.Body, "e+06") {
		t.Errorf("the message is %s", a.Body)
	}
}

func TestTargetShowsLastResult(t *testing.T) {
	s := apptest.New(t)
	id := s.Watch("https://example.com", "").ID
	for _, c := range []struct {
		found targets.Result
		want  map[string]any
	}{
		{foundUp, map[string]any{"status": "up", "last_status_code": 200.0, "last_latency_ms": 40.0, "last_error": nil, "consecutive_failures": 0.0}},
		{foundSilent, map[string]any{"status": "down", "last_status_code": nil, "last_latency_ms": 0.0, "last_error": "connection refused", "consecutive_failures": 1.0}},
		{foundDown, map[string]any{"status": "down", "last_status_code": 404.0, "last_error": "unexpected status 404", "consecutive_failures": 2.0}},
		{foundThrottled, map[string]any{"status": "down", "last_status_code": 429.0, "last_error": "throttled: status 429", "consecutive_failures": 2.0}},
	} {
		check(s, id, c.found)
		got := s.Do("GET", "/v1/targets/"+id, "").Want(200)
		apptest.Has(t, got, c.want)
		if got["last_checked_at"] != s.Clock.Now().Format(time.RFC3339) {
			t.Errorf("last_checked_at %v", got["last_checked_at"])
		}
	}
	uptime, _ := s.Do("GET", "/v1/targets/"+id, "").Want(200)["uptime"].(map[string]any)
	for _, window := range []string{"24h", "7d", "30d", "90d"} {
		if uptime[window] != 1/3.0 {
			t.Errorf("uptime over %s is %v, want 1/3: throttled time does not count", window, uptime[window])
		}
	}
}

func TestFilterTargets(t *testing.T) {
	s := apptest.New(t)
	a, b, c := s.Watch("https://shop.test/a", "").ID, s.Watch("https://shop.test:8443/b_c", "").ID, s.Watch("https://other.test", "").ID
	s.Do("PATCH", "/v1/targets/"+a, `{"name":"Straße"}`).Want(200)
	s.Do("PATCH", "/v1/targets/"+b, `{"paused":true}`).Want(200)
	check(s, a, foundDown)
	for query, want := range map[string][]string{
		"":                           {a, b, c},
		"host=SHOP.test":             {a, b},
		"host=shop.test:8443":        {b},
		"host=shop":                  nil,
		"status=paused":              {b},
		"status=down":                {a},
		"status=pending":             {c},
		"status=up":                  nil,
		"q=strasse":                  {a},
		"q=b_c":                      {b},
		"q=b%25c":                    nil,
		"q=test&host=other.test":     {c},
		"limit=1&host=shop.test":     {a},
		"host=&status=&q=&limit=500": {a, b, c},
	} {
		if got := apptest.Column(s.Do("GET", "/v1/targets?"+query, "").Want(200), "id"); got != strings.Join(want, " ") {
			t.Errorf("%s: %s, want %v", query, got, want)
		}
	}
	if body := s.Do("GET", "/v1/targets?host=none.test", "").Body; !strings.Contains(body, `"items":[]`) || !strings.Contains(body, `"next_page_token":""`) {
		t.Errorf("an empty page: %s", body)
	}
}

func TestEditTarget(t *testing.T) {
	s := apptest.New(t)
	at := "/v1/targets/" + s.Watch("https://example.com", "").ID
	s.Clock.Advance(time.Minute)
	expect := func(members ...any) map[string]any {
		return map[string]any{"expect": map[string]any{
			"status": members[0], "keyword": members[1], "keyword_absent": members[2], "max_latency_ms": members[3],
		}}
	}
	for _, c := range []struct {
		body string
		want map[string]any
	}{
		{`{}`, map[string]any{"name": "", "updated_at": "2026-03-24T12:00:00Z"}},
		{`{"name":"Shop","interval_seconds":3600}`, map[string]any{"name": "Shop", "interval_seconds": 3600.0, "updated_at": "2026-03-24T12:01:00Z"}},
		{`{"name":null}`, map[string]any{"name": "", "interval_seconds": 3600.0}},
		{`{"interval_seconds":null}`, map[string]any{"interval_seconds": 15.0}},
		{`{"interval_seconds":1}`, map[string]any{"interval_seconds": 1.0}},
		{`{"expect":{"keyword":"cart","max_latency_ms":5}}`, expect("200-399", "cart", nil, 5.0)},
		{`{"expect":{"status":"200","keyword_absent":"no"}}`, expect("200", "cart", "no", 5.0)},
		{`{"expect":{"keyword":null,"status":null}}`, expect("200-399", nil, "no", 5.0)},
		{`{"expect":{}}`, expect("200-399", nil, "no", 5.0)},
		{`{"name":"x"}`, expect("200-399", nil, "no", 5.0)},
		{`{"expect":null}`, expect("200-399", nil, nil, nil)},
		{`{"paused":true}`, map[string]any{"paused": true, "status": "paused", "next_check_at": nil}},
		{`{"paused":true}`, map[string]any{"status": "paused"}},
		{`{"paused":false}`, map[string]any{"paused": false, "status": "pending", "next_check_at": "2026-03-24T12:01:00Z"}},
	} {
		got := s.Do("PATCH", at, c.body).Want(200)
		apptest.Has(t, got, c.want)
		if now := s.Do("GET", at, "").Want(200); !reflect.DeepEqual(now, got) {
			t.Errorf("%s answered %v, and then the target is %v", c.body, got, now)
		}
	}
}

func TestDeleteAndRestoreTarget(t *testing.T) {
	s := apptest.New(t)
	id := s.Watch("https://example.com", "").ID
	at := "/v1/targets/" + id
	check(s, id, foundUp)
	s.Do("POST", at+"/restore", "").Problem(404, "not-found", "")
	if a := s.Do("DELETE", at, ""); a.Status != http.StatusNoContent || a.Body != "" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	for _, call := range []string{"GET ", "DELETE ", "GET /results", "GET /outages", "GET /history", "POST /check"} {
		method, path, _ := strings.Cut(call, " ")
		s.Do(method, at+path, "").Problem(404, "not-found", "")
	}
	s.Do("PATCH", at, `{}`).Problem(404, "not-found", "")
	s.Do("PATCH", at, `{"expect":{}}`).Problem(404, "not-found", "")
	if n := len(apptest.Items(s.Do("GET", "/v1/checks", "").Want(200))); n != 0 {
		t.Errorf("%d checks of a deleted target are listed", n)
	}
	apptest.Has(t, s.Do("POST", at+"/restore", "").Want(200), map[string]any{"id": id, "last_status_code": 200.0})
	if n := len(apptest.Items(s.Do("GET", at+"/results", "").Want(200))); n != 1 {
		t.Errorf("%d results came back, want 1", n)
	}
	s.Do("DELETE", at, "").Want(http.StatusNoContent)
	if other := s.Watch("https://example.com", "").ID; other == id {
		t.Error("got the id of a deleted target")
	}
	s.Do("POST", at+"/restore", "").Problem(409, "conflict", "")
}

func TestCheckTarget(t *testing.T) {
	s := apptest.New(t)
	id := s.Watch("https://example.com", "").ID
	at := "/v1/targets/" + id + "/check"
	s.Do("POST", "/v1/targets/"+models.NewID(models.KindTarget)+"/check", "").Problem(404, "not-found", "")
	s.Do("PATCH", "/v1/targets/"+id, `{"paused":true}`).Want(200)
	s.Do("POST", at, "").Problem(409, "conflict", "")
	s.Do("PATCH", "/v1/targets/"+id, `{"paused":false}`).Want(200)

	asked := func() <-chan apptest.Response {
		select {
		case <-s.Targets.Wanted(): // from the changes above
		default:
		}
		s.Clock.Advance(time.Second)
		answered := make(chan apptest.Response, 1)
		go func() {
			defer close(answered)
			answered <- s.Do("POST", at, "")
		}()
		<-s.Targets.Wanted()
		return answered
	}
	answered := asked()
	s.Finish(id, targets.Checked{Result: foundDown})
	got := (<-answered).Want(http.StatusOK)
	apptest.Has(t, got, map[string]any{
		"target_id": id, "checked_at": s.Clock.Now().Format(time.RFC3339), "status_code": 404.0, "latency_ms": 3.0,
		"error": "unexpected status 404", "attempts": 1.0, "outcome": "down",
	})
	if list := apptest.Items(s.Do("GET", "/v1/targets/"+id+"/results", "").Want(200)); len(list) != 1 || !reflect.DeepEqual(list[0], got) {
		t.Errorf("the answer is %v, the list %v", got, list)
	}

	s.Clock.Advance(time.Second)
	s.Must(s.Targets.RequestCheck(s.Context(), id))
	s.Finish(id, targets.Checked{Result: foundThrottled, RetryAfter: 90 * time.Minute})
	s.Clock.Advance(30 * time.Minute)
	resting := s.Do("POST", at, "")
	resting.Problem(409, "conflict", "")
	if got := resting.Header.Get("Retry-After"); got != "3600" {
		t.Errorf("Retry-After %q, want 3600", got)
	}
	s.Clock.Advance(time.Hour)

	answered = asked()
	s.Health.Stopping()
	if a := <-answered; a.Status != http.StatusAccepted || a.Body != "" {
		t.Errorf("a check that does not end: %d %q", a.Status, a.Body)
	}
}
