package handlers_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"linkwatch/handlers"
	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
	"linkwatch/models/shortlinks/cache"
	"linkwatch/models/shortlinks/visits"
)

// eachCache runs a test of redirects on each engine, with the cache in this
// process and with the one that instances share. another is one more instance of the
// program over the same database, and the same Redis if there is one.
func eachCache(t *testing.T, test func(s *server, another func() *server)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		t.Run("memory", func(t *testing.T) {
			test(newServerOn(t, db), func() *server { return newServerOn(t, db) })
		})
	})
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		t.Run("redis", func(t *testing.T) {
			url := "redis://" + miniredis.RunT(t).Addr()
			test(newSharing(t, db, url), func() *server { return newSharing(t, db, url) })
		})
	})
}

// newSharing is a server whose cache is shared through Redis, in use.
func newSharing(t *testing.T, db *models.DB, url string) *server {
	t.Helper()
	client, err := models.OpenRedis(url)
	if err != nil {
		t.Fatal(err)
	}
	client = client.WithTimeout(10 * time.Second) // a machine that is busy testing is no Redis that is away
	clock := modelstest.NewClock()
	memory, counter := cache.NewMemory(1000, clock.Now), visits.New()
	opts := shortlinks.Options{TombstoneTTL: time.Hour, BufferTime: time.Hour}
	shared := cache.NewShared(memory, client, opts, slog.New(slog.DiscardHandler))
	store := shortlinks.NewStore(db, clock.Now, shared, counter, opts)
	s := newServerOn(t, db, func(d *handlers.Deps) { d.ShortLinks = store })
	s.short, s.visits, s.clock, s.sharing = store, counter, clock, true

	ctx, cancel := context.WithCancel(context.Background())
	var listening sync.WaitGroup
	listening.Go(func() { shared.Listen(ctx, store) })
	t.Cleanup(func() {
		cancel()
		listening.Wait()
		_ = client.Close()
		memory.Close()
	})
	s.eventually("Redis is in use", shared.Up)
	return s
}

// eventually waits for what another goroutine does.
func (s *server) eventually(what string, is func() bool) {
	s.t.Helper()
	for limit := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			s.t.Fatal("it never came to this: " + what)
		}
	}
}

var noFollow = &http.Client{
	Transport:     &http.Transport{MaxIdleConnsPerHost: 100},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// ask asks for a path and goes nowhere from there. headers are name and value in turn.
func (s *server) ask(method, path string, headers ...string) answer {
	s.t.Helper()
	a, err := s.tryAsk(method, path, headers...)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

// tryAsk is ask for any goroutine.
func (s *server) tryAsk(method, path string, headers ...string) (answer, error) {
	req, err := http.NewRequestWithContext(context.Background(), method, s.url+path, nil)
	if err != nil {
		return answer{}, err
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	res, err := noFollow.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return answer{s.t, method + " " + path, res.StatusCode, res.Header, string(body)}, err
}

// leads fails unless a path leads to an address.
func (s *server) leads(path, to string) {
	s.t.Helper()
	a := s.ask("GET", path)
	if a.status != http.StatusFound || a.header.Get("Location") != to {
		s.t.Errorf("%s leads to %q with %d, want %q: %s", path, a.header.Get("Location"), a.status, to, a.body)
	}
}

// gone fails unless a key answers 410 for a reason.
func (s *server) gone(path, reason string) {
	s.t.Helper()
	a := s.ask("GET", path)
	if p := a.problem(http.StatusGone, "gone", ""); !strings.Contains(p["detail"].(string), reason) {
		s.t.Errorf("%s: %q, want %q", path, p["detail"], reason)
	}
	if a.header.Get("Location") != "" || strings.Contains(a.body, "example.com") {
		s.t.Errorf("%s tells where it led: %v %s", path, a.header, a.body)
	}
}

// sends are the statements that do sends, of any goroutine.
func (s *server) sends(do func()) (sent []string) {
	s.t.Helper()
	stop := modelstest.Statements(s.t, s.db)
	do()
	for _, x := range stop() {
		sent = append(sent, x.SQL)
	}
	return sent
}

// silent fails if do sends any statement.
func (s *server) silent(what string, do func()) {
	s.t.Helper()
	if sent := s.sends(do); len(sent) > 0 {
		s.t.Errorf("%s sends %q", what, sent)
	}
}

// onlyReads fails unless do sends one statement, which only reads; where Redis is
// shared another instance may have saved that too.
func (s *server) onlyReads(what string, do func()) {
	s.t.Helper()
	sent := s.sends(do)
	if len(sent) == 0 && s.sharing || len(sent) == 1 && strings.HasPrefix(sent[0], "SELECT ") {
		return
	}
	s.t.Errorf("%s sends %q, want one SELECT", what, sent)
}
