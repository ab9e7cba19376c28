package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"linkwatch/models/modelstest"
)

// shorten makes a short link of a key.
func (p *program) shorten(t *testing.T, key string) {
	t.Helper()
	res := p.post(t, "/v1/shortlinks", `{"long_url": "https://example.com/page", "short_key": "`+key+`"}`)
	if res.StatusCode != http.StatusCreated {
		t.Fatalf("shortening: %s", res.Status)
	}
}

// follow is the status of a short link, 0 if there was no answer.
func (p *program) follow(t *testing.T, key string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/s/"+key, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// Every visit that was answered is written down, those too that were made while the program was stopping.
func TestStopWritesVisitsDown(t *testing.T) {
	t.Parallel()
	getenv := env(t, map[string]string{"SHUTDOWN_GRACE": "10s"})
	p := start(t, getenv)
	p.shorten(t, "counted")
	var visits, tries atomic.Int64
	var visitors sync.WaitGroup
	enough := make(chan struct{})
	for range 4 {
		visitors.Go(func() {
			for {
				if n := tries.Add(1); n == 500 {
					close(enough)
				}
				if p.follow(t, "counted") != http.StatusFound {
					return
				}
				visits.Add(1)
			}
		})
	}
	<-enough
	p.stop()
	if err := p.wait(t); err != nil {
		t.Errorf("run: %v", err)
	}
	visitors.Wait()

	p = start(t, getenv)
	defer p.stop()
	var l struct{ Visits int64 }
	_, body := p.get(t, "/v1/shortlinks/counted")
	if err := json.Unmarshal([]byte(body), &l); err != nil {
		t.Fatal(err)
	}
	if l.Visits < visits.Load() || l.Visits > tries.Load() {
		t.Errorf("%d visits of %d are counted", l.Visits, visits.Load())
	}
	p.stop()
	if err := p.wait(t); err != nil {
		t.Errorf("run: %v", err)
	}
}

// The program serves without its Redis, and says so.
func TestServeWithoutItsRedis(t *testing.T) {
	t.Parallel()
	r := miniredis.RunT(t)
	p := start(t, env(t, map[string]string{"REDIS_URL": "redis://" + r.Addr()}))
	health := func(want string) { // the status of all is also that of the machine's disk
		t.Helper()
		modelstest.Eventually(t, "the health of Redis is "+want, func() bool {
			status, body := p.get(t, "/health")
			var h struct {
				Status string
				Redis  struct{ Status string }
			}
			if err := json.Unmarshal([]byte(body), &h); err != nil || status != 200 {
				t.Fatalf("%d %s", status, body)
			}
			return h.Redis.Status == want && (want == "ok" || h.Status == "degraded")
		})
	}
	shared := ""
	for i := 0; !r.Exists("linkwatch:short:" + shared); i++ { // on a slow machine Redis may be away for a moment
		if i == 20 {
			t.Fatal("no short link was cached in Redis")
		}
		health("ok")
		shared = fmt.Sprintf("shared-%d", i)
		p.shorten(t, shared)
	}
	r.Close()
	health("unavailable")
	p.shorten(t, "alone")
	for _, key := range []string{shared, "alone"} {
		if status := p.follow(t, key); status != http.StatusFound {
			t.Errorf("%s: %d", key, status)
		}
	}
	if status, body := p.get(t, "/readyz"); status != 200 {
		t.Errorf("/readyz: %d %s", status, body)
	}
	if _, body := p.get(t, "/metrics"); !strings.Contains(body, "\nlinkwatch_redis_up 0\n") {
		t.Error("the metrics say nothing of it")
	}
	if err := r.Restart(); err != nil {
		t.Fatal(err)
	}
	health("ok")
	p.stop()
	if err := p.wait(t); err != nil {
		t.Errorf("run: %v", err)
	}
}

func TestHealthWithoutRedis(t *testing.T) {
	t.Parallel()
	p := start(t, env(t, nil))
	if _, body := p.get(t, "/health"); !strings.Contains(body, `"redis":{"status":"off","detail":null}`) {
		t.Errorf("%s", body)
	}
	p.stop()
	if err := p.wait(t); err != nil {
		t.Errorf("run: %v", err)
	}
}

func TestBadRedisURL(t *testing.T) {
	err := Run(t.Context(), nil, env(t, map[string]string{"REDIS_URL": "redis://:hush@localhost/one"}), &strings.Builder{})
	if err == nil || !strings.Contains(err.Error(), "REDIS_URL") || strings.Contains(err.Error(), "hush") {
		t.Errorf("got %v", err)
	}
}
