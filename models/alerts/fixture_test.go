package alerts_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
)

type world struct {
	*testing.T
	*alerts.Store
	db    *models.DB
	clock *modelstest.Clock
	me    lease.ID
	facts *facts
}

// facts is a fake of alerts.Lookup.
type facts struct {
	tags, pages map[string][]string
	parents     map[string]string // source of jobs and pages
	gone        []string          // targets and status pages that do not exist
	asked       int
}

func (f *facts) Tags(context.Context, []string) (map[string][]string, error) {
	f.asked++
	return f.tags, nil
}

func (f *facts) StatusPages(context.Context, []string) (map[string][]string, error) {
	f.asked++
	return f.pages, nil
}

func (f *facts) Existing(_ context.Context, targets, statusPages []string) (map[string]bool, error) {
	existing := map[string]bool{}
	for _, id := range slices.Concat(targets, statusPages) {
		existing[id] = !slices.Contains(f.gone, id)
	}
	return existing, nil
}

// Items knows all items but those in gone. A page belongs to the source in its pages.
func (f *facts) Items(_ context.Context, refs []alerts.Ref) (map[alerts.Ref]alerts.Item, error) {
	f.asked++
	found := map[alerts.Ref]alerts.Item{}
	for _, r := range refs {
		item := alerts.Item{Ref: r, Name: r.ID, URL: "https://a.test/" + r.ID}
		if parent := f.parents[r.ID]; parent != "" {
			item.Parent = alerts.Ref{Kind: "source", ID: parent}
		}
		if !slices.Contains(f.gone, r.ID) {
			found[r] = item
		}
	}
	return found, nil
}

var types = []event.Type{
	{Kind: "target.down", Severity: event.Critical, Label: "Target down", Subject: "target", Noun: "target", Verb: "is down", PluralVerb: "are down", EndsAs: "target.up", Default: true},
	{Kind: "target.up", Severity: event.Info, Label: "Target up", Subject: "target", Noun: "target", Verb: "is up again", PluralVerb: "are up again", Default: true},
	{Kind: "page.changed", Severity: event.Info, Label: "Page changed", Subject: "page", Noun: "page", Verb: "changed", PluralVerb: "changed", Once: true},
	{Kind: "job.failed", Severity: event.Warning, Label: "Crawl job failed", Subject: "job", Noun: "crawl job", Verb: "failed", PluralVerb: "failed", Over: "completed again", Repeats: true},
	{Kind: "system.failed", Severity: event.Critical, Label: "Failure", Subject: "system", Noun: "job", Verb: "fails", PluralVerb: "fail", Over: "works again", Default: true},
}

func each(t *testing.T, test func(w *world)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) { test(newWorld(t, db)) })
}

func newWorld(t *testing.T, db *models.DB) *world {
	t.Helper()
	w := &world{T: t, db: db, clock: modelstest.NewClock(), me: modelstest.Lease(t, db, "i_me"), facts: &facts{}}
	w.Store = alerts.NewStore(db, w.clock.Now, alerts.Options{
		Types: types, Base: "https://lw.test", Sign: func(text string) string { return "signed-" + text },
		Seal: func(plain []byte, of string) ([]byte, error) { return append([]byte(of), plain...), nil },
		Open: func(sealed []byte, of string) ([]byte, error) {
			if len(sealed) < len(of) || string(sealed[:len(of)]) != of {
				return nil, errors.New("sealed for another")
			}
			return sealed[len(of):], nil
		},
	})
	w.SetLookup(w.facts)
	return w
}

func (w *world) Context() context.Context { return w.T.Context() }

func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) code(err error, want models.Code) {
	w.Helper()
	if models.CodeOf(err) != want {
		w.Errorf("the error is %v, want %s", err, want)
	}
}

func (w *world) channel(name string) alerts.Channel {
	w.Helper()
	c, err := w.AddChannel(w.Context(), alerts.NewChannel{Name: name, Kind: alerts.KindWebhook, Address: alerts.Address{URL: "https://hooks.test/" + name, Secret: "secret-of-" + name}})
	w.ok(err)
	return c
}

// rule adds a rule for target.down and target.up, after fn changed it.
func (w *world) rule(to alerts.Channel, fns ...func(*alerts.Rule)) alerts.Rule {
	w.Helper()
	r := alerts.Rule{Name: "Rule", Events: alerts.List{"target.down", "target.up"}, Channels: alerts.List{to.ID}, AfterFailures: 1, Enabled: true}
	for _, fn := range fns {
		fn(&r)
	}
	r, err := w.AddRule(w.Context(), r)
	w.ok(err)
	return r
}

// targetID returns the ID of a target from its test name.
func targetID(name string) string {
	return "t_" + (name + "xxxxxxxxxxxxxxxxxxxxxx")[:22]
}

// down returns the event of a failed check. The host of the target is the part of its name after "@".
func (w *world) down(name string, failures int) event.Event {
	return w.event("target.down", event.Started, name, failures)
}

func (w *world) up(name string) event.Event { return w.event("target.down", event.Ended, name, 0) }

func (w *world) event(kind event.Kind, phase event.Phase, name string, failures int) event.Event {
	subject, host := name, ""
	if i := slices.Index([]byte(name), '@'); i >= 0 {
		subject, host = name[:i], name[i+1:]
	}
	e := event.Event{Kind: kind, Phase: phase, SubjectID: targetID(subject), Name: subject, Host: host, At: w.Now(), SinceAt: w.Now(), Failures: failures}
	for _, t := range types {
		if t.Kind == kind {
			e.SubjectKind, e.Severity = t.Subject, t.Severity
		}
	}
	if e.SubjectKind == "target" {
		e.URL = "https://" + host + "/" + subject
	}
	if phase == event.Started {
		e.Detail = "unexpected status 500"
	}
	return e
}

// happen stores and processes events, and sends the due messages one second later.
func (w *world) happen(events ...event.Event) {
	w.Helper()
	modelstest.AddEvents(w, w.db, events...)
	w.pass(time.Second)
}

// pass advances the clock, then runs the due steps.
func (w *world) pass(d time.Duration) {
	w.Helper()
	for n := 1; n > 0; {
		var err error
		n, err = w.ProcessEvents(w.Context(), 100)
		w.ok(err)
	}
	w.clock.Advance(d)
	for n := 1; n > 0; {
		var err error
		n, err = w.QueueMessages(w.Context(), 100)
		w.ok(err)
	}
}

// sent returns the messages to a channel since its last call: "fired Shop is down".
func (w *world) sent(c alerts.Channel) (titles []string) {
	w.Helper()
	var ds []alerts.Delivery
	w.ok(w.db.Read(w.Context()).Where("channel_seq = ? AND status = ?", c.Seq, alerts.DeliveryPending).Order("seq").Find(&ds).Error)
	for _, d := range ds {
		var n alerts.Notification
		w.ok(json.Unmarshal([]byte(d.Body), &n))
		titles = append(titles, string(d.Reason)+" "+n.Message)
	}
	w.ok(w.db.Write(w.Context(), func(tx *gorm.DB) error {
		return tx.Exec("UPDATE deliveries SET status = 'delivered' WHERE channel_seq = ?", c.Seq).Error
	}))
	return titles
}

// expect fails the test unless a channel got exactly these messages since the last call.
func (w *world) expect(c alerts.Channel, want ...string) {
	w.Helper()
	if got := w.sent(c); !slices.Equal(got, want) {
		w.Fatalf("sent:\n%q\nwant:\n%q", got, want)
	}
}
