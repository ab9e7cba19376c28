package middleware

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func TestBehindProxies(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for name, c := range map[string]struct {
		from             string
		forwarded, proto []string
		want, base       string
	}{
		"a stranger":                    {from: "203.0.113.7:1", forwarded: []string{"192.0.2.1"}, proto: []string{"https"}, want: "203.0.113.7", base: "http://h"},
		"a proxy":                       {from: "127.0.0.1:1", forwarded: []string{"192.0.2.1"}, proto: []string{"https"}, want: "192.0.2.1", base: "https://h"},
		"a proxy, by IPv6":              {from: "[fd00::1]:1", forwarded: []string{"2001:db8::1"}, want: "2001:db8::1", base: "http://h"},
		"a proxy, mapped to IPv6":       {from: "[::ffff:10.0.0.1]:1", forwarded: []string{"::ffff:192.0.2.1"}, want: "192.0.2.1", base: "http://h"},
		"a proxy that says nothing":     {from: "10.0.0.1:1", want: "10.0.0.1", base: "http://h"},
		"what a client made up":         {from: "10.0.0.1:1", forwarded: []string{"127.0.0.1, 198.51.100.1, 192.0.2.1"}, want: "192.0.2.1", base: "http://h"},
		"made up in a header before":    {from: "10.0.0.1:1", forwarded: []string{"198.51.100.1", "192.0.2.1"}, want: "192.0.2.1", base: "http://h"},
		"two proxies":                   {from: "127.0.0.1:1", forwarded: []string{"192.0.2.1, 10.2.3.4"}, proto: []string{"http, HTTPS"}, want: "192.0.2.1", base: "https://h"},
		"nothing but proxies":           {from: "127.0.0.1:1", forwarded: []string{"10.0.0.2,10.0.0.1"}, want: "10.0.0.2", base: "http://h"},
		"with ports":                    {from: "127.0.0.1:1", forwarded: []string{"192.0.2.1:5555"}, want: "192.0.2.1", base: "http://h"},
		"with ports, by IPv6":           {from: "127.0.0.1:1", forwarded: []string{"[2001:db8::1%eth0]:5555"}, want: "2001:db8::1", base: "http://h"},
		"no address":                    {from: "127.0.0.1:1", forwarded: []string{"192.0.2.1, unknown, 10.0.0.1"}, want: "10.0.0.1", base: "http://h"},
		"no address at all":             {from: "127.0.0.1:1", forwarded: []string{"<script>"}, want: "127.0.0.1", base: "http://h"},
		"the client's own HTTPS":        {from: "127.0.0.1:1", forwarded: []string{"192.0.2.1"}, proto: []string{"https, http"}, want: "192.0.2.1", base: "http://h"},
		"longer than is looked through": {from: "127.0.0.1:1", forwarded: []string{"192.0.2.1" + strings.Repeat(",10.0.0.1", 100)}, want: "10.0.0.1", base: "http://h"},
	} {
		t.Run(name, func(t *testing.T) {
			var got, base string
			h := BehindProxies(trusted, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				got, base = peer(r).String(), Base("", r)
			}))
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Host, r.RemoteAddr = "h", c.from
			r.Header["X-Forwarded-For"], r.Header["X-Forwarded-Proto"] = c.forwarded, c.proto
			h.ServeHTTP(httptest.NewRecorder(), r)
			if got != c.want || base != c.base {
				t.Errorf("got %s %s, want %s %s", got, base, c.want, c.base)
			}
			if r.RemoteAddr != c.from {
				t.Errorf("got RemoteAddr %s", r.RemoteAddr)
			}
		})
	}
}
