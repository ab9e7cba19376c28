//go:build e2e

package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"linkwatch/e2e"
	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
)

// TestAlertFigures measures how soon the binary sends alerts while it checks many targets, and how it processes 10,000 events within a
// second with a slow channel. It asserts no times.
func TestAlertFigures(t *testing.T) {
	if !*figures {
		t.Skip("skipped without -figures (task bench)")
	}
	t.Run("delay", func(t *testing.T) { delayFigures(t, "SQLite", filepath.Join(t.TempDir(), "watched.db")) })
	t.Run("delay on PostgreSQL", func(t *testing.T) { delayFigures(t, "PostgreSQL", modelstest.NewPostgres(t)) })
	t.Run("storm", func(t *testing.T) { stormFigures(t, "SQLite", filepath.Join(t.TempDir(), "watched.db")) })
	t.Run("storm on PostgreSQL", func(t *testing.T) { stormFigures(t, "PostgreSQL", modelstest.NewPostgres(t)) })
}

// receiver is a webhook that records when it received each host.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	at    map[string]time.Time // by ID of the first subject
	count int                  // number of subjects
	calls int
}

func newReceiver(t *testing.T, slow time.Duration) *receiver {
	r := &receiver{at: map[string]time.Time{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		var n alerts.Notification
		if err != nil || json.Unmarshal(body, &n) != nil {
			t.Error("invalid message")
		}
		time.Sleep(slow)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.calls++
		if n.ResolvedAt == nil {
			r.count += n.SubjectCount
			for _, s := range n.Subjects {
				if r.at[s.ID].IsZero() {
					r.at[s.ID] = time.Now()
				}
			}
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) received() (subjects, calls int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count, r.calls
}

// alertAll adds a webhook and a rule for all targets.
func alertAll(t *testing.T, s *e2e.Server, url string) {
	t.Helper()
	var channel struct{ ID string }
	if status := s.Call("POST", "/v1/channels", map[string]any{"name": "bench", "kind": "webhook", "url": url, "secret": "a secret for benchmarks"}, &channel); status != http.StatusCreated {
		t.Fatalf("add channel: status %d", status)
	}
	rule := map[string]any{"name": "bench", "events": []string{"target.down", "target.up"}, "channels": []string{channel.ID}}
	if status := s.Call("POST", "/v1/alert-rules", rule, nil); status != http.StatusCreated {
		t.Fatalf("add rule: status %d", status)
	}
}

// delayFigures measures the time from the failed check to the message, at about 2,000 checks per second.
func delayFigures(t *testing.T, engine, database string) {
	const hosts, perHost, fail = 250, 8, 15
	var broken [hosts]atomic.Bool
	failed := sync.Map{} // time of the first failed request by host
	sites := farm(t, 3, hosts, func(rw http.ResponseWriter, r *http.Request) {
		var a, b int
		if _, err := fmt.Sscanf(r.Host, "127.3.%d.%d:", &a, &b); err != nil {
			_, _ = fmt.Sscanf(r.Host, "127.3.%d.%d", &a, &b)
		}
		if n := b - 1; n >= 0 && n < hosts && broken[n].Load() {
			failed.LoadOrStore(n, time.Now())
			rw.WriteHeader(http.StatusNotFound) // not retried
			return
		}
		_, _ = io.WriteString(rw, "<!doctype html><title>Well</title>")
	})
	var urls []string
	for i := range hosts * perHost {
		urls = append(urls, fmt.Sprintf("%s/%d", sites[i%hosts], i))
	}
	ids := map[string]int{} // number of the host by target ID
	addTargets(t, database, urls, func(db *models.DB, _ *targets.Store, _ *time.Time) {
		var rows []struct{ ID, CanonicalURL string }
		if err := db.Read(context.Background()).Raw("SELECT id, canonical_url FROM targets").Scan(&rows).Error; err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			ids[r.ID] = slices.Index(urls, r.CanonicalURL) % hosts
		}
	})
	hook := newReceiver(t, 0)
	s := e2e.Start(t, "DATABASE_URL="+database, "CHECK_INTERVAL=1s", "ALERT_STORM_SIZE=20", fmt.Sprintf("MAX_CONCURRENCY=%d", figureWorkers))
	defer s.Stop()
	alertAll(t, s, hook.URL)
	time.Sleep(5 * time.Second)
	before, started := metric(t, s, "linkwatch_checks_total"), time.Now()
	for n := range fail { // one host after another, too few for a storm
		broken[n*10].Store(true)
		time.Sleep(1500 * time.Millisecond)
	}
	time.Sleep(3 * time.Second)
	rate := (metric(t, s, "linkwatch_checks_total") - before) / time.Since(started).Seconds()
	var late []float64
	hook.mu.Lock()
	defer hook.mu.Unlock()
	for id, at := range hook.at {
		if first, ok := failed.Load(ids[id]); ok {
			late = append(late, at.Sub(first.(time.Time)).Seconds()*1000)
		}
	}
	table("Alerts while %d targets on %d hosts are checked every second, %s", len(urls), hosts, engine)
	row("checks per second meanwhile", "2,000 checks/s", "%.0f checks/s", rate)
	row("hosts that went down", "", "%d", fail)
	if len(late) == 0 {
		t.Fatal("no message received")
	}
	quantiles("from the failed check to the message", "≤ 2 s", late)
	row("maximum of that", "≤ 2 s", "%.1f ms", late[len(late)-1])
}

// stormFigures measures how 10,000 events within a second reach a channel that takes a second per message.
func stormFigures(t *testing.T, engine, database string) {
	const n = 10_000
	hook := newReceiver(t, time.Second)
	s := e2e.Start(t, "DATABASE_URL="+database)
	defer s.Stop()
	alertAll(t, s, hook.URL)
	db, closeDB := e2e.OpenDatabase(t, database)
	defer closeDB()
	started := time.Now()
	for batch := range 10 {
		var events []event.Event
		for i := range n / 10 {
			name := fmt.Sprintf("t%d", batch*n/10+i)
			events = append(events, event.Event{
				Kind: "target.down", Phase: event.Started, Severity: event.Critical, SubjectKind: "target", SubjectID: name, Name: name, Host: fmt.Sprintf("h%d.example", i%1000),
				URL: "https://h.example/" + name, At: models.At(time.Now()), Failures: 1, Detail: "timed out",
			})
		}
		modelstest.AddEvents(t, db, events...)
	}
	stored := time.Since(started)
	taken := time.Duration(0)
	for time.Since(started) < 5*time.Minute {
		if taken == 0 && metric(t, s, "linkwatch_alert_events_pending") == 0 {
			taken = time.Since(started)
		}
		if subjects, _ := hook.received(); taken > 0 && subjects >= 1000 && metric(t, s, "linkwatch_alert_deliveries_pending") == 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	subjects, calls := hook.received()
	var inDatabase int64
	if err := db.Read(context.Background()).Raw("SELECT count(*) FROM alert_subjects").Scan(&inDatabase).Error; err != nil {
		t.Fatal(err)
	}
	table("10,000 events of 1,000 hosts in one second, a channel that takes 1 s per message, %s", engine)
	row("10,000 events: stored after", "", "%.1f s", stored.Seconds())
	row("10,000 events: turned into alerts after", "", "%.1f s", taken.Seconds())
	row("10,000 events: delivered after", "≤ 60 s", "%.1f s", time.Since(started).Seconds())
	row("10,000 events: messages", "", "%d", calls)
	row("10,000 events: subjects in messages, subjects stored", "10,000", "%d, %d", subjects, inDatabase)
	row("memory at most", "", "%.0f MB", float64(s.PeakMemory())/1e6)
}
