package targets_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/targets"
)

func TestWatchPages(t *testing.T) {
	s := apptest.New(t)
	a := s.Get("/watch")
	apptest.WantText(t, a, ".empty", "No targets yet")
	apptest.WantCount(t, a, ".filters nav", 0)
	apptest.WantText(t, s.Get("/"), ".steps", "Monitor a site")

	a = s.Follow("/watch", url.Values{"url": {"EXAMPLE.com/x"}, "name": {hostile}, "interval_seconds": {"60"}, "keyword": {"ok"}})
	apptest.WantText(t, a, ".flash", "Target added: "+hostile)
	apptest.WantText(t, a, ".targets .title", hostile)
	apptest.WantText(t, a, ".targets .where .host", "example.com")
	apptest.WantText(t, a, ".targets .where", "/x")
	apptest.WantText(t, a, ".targets .mark", "pending")
	apptest.WantCount(t, a, "main script, main img", 0)
	path := a.Find(".targets .title").AttrOr("href", "")

	a = s.Follow("/watch", url.Values{"url": {"https://example.com/x#again"}})
	apptest.WantText(t, a, ".flash", "This URL is already a target")
	apptest.WantCount(t, a, ".targets tbody tr", 1)

	a = s.Get(path)
	apptest.WantText(t, a, "h1", hostile)
	apptest.WantText(t, a, ".state", "Not checked yet")
	apptest.WantText(t, a, ".facts", "every minute")
	apptest.WantText(t, a, ".facts", "status 200-399; contains “ok”")
	apptest.WantText(t, a, ".chart", "No responses in this period")
	apptest.WantCount(t, a, "main script, main img", 0)
	apptest.WantText(t, a, ".outages, .all-well", "No checks yet.")

	s.CheckDue(isUp)
	s.Clock.Advance(2 * time.Minute) // it is checked every minute
	s.CheckDue(isDown)
	a = s.Get("/watch")
	apptest.WantText(t, a, ".targets .mark", "down")
	apptest.WantText(t, a, ".targets .failure", "unexpected status 503")
	apptest.WantText(t, a, ".targets .since", "25 s ago")
	if got := a.Find(".targets .uptime-bar").AttrOr("aria-label", ""); got != "up in 1 of 2 checks" {
		t.Errorf("the uptime bar says %q", got)
	}
	apptest.WantText(t, a, ".targets .uptime-bar title", "down · 24 Mar, 12:02:25 UTC")
	apptest.WantText(t, a, `.targets .share[data-label="30 days"]`, "82.76%")
	apptest.WantText(t, a, `.targets .share[data-label="30 days"] small`, "2 min ago")
	a = s.Get(path)
	apptest.WantText(t, a, ".state", "down for 25 s")
	apptest.WantText(t, a, ".state", "Unexpected status 503.")
	apptest.WantText(t, a, ".outages", "Unexpected status 503")
	apptest.WantText(t, a, ".outages", "25 s so far")
	apptest.WantCount(t, a, ".checks tbody tr", 2)
	apptest.WantCount(t, s.Get(path+"?failed=true"), ".checks tbody tr", 1)
	if got := a.Find(".chart svg[role=img]").First().AttrOr("aria-label", ""); !strings.HasPrefix(got, "Response time over the last 24 hours: median ") {
		t.Errorf("the chart says %q", got)
	}
	apptest.WantCount(t, a, ".figures tbody tr", 24)
	apptest.WantText(t, s.Get(path+"?range=90d"), "#latency", "last 90 days")
	a = s.Get("/")
	apptest.WantText(t, a, ".attention", hostile)
	apptest.WantText(t, a, ".attention", "Unexpected status 503 · down for 25 s")
	apptest.WantText(t, a, ".tiles", "1 down")

	for _, bad := range []string{"/watch?status=well", "/watch?page_token=x", path + "?range=2d", path + "?page_token=x", path + "?outages=x", "/watch/t_none"} {
		if a := s.Get(bad); a.StatusCode != 400 && a.StatusCode != 404 {
			t.Errorf("%s: status %d", bad, a.StatusCode)
		}
	}
}

