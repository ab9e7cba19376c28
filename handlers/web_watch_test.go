package handlers_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"linkwatch/models"
	"linkwatch/models/targets"
)

// watch adds a target.
func (s *site) watch(u, name string) targets.Target {
	s.t.Helper()
	t, created, err := s.targets.Add(s.t.Context(), targets.New{URL: u, Name: name})
	if err != nil || !created {
		s.t.Fatal(created, err)
	}
	return t
}

// check records a check of every target that is due, as a checker would, and
// moves the clock on until all with the shortest interval are due again.
func (s *site) check(find func(targets.Target) targets.Checked) {
	s.t.Helper()
	const checker = "k_test"
	_, err := s.targets.Hold(s.t.Context(), checker)
	var ts []targets.Target
	if err == nil {
		ts, _, err = s.targets.Claim(s.t.Context(), checker, 500)
	}
	var done []targets.Checked
	for _, t := range ts {
		c := find(t)
		c.Target, c.Result.CheckedAt, c.Result.Attempts = t, s.targets.Now(), 1
		done = append(done, c)
	}
	if err == nil {
		err = s.targets.Record(s.t.Context(), checker, done...)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.clock.Advance(25 * time.Second)
}

func isUp(targets.Target) targets.Checked {
	return targets.Checked{Result: targets.Result{StatusCode: 200, LatencyMS: 84}}
}

func isDown(targets.Target) targets.Checked {
	return targets.Checked{Result: targets.Result{Outcome: targets.DownOutcome, StatusCode: 503, LatencyMS: 7, Error: "unexpected status 503"}}
}

func TestWatchPages(t *testing.T) {
	s := newSite(t)
	a := s.get("/watch")
	wantText(t, a, ".empty", "Nothing is watched yet")
	wantCount(t, a, ".filters nav", 0)
	wantText(t, s.get("/"), ".steps", "Watch what must not fail")

	a = s.follow("/watch", url.Values{"url": {"EXAMPLE.com/x"}, "name": {hostile}, "interval_seconds": {"60"}, "keyword": {"ok"}})
	wantText(t, a, ".flash", "Watching "+hostile)
	wantText(t, a, ".targets .title", hostile)
	wantText(t, a, ".targets .where .host", "example.com")
	wantText(t, a, ".targets .where", "/x")
	wantText(t, a, ".targets .mark", "pending")
	wantCount(t, a, "main script, main img", 0)
	path := a.Find(".targets .title").AttrOr("href", "")

	a = s.follow("/watch", url.Values{"url": {"https://example.com/x#again"}})
	wantText(t, a, ".flash", "You watch this already")
	wantCount(t, a, ".targets tbody tr", 1)

	a = s.get(path)
	wantText(t, a, "h1", hostile)
	wantText(t, a, ".state", "has not been checked yet")
	wantText(t, a, ".facts", "every minute")
	wantText(t, a, ".facts", "status 200-399; contains “ok”")
	wantText(t, a, ".chart", "Nothing answered in this time")
	wantCount(t, a, "main script, main img", 0)
	wantText(t, a, ".outages, .all-well", "No outage so far.")

	s.check(isUp)
	s.clock.Advance(2 * time.Minute) // it is checked every minute
	s.check(isDown)
	a = s.get("/watch")
	wantText(t, a, ".targets .mark", "down")
	wantText(t, a, ".targets .failure", "unexpected status 503")
	wantText(t, a, ".targets .since", "25 s ago")
	if got := a.Find(".targets .beats").AttrOr("aria-label", ""); got != "1 of 2 checks up" {
		t.Errorf("the beat bar says %q", got)
	}
	wantText(t, a, ".targets .beats title", "down · 24 Mar, 12:02:25 UTC")
	wantText(t, a, `.targets .share[data-label="30 days"]`, "82.76%")
	wantText(t, a, `.targets .share[data-label="30 days"] small`, "2 min ago")
	a = s.get(path)
	wantText(t, a, ".state", "went down 25 s ago")
	wantText(t, a, ".state", "Unexpected status 503.")
	wantText(t, a, ".outages", "Unexpected status 503")
	wantText(t, a, ".outages", "25 s so far")
	wantCount(t, a, ".checks tbody tr", 2)
	wantCount(t, s.get(path+"?failed=true"), ".checks tbody tr", 1)
	if got := a.Find(".chart svg[role=img]").First().AttrOr("aria-label", ""); !strings.HasPrefix(got, "Latency over the last 24 hours: median ") {
		t.Errorf("the chart says %q", got)
	}
	wantCount(t, a, ".figures tbody tr", 24)
	wantText(t, s.get(path+"?range=90d"), "#latency", "last 90 days")
	a = s.get("/")
	wantText(t, a, ".attention", hostile)
	wantText(t, a, ".attention", "Unexpected status 503 · went down 25 s ago")
	wantText(t, a, ".tiles", "1 down")

	for _, bad := range []string{"/watch?status=well", "/watch?page_token=x", path + "?range=2d", path + "?page_token=x", path + "?outages=x", "/watch/t_none"} {
		if a := s.get(bad); a.StatusCode != 400 && a.StatusCode != 404 {
			t.Errorf("%s: status %d", bad, a.StatusCode)
		}
	}
}

func TestWatchPart(t *testing.T) {
	s := newSite(t)
	id := s.watch("https://example.com", "One").ID
	for path, part := range map[string]string{"/watch": "#targets", "/watch?status=pending&q=one": "#targets", "/watch/" + id: "#now"} {
		a := s.part(path)
		wantCount(t, a, part, 1)
		wantCount(t, a, "header, form.add, form.panel", 0)
		if got := a.Find(part).AttrOr("hx-get", ""); got == "" || got != a.Header.Get("HX-Replace-Url") {
			t.Errorf("%s polls %q, and the address bar would show %q", path, got, a.Header.Get("HX-Replace-Url"))
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Header.Set("HX-Request", "true")
		r.Header.Set("HX-History-Restore-Request", "true")
		wantCount(t, s.do(r), "nav[aria-label=Main]", 1)
	}
	if got := s.part("/watch?done=stopped").Header.Get("HX-Trigger"); !strings.Contains(got, `{"say":{"text":"Paused.`) {
		t.Errorf("the part says %q", got)
	}
	token := models.Cursor{CreatedAt: s.targets.Now(), ID: models.NewID(models.KindCheck)}.Token()
	if _, polls := s.get("/watch/" + id + "?page_token=" + token).Find("#now").Attr("hx-get"); polls {
		t.Error("older checks are polled for what is new")
	}
}

func TestWatchErrorsStandNextToTheirField(t *testing.T) {
	s := newSite(t)
	id := s.watch("https://example.com", "One").ID
	typed := url.Values{
		"url": {"https://example.com/new"}, "name": {"kept <b>"}, "interval_seconds": {"300"},
		"status": {"200-299"}, "keyword": {"in"}, "keyword_absent": {"out"}, "max_latency_ms": {"900"},
	}
	for _, c := range []struct{ field, value, message string }{
		{"url", "ftp://example.com", "#url-error"},
		{"name", strings.Repeat("x", targets.MaxName+1), "#name-error"},
		{"interval_seconds", "-5", "#interval-error"},
		{"interval_seconds", "soon", "#interval-error"},
		{"status", "2xx", "#status-error"},
		{"keyword", strings.Repeat("x", targets.MaxKeyword+1), "#keyword-error"},
		{"keyword_absent", strings.Repeat("x", targets.MaxKeyword+1), "#absent-error"},
		{"max_latency_ms", "fast", "#latency-error"},
	} {
		form := url.Values{}
		for name, values := range typed {
			form[name] = values
		}
		form.Set(c.field, c.value)
		for _, path := range []string{"/watch", "/watch/" + id} {
			if c.field == "url" && path != "/watch" {
				continue // cannot be edited
			}
			a := s.post(path, form)
			wantStatus(t, a, http.StatusBadRequest)
			if text(a, c.message) == "" {
				t.Errorf("POST %s with %s=%q: no message at %s", path, c.field, c.value, c.message)
			}
			wantCount(t, a, `[aria-invalid="true"]`, 1)
			for _, name := range []string{"name", "status", "keyword", "keyword_absent", "max_latency_ms"} {
				if got := a.Find("main input[name="+name+"]").AttrOr("value", ""); got != form.Get(name) {
					t.Errorf("POST %s with a bad %s: %s came back as %q", path, c.field, name, got)
				}
			}
			if c.field != "interval_seconds" {
				wantCount(t, a, `option[value="300"][selected]`, 1)
			}
			if path != "/watch" || c.field != "url" {
				wantCount(t, a, "details[open]", 1)
			}
		}
	}
	a := s.get("/watch")
	wantCount(t, a, ".targets tbody tr", 1)
	wantText(t, a, ".targets .title", "One")

	typed.Set("interval_seconds", "90") // by the API, say
	a = s.follow("/watch/"+id, typed)
	wantText(t, a, ".flash", "Saved. It is checked anew within moments.")
	wantText(t, a, "h1", "kept <b>")
	wantText(t, a, ".facts", "every 90 seconds")
	wantText(t, a, ".facts", "status 200-299; contains “in”; does not contain “out”; within 900 ms")
	wantCount(t, a, `option[value="90"][selected]`, 1)
	wantStatus(t, s.post("/watch/"+models.NewID(models.KindTarget), typed), http.StatusNotFound)

	s.check(isUp)
	typed.Set("name", "another")
	if got := text(s.follow("/watch/"+id, typed), ".flash"); got != "Saved." {
		t.Errorf("after another name: %q", got)
	}
	s.follow("/watch/"+id+"/paused", url.Values{"paused": {"true"}})
	typed.Set("keyword", "other")
	if got := text(s.follow("/watch/"+id, typed), ".flash"); got != "Saved." {
		t.Errorf("after a change of a paused target: %q", got)
	}
}

func TestWatchFilters(t *testing.T) {
	s := newSite(t)
	s.watch("https://down.example.com/a", "Alpha")
	s.watch("https://up.example.com", "Beta")
	s.watch("https://up.example.com/two", "")
	s.check(func(t targets.Target) targets.Checked {
		if t.Host == "down.example.com" {
			return isDown(t)
		}
		return isUp(t)
	})
	paused := s.watch("https://paused.example.com", "Gamma")
	a := s.follow("/watch/"+paused.ID+"/paused", url.Values{"paused": {"true"}, "back": {"/watch?q=example&status=paused"}})
	wantText(t, a, ".flash", "Paused.")
	wantCount(t, a, ".targets tbody tr", 1)
	wantCount(t, a, "[data-check][disabled]", 1)
	s.watch("https://pending.example.com", "")
	for query, want := range map[string]int{
		"": 5, "status=down": 1, "status=up": 2, "status=paused": 1, "status=pending": 1,
		"host=up.example.com": 2, "host=UP.example.com&q=two": 1, "q=alp": 1, "q=example.com/two": 1, "q=nothing": 0, "host=a%22": 0,
	} {
		a := s.get("/watch?" + query)
		wantStatus(t, a, http.StatusOK)
		wantCount(t, a, ".targets tbody tr", want)
		if want == 0 {
			wantText(t, a, ".empty", "No target matches")
		} else {
			wantText(t, a, "#count", fmt.Sprintf("%d target", want))
		}
	}
	a = s.get("/watch?status=up&q=two")
	wantText(t, a, ".choices", "all 5 down 1 pending 1 up 2 paused 1")
	if got := a.Find(".choices .down").AttrOr("href", ""); got != "/watch?q=two&status=down" {
		t.Errorf("the chip leads to %q", got)
	}
	if got := a.Find("#q").AttrOr("value", ""); got != "two" {
		t.Errorf("the query came back as %q", got)
	}
	a = s.follow("/watch/"+paused.ID+"/paused", url.Values{"paused": {"false"}})
	wantText(t, a, ".flash", "Resumed.")
	wantText(t, a, ".state", "pending")
}

// TestPagesAreUTF8, whatever is sent.
func TestPagesAreUTF8(t *testing.T) {
	s := newSite(t)
	s.watch("https://example.com", "One")
	for name, a := range map[string]page{
		"host": s.get("/watch?host=%ff"), "q": s.get("/watch?q=a%ffb"), "url": s.get("/watch?url=%ff"),
		"links": s.get("/links?q=%ff"), "a form": s.post("/watch", url.Values{"url": {"ftp://x.test"}, "name": {"a\xffb"}}),
	} {
		if !utf8.ValidString(a.body) || !strings.Contains(a.body, "\uFFFD") {
			t.Errorf("%s: what is no UTF-8 does not come back as such", name)
		}
	}
}

func TestWatchByCursor(t *testing.T) {
	s := newSite(t)
	for i := range 203 {
		s.watch(fmt.Sprintf("https://example.com/%d", i), fmt.Sprintf("T%d", i))
	}
	seen := map[string]bool{}
	path, pages := "/watch", 0
	for path != "" {
		a := s.get(path)
		for _, id := range strings.Fields(text(a, ".targets .title")) {
			if seen[id] {
				t.Errorf("%s stands on two pages", id)
			}
			seen[id] = true
		}
		wantText(t, a, "#count", "203 targets")
		pages++
		path = a.Find("a[rel=next]").AttrOr("href", "")
		if pages > 1 {
			wantCount(t, a, `a[rel=prev][href="/watch"]`, 1)
		}
	}
	if len(seen) != 203 || pages != 3 {
		t.Errorf("%d targets on %d pages, want 203 on 3", len(seen), pages)
	}
}

func TestWatchConstantNumberOfQueries(t *testing.T) {
	s := newSite(t)
	first := s.watch("https://example.com/first", "First").ID
	s.save("https://example.com/first")
	s.check(isDown)
	add := func(n int) {
		for i := range n {
			s.watch(fmt.Sprintf("https://example.com/%d-%d", n, i), "")
		}
		s.check(isDown)
	}
	paths := []string{"/", "/watch", "/watch?q=example&host=example.com", "/watch?status=down", "/watch/" + first, "/watch/" + first + "?range=90d"}
	add(2)
	few := map[string]int64{}
	for _, p := range paths {
		few[p] = s.count(p)
	}
	add(297)
	for range 3 {
		s.check(isDown)
	}
	for _, p := range paths {
		if n := s.count(p); n != few[p] || n == 0 {
			t.Errorf("%s: %d queries with 3 targets, %d with 300", p, few[p], n)
		}
	}
}
