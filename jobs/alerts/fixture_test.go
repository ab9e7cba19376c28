package alerts_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	alertjobs "linkwatch/jobs/alerts"
	"linkwatch/jobs/alerts/send"
	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
	"linkwatch/outbound"
)

// world is a store with a fake clock and a worker.
type world struct {
	*testing.T
	*alerts.Store
	db      *models.DB
	clock   *modelstest.Clock
	log     *slog.Logger
	timeout time.Duration        // of a message; 0 for send.DefaultTimeout
	reg     *prometheus.Registry // registry of the last worker
}

func each(t *testing.T, test func(w *world)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		modelstest.NoLeaks(t)
		test(newWorld(t, db))
	})
}

func newWorld(t *testing.T, db *models.DB) *world {
	t.Helper()
	w := &world{T: t, db: db, clock: modelstest.NewClock(), log: slog.New(slog.NewTextHandler(modelstest.NewLog(t), nil))}
	w.Store = alerts.NewStore(db, w.clock.Now, alerts.Options{
		Types: []event.Type{
			{Kind: "target.down", Severity: event.Critical, Subject: "target", Noun: "target", Verb: "is down", PluralVerb: "are down", EndsAs: "target.up"},
			{Kind: "target.up", Subject: "target", Noun: "target", Verb: "is up again", PluralVerb: "are up again"},
		},
		Base: "https://lw.test", Sign: func(text string) string { return "signed-" + text },
		Seal: func(plain []byte, _ string) ([]byte, error) { return plain, nil },
		Open: func(sealed []byte, _ string) ([]byte, error) { return sealed, nil },
	})
	return w
}

func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// worker starts a worker with its own lease. stop cancels it immediately. It also stops at the end of the test.
func (w *world) worker() (stop func()) {
	w.Helper()
	return w.workerWith(w.sender())
}

func (w *world) workerWith(s *send.Sender) (stop func()) {
	w.Helper()
	instanceLease := lease.New(w.db, nil)
	w.ok(instanceLease.Beat(w.Context()))
	beats, end := context.WithCancel(context.Background())
	var beating sync.WaitGroup
	beating.Go(func() {
		for beats.Err() == nil {
			_ = instanceLease.Beat(beats)
			select {
			case <-beats.Done():
			case <-time.After(lease.Heartbeat / 2):
			}
		}
	})
	worker := w.idle(instanceLease, s)
	worker.Start()
	stop = sync.OnceFunc(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		worker.Stop(ctx)
		end()
		beating.Wait()
	})
	w.Cleanup(stop)
	return stop
}

// idle returns a worker that is not started.
func (w *world) idle(instanceLease *lease.Lease, s *send.Sender) *alertjobs.Worker {
	w.Helper()
	w.reg = prometheus.NewRegistry()
	worker, err := alertjobs.New(alertjobs.Options{Store: w.Store, Lease: instanceLease, Sender: s, Log: w.log}, w.reg)
	w.ok(err)
	return worker
}

// metric returns the value of a metric of the last worker, for an outcome unless that is "".
func (w *world) metric(name, outcome string) float64 {
	w.Helper()
	families, err := w.reg.Gather()
	w.ok(err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name && (outcome == "" || m.GetLabel()[0].GetValue() == outcome) {
				return m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
	}
	w.Fatalf("there is no metric %s %s", name, outcome)
	return 0
}

func (w *world) sender() *send.Sender {
	w.Helper()
	relay := outbound.NewRelay(outbound.RelayOptions{AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	w.Cleanup(relay.Close)
	s, err := send.New(send.Options{Relay: relay, Timeout: w.timeout, Log: w.log})
	w.ok(err)
	return s
}

// hook is a webhook that records its requests.
type hook struct {
	alerts.Channel
	mu     sync.Mutex
	got    []got
	answer func(n int, w http.ResponseWriter, r *http.Request) // answers request n, counted from 0
}

type got struct {
	id string
	alerts.Notification
}

// hook adds a webhook channel and a rule for target.down and target.up.
func (w *world) hook(name string) *hook {
	w.Helper()
	h := &hook{}
	server := httptest.NewServer(http.HandlerFunc(func(res http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var n alerts.Notification
		if err = errors.Join(err, json.Unmarshal(body, &n)); err != nil {
			w.Error(err)
		}
		h.mu.Lock()
		number, answer := len(h.got), h.answer
		h.got = append(h.got, got{r.Header.Get("Linkwatch-Delivery"), n})
		h.mu.Unlock()
		if answer != nil {
			answer(number, res, r)
		}
	}))
	w.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	var err error
	h.Channel, err = w.AddChannel(w.Context(), alerts.NewChannel{Name: name, Kind: alerts.KindWebhook, Address: alerts.Address{URL: server.URL, Secret: "a secret of tests"}})
	w.ok(err)
	_, err = w.AddRule(w.Context(), alerts.Rule{Name: name, Events: alerts.List{"target.down", "target.up"}, Channels: alerts.List{h.ID}, AfterFailures: 1, Enabled: true})
	w.ok(err)
	return h
}

func (h *hook) requests() []got {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.got)
}

// answers sets the handler of the hook.
func (h *hook) answers(fn func(n int, w http.ResponseWriter, r *http.Request)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answer = fn
}

// happens stores an event of a target. Each target has its own host.
func (w *world) happens(phase event.Phase, names ...string) {
	w.Helper()
	events := make([]event.Event, len(names))
	for i, name := range names {
		events[i] = event.Event{
			Kind: "target.down", Phase: phase, Severity: event.Critical, SubjectKind: "target", SubjectID: name, Name: name, Host: name + ".test",
			URL: "https://" + name + ".test", At: w.Now(), Detail: "timed out", Failures: 1,
		}
	}
	modelstest.AddEvents(w, w.db, events...)
}

// passes advances the clock until a condition holds.
func (w *world) passes(step time.Duration, what string, is func() bool) {
	w.Helper()
	modelstest.Eventually(w, what, func() bool {
		if is() {
			return true
		}
		w.clock.Advance(step)
		return false
	})
}