func TestWatchPart(t *testing.T) {
	s := apptest.New(t)
	id := s.Watch("https://example.com", "One").ID
	for path, part := range map[string]string{"/watch": "#targets", "/watch?status=pending&q=one": "#targets", "/watch/" + id: "#now"} {
		a := s.Part(path)
		apptest.WantCount(t, a, part, 1)
		apptest.WantCount(t, a, "header, form.add, form.panel", 0)
		if got := a.Find(part).AttrOr("hx-get", ""); got == "" || got != a.Header.Get("HX-Replace-Url") {
			t.Errorf("%s polls %q, and the address bar would show %q", path, got, a.Header.Get("HX-Replace-Url"))
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Header.Set("HX-Request", "true")
		r.Header.Set("HX-History-Restore-Request", "true")
		apptest.WantCount(t, s.Browse(r), "nav[aria-label=Main]", 1)
	}
	if got := s.Part("/watch?done=stopped").Header.Get("HX-Trigger"); !strings.Contains(got, `{"say":{"text":"Target paused.`) {
		t.Errorf("the part says %q", got)
	}
	token := models.Cursor{CreatedAt: s.Targets.Now(), ID: models.NewID(models.KindCheck)}.Token()
	if _, polls := s.Get("/watch/" + id + "?page_token=" + token).Find("#now").Attr("hx-get"); polls {
		t.Error("a page of older checks polls for new ones")
	}
}

func TestWatchErrorsAreNextToTheirField(t *testing.T) {
	s := apptest.New(t)
	id := s.Watch("https://example.com", "One").ID
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
			a := s.Post(path, form)
			apptest.WantStatus(t, a, http.StatusBadRequest)
			if apptest.Text(a, c.message) == "" {
				t.Errorf("POST %s with %s=%q: no message at %s", path, c.field, c.value, c.message)
			}
			apptest.WantCount(t, a, `[aria-invalid="true"]`, 1)
			for _, name := range []string{"name", "status", "keyword", "keyword_absent", "max_latency_ms"} {
				if got := a.Find("main input[name="+name+"]").AttrOr("value", ""); got != form.Get(name) {
					t.Errorf("POST %s with a bad %s: %s came back as %q", path, c.field, name, got)
				}
			}
			if c.field != "interval_seconds" {
				apptest.WantCount(t, a, `option[value="300"][selected]`, 1)
			}
			if path != "/watch" || c.field != "url" {
				apptest.WantCount(t, a, "details[open]", 1)
			}
		}
	}
	a := s.Get("/watch")
	apptest.WantCount(t, a, ".targets tbody tr", 1)
	apptest.WantText(t, a, ".targets .title", "One")

	typed.Set("interval_seconds", "90") // by the API, say
	a = s.Follow("/watch/"+id, typed)
	apptest.WantText(t, a, ".flash", "Saved. The next check runs shortly.")
	apptest.WantText(t, a, "h1", "kept <b>")
	apptest.WantText(t, a, ".facts", "every 90 seconds")
	apptest.WantText(t, a, ".facts", "status 200-299; contains “in”; does not contain “out”; within 900 ms")
	apptest.WantCount(t, a, `option[value="90"][selected]`, 1)
	apptest.WantStatus(t, s.Post("/watch/"+models.NewID(models.KindTarget), typed), http.StatusNotFound)

	s.CheckDue(isUp)
	typed.Set("name", "another")
	if got := apptest.Text(s.Follow("/watch/"+id, typed), ".flash"); got != "Saved." {
		t.Errorf("after another name: %q", got)
	}
	s.Follow("/watch/"+id+"/paused", url.Values{"paused": {"true"}})
	typed.Set("keyword", "other")
	if got := apptest.Text(s.Follow("/watch/"+id, typed), ".flash"); got != "Saved." {
		t.Errorf("after a change of a paused target: %q", got)
	}
}

func TestWatchFilters(t *testing.T) {
	s := apptest.New(t)
	s.Watch("https://down.example.com/a", "Alpha")
	s.Watch("https://up.example.com", "Beta")
	s.Watch("https://up.example.com/two", "")
	s.CheckDue(func(t targets.Target) targets.Checked {
		if t.Host == "down.example.com" {
			return isDown(t)
		}
		return isUp(t)
	})
	paused := s.Watch("https://paused.example.com", "Gamma")
	a := s.Follow("/watch/"+paused.ID+"/paused", url.Values{"paused": {"true"}, "back": {"/watch?q=example&status=paused"}})
	apptest.WantText(t, a, ".flash", "Target paused.")
	apptest.WantCount(t, a, ".targets tbody tr", 1)
	apptest.WantCount(t, a, "[data-check][disabled]", 1)
	s.Watch("https://pending.example.com", "")
	for query, want := range map[string]int{
		"": 5, "status=down": 1, "status=up": 2, "status=paused": 1, "status=pending": 1,
		"host=up.example.com": 2, "host=UP.example.com&q=two": 1, "q=alp": 1, "q=example.com/two": 1, "q=nothing": 0, "host=a%22": 0,
	} {
		a := s.Get("/watch?" + query)
		apptest.WantStatus(t, a, http.StatusOK)
		apptest.WantCount(t, a, ".targets tbody tr", want)
		if want == 0 {
			apptest.WantText(t, a, ".empty", "No matching targets")
		} else {
			apptest.WantText(t, a, "#count", fmt.Sprintf("%d target", want))
		}
	}
	a = s.Get("/watch?status=up&q=two")
	apptest.WantText(t, a, ".choices", "all 5 down 1 pending 1 up 2 paused 1")
	if got := a.Find(".choices .down").AttrOr("href", ""); got != "/watch?q=two&status=down" {
		t.Errorf("got chip link %q", got)
	}
	if got := a.Find("#q").AttrOr("value", ""); got != "two" {
		t.Errorf("the query came back as %q", got)
	}
	a = s.Follow("/watch/"+paused.ID+"/paused", url.Values{"paused": {"false"}})
	apptest.WantText(t, a, ".flash", "Target resumed.")
	apptest.WantText(t, a, ".state", "pending")
}

