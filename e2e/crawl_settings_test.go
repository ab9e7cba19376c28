//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// tunnels is an HTTP proxy for CONNECT requests.
type tunnels struct {
	*httptest.Server
	mu   sync.Mutex
	from map[string]bool // local addresses of its connections
}

func newTunnels(t *testing.T) *tunnels {
	t.Helper()
	p := &tunnels{from: map[string]bool{}}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

// ServeHTTP implements http.Handler. A tunnel ends when one of its connections is closed.
func (p *tunnels) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	to, err := new(net.Dialer).DialContext(r.Context(), "tcp", r.Host)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer to.Close() //nolint:errcheck // the connection has ended
	p.mu.Lock()
	p.from[to.LocalAddr().String()] = true
	p.mu.Unlock()
	client, rest, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer client.Close() //nolint:errcheck // the connection has ended
	_, _ = io.WriteString(client, "HTTP/1.1 200 Connected\r\n\r\n")
	go func() { // returns when the client disconnects
		_, _ = io.Copy(to, rest)
		_ = to.Close()
	}()
	_, _ = io.Copy(client, to)
}

// has reports whether the proxy opened a connection.
func (p *tunnels) has(address string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.from[address]
}

// The settings make crawls use proxies and a browser User-Agent, and ignore robots.txt.
func TestCrawlSettings(t *testing.T) {
	t.Parallel()
	web, one, two := site(t), newTunnels(t), newTunnels(t)
	var mu sync.Mutex
	var agents, direct []string
	for path, links := range map[string]string{"/": "<a href=/a>a</a> <a href=/b>b</a>", "/a": "", "/b": ""} {
		web.set(path, func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			agents = append(agents, r.UserAgent())
			if !one.has(r.RemoteAddr) && !two.has(r.RemoteAddr) {
				direct = append(direct, r.URL.Path)
			}
			mu.Unlock()
			document("<title>Page</title>"+links)(w, r)
		})
	}
	web.set("/robots.txt", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "User-agent: *\nDisallow: /\n") })
	s := Start(t, "CRAWLER_POLL_INTERVAL=100ms", "CRAWLER_PROXIES_ENABLED=true", "CRAWLER_PROXY_URLS="+one.URL+","+two.URL,
		"CRAWLER_USE_RANDOM_USER_AGENT=true", "CRAWLER_RESPECT_ROBOTS_TXT=false")
	j := s.addJob(web.URL+"/", nil)
	s.jobBecomes(j.ID, "completed")
	if e := s.executions(j.ID); e[0].ItemsCrawled != 3 {
		t.Errorf("got executions %+v", e)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(agents) != 3 || len(direct) > 0 {
		t.Errorf("got %d requests; not through the proxies: %q", len(agents), direct)
	}
	for _, a := range agents {
		if !strings.HasPrefix(a, "Mozilla/5.0 (") || strings.Contains(strings.ToLower(a), "linkwatch") {
			t.Errorf("got User-Agent %q", a)
		}
	}
	if n := web.requests("/robots.txt"); n != 0 || !strings.Contains(s.log(), "robots.txt is ignored") {
		t.Errorf("got %d requests for robots.txt, want 0, and a warning in the log:\n%s", n, s.log())
	}
}
