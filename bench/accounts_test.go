//go:build e2e

package bench

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"linkwatch/e2e"
	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/modelstest"
)

// TestAccountFigures measures requests of a signed-in user during 200 wrong logins per second from one address and from many. It
// also measures the lookup of one of 10,000 sessions and tokens. It asserts no times.
func TestAccountFigures(t *testing.T) {
	if !*figures {
		t.Skip("skipped without -figures (task bench)")
	}
	t.Run("flood", func(t *testing.T) { floodFigures(t, "SQLite", "DATABASE_URL="+filepath.Join(t.TempDir(), "flood.db")) })
	t.Run("flood on PostgreSQL", func(t *testing.T) { floodFigures(t, "PostgreSQL", "DATABASE_URL="+modelstest.NewPostgres(t)) })
	t.Run("lookup", func(t *testing.T) { modelstest.Each(t, lookupFigures) })
}

const (
	floodRate  = 200 // wrong logins per second
	floodRound = 10 * time.Second
	pageRate   = 50 // page requests per second of the signed-in user
)

// floodFigures measures page requests of a signed-in user, with and without wrong logins at the same time, in turn.
func floodFigures(t *testing.T, engine, store string) {
	s := e2e.Start(t, store, "ADMIN_PASSWORD=correct horse", "TRUSTED_PROXIES=127.0.0.1")
	cookie := signIn(t, s)
	table(engine+": a signed-in user requests /links %d times per second, next to %d wrong logins per second, for %s", pageRate, floodRate, floodRound)
	for round := range 3 {
		var quiet, one, many flood
		quiet.run(t, s, cookie, nil)
		one.run(t, s, cookie, func(int64) (string, string) { return "198.51.100.1", "admin" })
		many.run(t, s, cookie, func(i int64) (string, string) {
			return fmt.Sprintf("198.51.%d.%d", i/250%250, i%250), fmt.Sprintf("user%d", i%1000)
		})
		name := fmt.Sprintf("round %d", round+1)
		row("baseline, "+name, "", "p95 %.2f ms, CPU %.0f%%", quiet.p95(), quiet.cpu)
		row("wrong logins from one address, "+name, "≤ 1.2 × baseline", "p95 %.2f ms, CPU %.0f%%; %s", one.p95(), one.cpu, one.responses())
		row("wrong logins from 62,500 addresses, "+name, "≤ 1.2 × baseline", "p95 %.2f ms, CPU %.0f%%; %s", many.p95(), many.cpu, many.responses())
	}
}

func signIn(t *testing.T, s *e2e.Server) *http.Cookie {
	t.Helper()
	res, err := noFollow.PostForm(s.URL+"/login", url.Values{"username": {"admin"}, "password": {"correct horse"}})
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if len(res.Cookies()) != 2 { // of the session, and of the known browser
		t.Fatalf("login: status %d", res.StatusCode)
	}
	return res.Cookies()[0]
}

var noFollow = &http.Client{
	Transport:     &http.Transport{MaxIdleConnsPerHost: 1000},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// flood is the result of one run.
type flood struct {
	took []float64 // milliseconds
	cpu  float64   // of the server, in percent of a core
	mu   sync.Mutex
	by   map[int]int // number of login responses by status
}

// run requests a page for floodRound, while logins arrive with the addresses and usernames that login returns. If login is
// nil, requests for /healthz replace the logins.
func (f *flood) run(t *testing.T, s *e2e.Server, cookie *http.Cookie, login func(i int64) (address, username string)) {
	t.Helper()
	f.by = map[int]int{}
	ctx, stop := context.WithTimeout(t.Context(), floodRound)
	defer stop()
	var all sync.WaitGroup
	var n atomic.Int64
	all.Go(func() {
		tick := time.NewTicker(time.Second / floodRate)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				i := n.Add(1)
				all.Go(func() { f.send(ctx, s, login, i) })
			}
		}
	})
	before := cpuOf(t, s.PID())
	tick := time.NewTicker(time.Second / pageRate)
	defer tick.Stop()
	for ctx.Err() == nil {
		<-tick.C
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/links", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.AddCookie(cookie)
		started := time.Now()
		res, err := noFollow.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Fatalf("status %d", res.StatusCode)
		}
		f.took = append(f.took, float64(time.Since(started).Microseconds())/1000)
	}
	f.cpu = 100 * (cpuOf(t, s.PID()) - before).Seconds() / floodRound.Seconds()
	all.Wait()
}