// TestPagesAreUTF8 sends invalid UTF-8.
func TestPagesAreUTF8(t *testing.T) {
	s := apptest.New(t)
	s.Watch("https://example.com", "One")
	for name, a := range map[string]apptest.Page{
		"host": s.Get("/watch?host=%ff"), "q": s.Get("/watch?q=a%ffb"), "url": s.Get("/watch?url=%ff"),
		"links": s.Get("/links?q=%ff"), "a form": s.Post("/watch", url.Values{"url": {"ftp://x.test"}, "name": {"a\xffb"}}),
	} {
		if !utf8.ValidString(a.HTML) || !strings.Contains(a.HTML, "\uFFFD") {
			t.Errorf("%s: what is no UTF-8 does not come back as such", name)
		}
	}
}

func TestWatchByCursor(t *testing.T) {
	s := apptest.New(t)
	for i := range 203 {
		s.Watch(fmt.Sprintf("https://example.com/%d", i), fmt.Sprintf("T%d", i))
	}
	seen := map[string]bool{}
	path, pages := "/watch", 0
	for path != "" {
		a := s.Get(path)
		for _, id := range strings.Fields(apptest.Text(a, ".targets .title")) {
			if seen[id] {
				t.Errorf("%s is on two pages", id)
			}
			seen[id] = true
		}
		apptest.WantText(t, a, "#count", "203 targets")
		pages++
		path = a.Find("a[rel=next]").AttrOr("href", "")
		if pages > 1 {
			apptest.WantCount(t, a, `a[rel=prev][href="/watch"]`, 1)
		}
	}
	if len(seen) != 203 || pages != 3 {
		t.Errorf("%d targets on %d pages, want 203 on 3", len(seen), pages)
	}
}

func TestWatchConstantNumberOfQueries(t *testing.T) {
	s := apptest.New(t)
	first := s.Watch("https://example.com/first", "First").ID
	s.Save("https://example.com/first")
	s.CheckDue(isDown)
	add := func(n int) {
		for i := range n {
			s.Watch(fmt.Sprintf("https://example.com/%d-%d", n, i), "")
		}
		s.CheckDue(isDown)
	}
	paths := []string{"/", "/watch", "/watch?q=example&host=example.com", "/watch?status=down", "/watch/" + first, "/watch/" + first + "?range=90d"}
	add(2)
	few := map[string]int64{}
	for _, p := range paths {
		few[p] = s.Count(p)
	}
	add(297)
	for range 3 {
		s.CheckDue(isDown)
	}
	for _, p := range paths {
		if n := s.Count(p); n != few[p] || n == 0 {
			t.Errorf("%s: %d queries with 3 targets, %d with 300", p, few[p], n)
		}
	}
}

// A late target is marked on the list and its page, and in the API. The port of a target is in its title, its host and
// the filter by host.
func TestLateTargetOnPages(t *testing.T) {
	s := apptest.New(t)
	one := s.Watch("http://127.0.0.1:18700/up", "", foundUp)
	two := s.Watch("http://127.0.0.1:18701/up", "", foundUp)
	apptest.WantCount(t, s.Get("/watch"), "#"+two.ID+" .late", 0)
	s.Clock.Advance(time.Hour)
	a := s.Get("/watch")
	apptest.WantCount(t, a, "tr .late", 2)
	apptest.WantText(t, a, "#"+one.ID+" .late", "other checks run first")
	apptest.WantText(t, a, "#"+one.ID+" .title", "127.0.0.1:18700")
	apptest.WantCount(t, a, "#"+one.ID+` .host[href="/watch?host=127.0.0.1%3A18700"]`, 1)
	a = s.Get("/watch/" + one.ID)
	apptest.WantText(t, a, ".state .late", "late for 1 h")
	apptest.WantText(t, a, ".state", "Waiting: other checks run first.")
	apptest.WantText(t, a, ".facts", "127.0.0.1:18700")
	apptest.WantCount(t, s.Get("/watch?host=127.0.0.1%3A18700"), "tbody tr", 1)
	apptest.WantCount(t, s.Get("/watch?host=127.0.0.1"), "tbody tr", 2)
	got := s.Do("GET", "/v1/targets/"+one.ID, "").Want(200)
	if got["late_reason"] != "other checks run first" || got["late_since"] != got["next_check_at"] {
		t.Errorf("late since %v, %v", got["late_since"], got["late_reason"])
	}
	if list := apptest.Items(s.Do("GET", "/v1/targets?host=127.0.0.1:18700", "").Want(200)); len(list) != 1 || list[0]["host"] != "127.0.0.1" {
		t.Errorf("got %v", list)
	}
}
