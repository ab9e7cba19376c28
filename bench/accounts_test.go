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

// TestAccountFigures measures what a login costs others: requests while 200 wrong logins a second arrive, from one address and
// from many; and how long it takes to find one of 10,000 sessions and tokens. It asserts nothing about time.
func TestAccountFigures(t *testing.T) {
	if !*figures {
		t.Skip("figures are measured with -figures (task bench)")
	}
	t.Run("flood", func(t *testing.T) { floodFigures(t, "SQLite", "DATABASE_URL="+filepath.Join(t.TempDir(), "flood.db")) })
	t.Run("flood on PostgreSQL", func(t *testing.T) { floodFigures(t, "PostgreSQL", "DATABASE_URL="+modelstest.NewPostgres(t)) })
	t.Run("lookup", func(t *testing.T) { modelstest.Each(t, lookupFigures) })
}

const (
	floodRate  = 200 // wrong logins a second
	floodRound = 10 * time.Second
	beside     = 50 // requests a second of somebody who is signed in
)

// floodFigures measures the requests of somebody who is signed in, with and without wrong logins beside them, in turn.
func floodFigures(t *testing.T, engine, store string) {
	s := e2e.Start(t, store, "ADMIN_PASSWORD=correct horse", "TRUSTED_PROXIES=127.0.0.1")
	cookie := signIn(t, s)
	table(engine+": requests of somebody who is signed in, %d a second, beside %d wrong logins a second (p95 of %s)", beside, floodRate, floodRound)
	for round := range 3 {
		var quiet, one, many flood
		quiet.run(t, s, cookie, nil)
		one.run(t, s, cookie, func(int64) (string, string) { return "198.51.100.1", "admin" })
		many.run(t, s, cookie, func(i int64) (string, string) {
			return fmt.Sprintf("198.51.%d.%d", i/250%250, i%250), fmt.Sprintf("user%d", i%1000)
		})
		name := fmt.Sprintf("round %d: ", round+1)
		row(name+"200 GET /healthz in their place", "floor", "p95 %.2f ms, CPU %.0f%%", quiet.p95(), quiet.cpu)
		row(name+"from one address", "≤ 1.2 × the floor", "p95 %.2f ms, CPU %.0f%%; %s", one.p95(), one.cpu, one.answers())
		row(name+"from 62,500 addresses", "≤ 1.2 × the floor", "p95 %.2f ms, CPU %.0f%%; %s", many.p95(), many.cpu, many.answers())
	}
}

// signIn returns the cookie of a session.
func signIn(t *testing.T, s *e2e.Server) *http.Cookie {
	t.Helper()
	res, err := noFollow.PostForm(s.URL+"/login", url.Values{"username": {"admin"}, "password": {"correct horse"}})
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if len(res.Cookies()) != 1 {
		t.Fatalf("the login is answered %d", res.StatusCode)
	}
	return res.Cookies()[0]
}

var noFollow = &http.Client{
	Transport:     &http.Transport{MaxIdleConnsPerHost: 1000},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// flood is what one run measures.
type flood struct {
	took []float64 // milliseconds
	cpu  float64   // of the server, in percent of a core
	mu   sync.Mutex
	by   map[int]int // answers to logins, by status
}

// run asks for a page for floodRound, while logins arrive from addresses that who returns; nil = as many requests for
// /healthz in their place.
func (f *flood) run(t *testing.T, s *e2e.Server, cookie *http.Cookie, who func(i int64) (address, username string)) {
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
				all.Go(func() { f.ask(ctx, s, who, i) })
			}
		}
	})
	before := cpuOf(t, s.PID())
	tick := time.NewTicker(time.Second / beside)
	defer tick.Stop()
	for ctx.Err() == nil {
		<-tick.C
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/links", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.AddCookie(cookie)
		begun := time.Now()
		res, err := noFollow.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Fatalf("status %d", res.StatusCode)
		}
		f.took = append(f.took, float64(time.Since(begun).Microseconds())/1000)
	}
	f.cpu = 100 * (cpuOf(t, s.PID()) - before).Seconds() / floodRound.Seconds()
	all.Wait()
}

// ask sends one login, or one request for /healthz.
func (f *flood) ask(ctx context.Context, s *e2e.Server, who func(i int64) (address, username string), i int64) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/healthz", http.NoBody)
	if who != nil {
		address, username := who(i)
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

func (f *flood) answers() string {
	return fmt.Sprintf("%d wrong, %d refused, %d asked to wait", f.by[http.StatusUnauthorized], f.by[http.StatusTooManyRequests], f.by[http.StatusServiceUnavailable])
}

// lookupFigures measures how long it takes to find one of 10,000 sessions and of 10,000 tokens.
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
			session, err := store.StartSession(t.Context(), u, accounts.MethodPassword, accounts.Client{Address: "192.0.2.1", Device: "Firefox on Linux"}, "")
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
	table("%s: one of %d sessions and %d tokens, with its account", db.Engine, n, n)
	find := func(name, bound string, of []string, find func(secret string) bool) {
		var took []float64
		for i := range 2000 {
			begun := time.Now()
			if !find(of[i*7919%len(of)]) {
				t.Fatal("not found")
			}
			took = append(took, float64(time.Since(begun).Nanoseconds())/1e6)
		}
		row(name, bound, "p50 %.3f p95 %.3f ms", quantile(took, 0.5), quantile(took, 0.95))
	}
	find("plain SELECT of a user by its key", "floor", sessions, func(string) bool {
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

// quantile is the value below which so much of all values is.
func quantile(all []float64, part float64) float64 {
	slices.Sort(all)
	return all[min(len(all)-1, int(float64(len(all))*part))]
}
