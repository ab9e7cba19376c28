package outbound

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestConditionalRequests(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/from":
			http.Redirect(w, r, "/to", http.StatusFound)
			return
		case r.Header.Get("If-None-Match") == `"v1"`:
			w.Header().Set("Content-Encoding", "br") // of the body that is not there
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = fmt.Fprintf(w, "%s %q %q", r.UserAgent(), r.Header.Values("If-None-Match"), r.Header.Values("If-Modified-Since"))
	})
	c := testClient(t, Options{})
	for path, redirects := range map[string]int{"/": 0, "/from": 1} {
		res := get(t, c, Request{URL: srv.URL + path, IfNoneMatch: `"v1"`, MaxRedirects: redirects})
		if res.StatusCode != http.StatusNotModified || len(res.Body) != 0 || res.Truncated {
			t.Errorf("%s: got %+v", path, res)
		}
	}
	long := strings.Repeat("x", headerValueLimit)
	for _, tc := range []struct {
		r    Request
		want string
	}{
		{Request{}, `Linkwatch [] []`},
		{Request{IfNoneMatch: `W/"ü"`, IfModifiedSince: "yesterday", UserAgent: "Bot/1"}, `Bot/1 ["W/\"ü\""] ["yesterday"]`},
		{Request{IfNoneMatch: "a\r\nX: y", IfModifiedSince: "a\x00", UserAgent: "a\tb"}, `Linkwatch [] []`},
		{Request{IfNoneMatch: "a\x7f", IfModifiedSince: long + "x", UserAgent: long}, long + ` [] []`},
	} {
		tc.r.URL = srv.URL
		if got := string(get(t, c, tc.r).Body); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
	}
	base := c.header
	if n := testing.AllocsPerRun(100, func() { _ = (&Request{}).header(base) }); n != 0 {
		t.Errorf("a request without headers allocates %v times for them", n)
	}
}

func TestLocation(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.URL.Query().Get("to"))
		var status int
		_, _ = fmt.Sscan(r.URL.Query().Get("status"), &status)
		w.WriteHeader(status)
	})
	c := testClient(t, Options{})
	for _, tc := range []struct {
		status   int
		to, want string
	}{
		{301, "b%20c%23d", srv.URL + "/b%20c"},
		{302, "//Example.COM:80", "http://example.com/"},
		{303, "/", srv.URL + "/"},
		{307, "?q", srv.URL + "/a?q"},
		{308, "https://10.0.0.1/", "https://10.0.0.1/"},
		{300, "/", ""},
		{304, "/", ""},
		{200, "/", ""},
		{302, "", ""},
		{302, "ftp://example.com/", ""},
		{302, "http://u:p@example.com/", ""},
		{302, "/" + strings.Repeat("^", 700), ""},
	} {
		for _, discard := range []bool{false, true} {
			res := get(t, c, Request{URL: fmt.Sprintf("%s/a?status=%d&to=%s", srv.URL, tc.status, tc.to), Discard: discard})
			if res.StatusCode != tc.status || res.Location != tc.want || len(res.Hops) != 0 {
				t.Errorf("%d %.40s: got %q, want %q", tc.status, tc.to, res.Location, tc.want)
			}
		}
	}
	if res := get(t, c, Request{URL: srv.URL + "/?status=302", MaxRedirects: 1}); res.Location != "" {
		t.Errorf("got %q", res.Location)
	}
}

func TestRandomUserAgent(t *testing.T) {
	for range 100 {
		if ua := RandomUserAgent(); !slices.Contains(desktopUserAgents[:], ua) || !validHeaderValue(ua) || !strings.HasPrefix(ua, "Mozilla/5.0 (") {
			t.Errorf("got %q", ua)
		}
	}
}