// send sends one login, or one request for /healthz.
func (f *flood) send(ctx context.Context, s *e2e.Server, login func(i int64) (address, username string), i int64) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/healthz", http.NoBody)
	if login != nil {
		address, username := login(i)
		form := url.Values{"username": {username}, "password": {"wrong password"}}
		req, err = http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/login", strings.NewReader(form.Encode()))
		if err == nil {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.Header.Set("X-Forwarded-For", address)
		}
	}
	if err != nil {
		return
	}
	res, err := noFollow.Do(req)
	if err != nil {
		return // the round is over
	}
	_, _ = io.Copy(io.Discard, res.Body)
	res.Body.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.by[res.StatusCode]++
}

func (f *flood) p95() float64 { return quantile(f.took, 0.95) }

func (f *flood) responses() string {
	return fmt.Sprintf("responses: %d × 401, %d × 429, %d × 503", f.by[http.StatusUnauthorized], f.by[http.StatusTooManyRequests], f.by[http.StatusServiceUnavailable])
}

// lookupFigures measures the lookup of one of 10,000 sessions and of 10,000 tokens.
func lookupFigures(t *testing.T, db *models.DB) {
	const n, perUser = 10_000, 100
	store := accounts.NewStore(db, nil, accounts.Options{IdleTimeout: time.Hour, MaxAge: time.Hour})
	var sessions, tokens []string
	for i := range n / perUser {
		u, err := store.Add(t.Context(), accounts.NewUser{Username: fmt.Sprint("user", i), Role: accounts.Admin, Issuer: "i", Subject: fmt.Sprint(i)})
		if err != nil {
			t.Fatal(err)
		}
		for range perUser {
			session, err := store.StartSession(t.Context(), u, accounts.Client{Address: "192.0.2.1", Device: "Firefox on Linux"}, "")
			if err != nil {
				t.Fatal(err)
			}
			_, token, err := store.AddToken(t.Context(), u, accounts.NewToken{Name: "n", Scopes: []string{"read"}, By: accounts.Admin})
			if err != nil {
				t.Fatal(err)
			}
			sessions, tokens = append(sessions, session), append(tokens, token)
		}
	}
	table("%s: lookup of one of %d sessions and %d tokens, with its account", db.Engine, n, n)
	find := func(name, target string, of []string, find func(secret string) bool) {
		var took []float64
		for i := range 2000 {
			started := time.Now()
			if !find(of[i*7919%len(of)]) {
				t.Fatal("not found")
			}
			took = append(took, float64(time.Since(started).Nanoseconds())/1e6)
		}
		row(name, target, "p50 %.3f, p95 %.3f ms", quantile(took, 0.5), quantile(took, 0.95))
	}
	find("baseline: SELECT of an account by key", "", sessions, func(string) bool {
		var id string
		return db.Read(t.Context()).Raw("SELECT id FROM users WHERE seq = ?", 1).Scan(&id).Error == nil && id != ""
	})
	find("a session", "≤ 1 ms", sessions, func(secret string) bool {
		_, ok, err := store.BySession(t.Context(), secret)
		return ok && err == nil
	})
	find("a token", "≤ 1 ms", tokens, func(secret string) bool {
		_, ok, _, err := store.ByToken(t.Context(), secret, "192.0.2.1")
		return ok && err == nil
	})
}

// quantile returns a quantile of values: part 0.95 is the p95.
func quantile(all []float64, part float64) float64 {
	slices.Sort(all)
	return all[min(len(all)-1, int(float64(len(all))*part))]
}
