package crawl_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/redis/go-redis/v9"

	crawljobs "linkwatch/jobs/crawl"
	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
	"linkwatch/outbound"
)

// The sources of a source manager are imported, and each enabled one gets a job.
func TestSyncWithASourceManager(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelstest.New(t))
	const secret = "a secret of sixteen bytes or more"
	list := []map[string]any{
		{"id": "1", "name": "One", "url": "https://one.example/", "enabled": true, "rate_limit": "2s", "max_depth": 2},
		{"id": "2", "name": "Two", "url": "https://two.example/", "enabled": false},
		{"id": "3", "name": "Bad", "url": "ftp://three.example/", "enabled": true},
	}
	manager := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		_, err := jwt.Parse(r.Header.Get("Authorization")[len("Bearer "):], func(*jwt.Token) (any, error) { return []byte(secret), nil }, jwt.WithValidMethods([]string{"HS256"}))
		if err != nil {
			http.Error(rw, err.Error(), http.StatusUnauthorized)
			return
		}
		_ = json.NewEncoder(rw).Encode(map[string]any{"sources": list})
	}))
	defer manager.Close()
	u, err := url.Parse(manager.URL + "/api/v1/sources")
	if err != nil {
		t.Fatal(err)
	}
	client := outbound.New(outbound.Options{Endpoint: u})
	defer client.Close()
	m := &crawljobs.Manager{Client: client, URL: u.String(), Secret: secret}
	sync := func(want crawl.SyncReport) {
		t.Helper()
		if got, err := m.Sync(t.Context(), w.store); err != nil || got != want {
			t.Errorf("got %+v, want %+v, error %v", got, want, err)
		}
	}
	sync(crawl.SyncReport{Created: 1})
	sync(crawl.SyncReport{Skipped: 1})
	list[1]["enabled"] = true
	sync(crawl.SyncReport{Created: 1, Updated: 1, Skipped: 1})
	all, err := w.store.Sources(t.Context(), "", models.Cursor{}, 10)
	if err != nil || len(all.Items) != 2 || all.Items[0].RateLimitMS != 2000 || all.Items[0].MaxDepth != 2 || all.Items[0].ExternalID != "1" {
		t.Errorf("got sources %+v, %v", all.Items, err)
	}
	m.Secret = "another secret"
	if _, err := m.Sync(t.Context(), w.store); models.CodeOf(err) != models.CodeUnavailable {
		t.Errorf("got error %v from the manager", err)
	}
}

func newRedis(t *testing.T) *redis.Client {
	t.Helper()
	address := os.Getenv("TEST_REDIS_URL")
	if address == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("TEST_REDIS_URL is not set")
		}
		t.Skip("TEST_REDIS_URL is not set")
	}
	opts, err := redis.ParseURL(address)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(opts)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// Events from Redis enable and disable sources by their Linkwatch id or their id in the manager.
func TestRedisEvents(t *testing.T) {
	t.Parallel()
	client := newRedis(t)
	w := newWorld(t, modelstest.New(t))
	mine, err := w.store.AddSource(t.Context(), crawl.NewSource{URL: "https://a.example/", Enabled: true})
	if err != nil {
		t.Fatal(err)
	}
	external := models.NewID(models.KindSource) // not used by other tests
	theirs, err := w.store.AddSource(t.Context(), crawl.NewSource{ExternalID: external, URL: "https://b.example/"})
	if err != nil {
		t.Fatal(err)
	}
	send := func(event string) {
		t.Helper()
		if err := client.XAdd(t.Context(), &redis.XAddArgs{Stream: "source-events", MaxLen: 1000, Values: map[string]any{"event": event}}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	send("not JSON")
	send(`{"event_type":"SOURCE_DISABLED","source_id":"` + mine.ID + `"}`)
	events := crawljobs.NewEvents(w.store, client, "test-"+external, w.log)
	events.Start()
	defer events.Stop(context.Background())
	is := func(s crawl.Source, enabled bool) func() bool {
		return func() bool {
			got, err := w.store.Source(context.Background(), s.ID)
			return err == nil && got.Enabled == enabled
		}
	}
	modelstest.Eventually(t, "the source is disabled", is(mine, false))
	send(`{"event_type":"SOURCE_UPDATED","source_id":"` + mine.ID + `"}`)
	send(`{"event_type":"SOURCE_ENABLED","source_id":"` + external + `"}`)
	modelstest.Eventually(t, "the other one is enabled", is(theirs, true))
}

// The state of adaptive scheduling is also stored in Redis, in a hash of the source.
func TestAdaptiveStateInRedis(t *testing.T) {
	t.Parallel()
	client := newRedis(t)
	w := newWorld(t, modelstest.New(t))
	s := newSite(t, map[string]http.HandlerFunc{"/": html("Home")})
	j := w.job(s.URL + "/")
	w.start(func(o *crawljobs.Options) { o.Redis = client })
	e := w.ended(j)
	var state struct {
		ContentHash    string    `json:"content_hash"`
		UnchangedCount int       `json:"unchanged_count"`
		UpdatedAt      time.Time `json:"updated_at"`
	}
	modelstest.Eventually(t, "the state is in Redis", func() bool {
		text, err := client.HGet(context.Background(), "crawler:adaptive:"+j.SourceID, j.ID).Result()
		return err == nil && json.Unmarshal([]byte(text), &state) == nil
	})
	if state.ContentHash != e.StartHash || state.UnchangedCount != 0 || state.UpdatedAt.IsZero() {
		t.Errorf("got state %+v", state)
	}
}
