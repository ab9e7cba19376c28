package shortlinks_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/shortlinks"
)

const (
	// canary is an input that responses must not repeat, because it could be a password.
	canary = "hunter2-canary"
	// longURL is the destination of the short links that shorten adds.
	longURL = "https://example.com/page"
)

// server is a server with helpers for short links.
type server struct{ *apptest.App }

func newServer(t testing.TB, change ...func(*apptest.Setup)) *server {
	t.Helper()
	return &server{apptest.New(t, change...)}
}

func each(t *testing.T, test func(s *server)) {
	t.Helper()
	t.Parallel()
	test(newServer(t))
}

// eachCache runs a test of redirects with the cache in memory and with Redis.
// another adds an instance with the same database, and the same Redis if there is one.
func eachCache(t *testing.T, test func(s *server, another func() *server)) {
	t.Helper()
	t.Parallel()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		db := modelstest.New(t)
		test(newServer(t, apptest.On(db)), func() *server { return newServer(t, apptest.On(db)) })
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		db, url := modelstest.New(t), "redis://"+miniredis.RunT(t).Addr()
		test(newSharing(t, db, url), func() *server { return newSharing(t, db, url) })
	})
}

// newSharing returns a server that uses Redis.
func newSharing(t *testing.T, db *models.DB, url string) *server {
	t.Helper()
	client, err := models.OpenRedis(url)
	if err != nil {
		t.Fatal(err)
	}
	client = client.WithTimeout(10 * time.Second) // a busy machine must not count as a failure of Redis
	s := newServer(t, apptest.On(db), func(s *apptest.Setup) { s.Redis = client })
	cache := s.Systems.ShortLinks.Shared

	ctx, cancel := context.WithCancel(context.Background())
	var listening sync.WaitGroup
	listening.Go(func() { cache.Listen(ctx, s.ShortLinks) })
	t.Cleanup(func() {
		cancel()
		listening.Wait()
	})
	modelstest.Eventually(t, "Redis is in use", cache.Up)
	return s
}

// at formats a time relative to the clock of the server.
func (s *server) at(d time.Duration) string { return s.Clock.Now().Add(d).Format(time.RFC3339) }

// shorten adds a short link to longURL and returns its path in the API. members are further
// members: `"short_key":"abcd","max_visits":1`.
func (s *server) shorten(members string) string {
	s.Helper()
	if members != "" {
		members = "," + members
	}
	a := s.Do("POST", "/v1/shortlinks", `{"long_url":"`+longURL+`"`+members+`}`)
	a.Want(http.StatusCreated)
	return a.Header.Get("Location")
}

// add adds a short link to longURL without the API, so it needs no login.
func (s *server) add(key string) {
	s.Helper()
	_, _, err := s.ShortLinks.Add(s.Context(), shortlinks.New{LongURL: longURL, Key: key})
	s.Must(err)
}

// visit counts a visit of a short link.
func (s *server) visit(key, userAgent, referrer string) {
	s.Helper()
	_, err := s.ShortLinks.Visit(s.Context(), key, shortlinks.Visitor{UserAgent: userAgent, Referrer: referrer})
	s.Must(err)
}

func (s *server) writeVisits() {
	s.Helper()
	writeVisits(s.App)
}

// writeVisits stores pending visits, as the service does every second.
func writeVisits(a *apptest.App) {
	a.Helper()
	ended, cancel := context.WithCancel(a.Context())
	cancel()
	a.Systems.ShortLinks.Visits.Aggregate(ended) // visits in the queue
	if err := a.Systems.ShortLinks.Visits.Write(a.Context(), a.ShortLinks); err != nil {
		a.Fatal(err)
	}
}

// visit counts and stores n visits of a short link.
func visit(s *apptest.App, key string, n int, v shortlinks.Visitor) {
	s.Helper()
	for range n {
		_, err := s.ShortLinks.Visit(s.Context(), key, v)
		s.Must(err)
	}
	writeVisits(s)
}

// redirectsTo fails the test unless a path redirects to a destination.
func (s *server) redirectsTo(path, to string) {
	s.Helper()
	a := s.Request("GET", path)
	if a.Status != http.StatusFound || a.Header.Get("Location") != to {
		s.Errorf("%s redirects to %q with %d, want %q: %s", path, a.Header.Get("Location"), a.Status, to, a.Body)
	}
}

// gone fails the test unless a path returns 410 with a reason and without the destination.
func (s *server) gone(path, reason string) {
	s.Helper()
	a := s.Request("GET", path)
	if p := a.Problem(http.StatusGone, "gone", ""); !strings.Contains(p["detail"].(string), reason) {
		s.Errorf("%s: %q, want %q", path, p["detail"], reason)
	}
	if a.Header.Get("Location") != "" || strings.Contains(a.Body, "example.com") {
		s.Errorf("%s shows its destination: %v %s", path, a.Header, a.Body)
	}
}

// sends returns the SQL statements that do sends, from any goroutine.
func (s *server) sends(do func()) (sent []string) {
	s.Helper()
	stop := modelstest.Statements(s.TB, s.DB)
	do()
	for _, x := range stop() {
		sent = append(sent, x.SQL)
	}
	return sent
}

// noStatements fails the test if do sends any SQL statement.
func (s *server) noStatements(what string, do func()) {
	s.Helper()
	if sent := s.sends(do); len(sent) > 0 {
		s.Errorf("%s sends %q", what, sent)
	}
}

// onlyReads fails the test unless do sends n SELECTs. With a shared cache it may send none, because
// another instance may have filled the cache.
func (s *server) onlyReads(what string, n int, do func()) {
	s.Helper()
	sent := s.sends(do)
	isRead := func(query string) bool { return strings.HasPrefix(query, "SELECT ") }
	if len(sent) == 0 && s.Systems.ShortLinks.Shared != nil || len(sent) == n && len(slices.DeleteFunc(sent, isRead)) == 0 {
		return
	}
	s.Errorf("%s sends %q, want %d SELECTs", what, sent, n)
}
