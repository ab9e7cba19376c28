package alerts_test

import (
	"net/mail"
	"strings"
	"testing"
	"time"

	"linkwatch/jobs/alerts/send"
	"linkwatch/jobs/alerts/standin"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
	"linkwatch/models/modelstest"
)

// mailbox receives the mails of a channel.
type mailbox struct {
	*world
	server *standin.Server
	mails  []*mail.Message // by gets
	told   []told          // by tellings
}

// mailbox starts a worker, with a channel for email and a rule for outages and recoveries.
func (w *world) mailbox(rule alerts.Rule) *mailbox {
	w.Helper()
	server := standin.New(w)
	sender, err := send.New(send.Options{Relay: server.Relay(w), Log: w.log})
	w.ok(err)
	c, err := w.AddChannel(w.Context(), alerts.NewChannel{Name: "mail", Kind: "smtp", Address: alerts.Address{
		URL: "smtp://smtp.example.com:587/?from=linkwatch@example.com&to=anna@example.com",
	}})
	w.ok(err)
	rule.Events, rule.Channels = alerts.List{"target.down", "target.up"}, alerts.List{c.ID}
	rule.AfterFailures, rule.Enabled = 1, true
	_, err = w.AddRule(w.Context(), rule)
	w.ok(err)
	w.workerWith(sender)
	return &mailbox{world: w, server: server}
}

// gets advances the clock until n mails have arrived in total.
func (m *mailbox) gets(n int, step time.Duration) {
	m.Helper()
	m.passes(step, "a mail arrives", func() bool {
		for _, letter := range m.server.Mail.Letters() {
			got, err := mail.ReadMessage(strings.NewReader(letter.Data))
			m.ok(err)
			m.mails = append(m.mails, got)
		}
		return len(m.mails) >= n
	})
	if len(m.mails) != n {
		m.Fatalf("%d mails, want %d", len(m.mails), n)
	}
}

// of stores events of targets of one host.
func (w *world) of(host string, phase event.Phase, names ...string) {
	w.Helper()
	events := make([]event.Event, len(names))
	for i, name := range names {
		events[i] = event.Event{
			Kind: "target.down", Phase: phase, Severity: event.Critical, SubjectKind: "target", SubjectID: name, Name: name,
			Host: host, URL: "https://" + host + "/" + name, At: w.Now(), Detail: "timed out", Failures: 1,
		}
	}
	modelstest.AddEvents(w, w.db, events...)
}

// All mails of an outage are one thread: the first one, more targets, a reminder, a partial recovery and the last
// recovery. Another outage is another thread.
func TestMailsOfAnOutageAreAThread(t *testing.T) {
	each(t, func(w *world) {
		m := w.mailbox(alerts.Rule{RepeatMinutes: 10})
		w.of("shop.test", event.Started, "cart")
		m.gets(1, time.Second)
		w.of("shop.test", event.Started, "search")
		m.gets(2, time.Second)
		m.gets(3, time.Minute) // a reminder
		w.of("shop.test", event.Ended, "cart")
		m.gets(4, time.Second)
		w.of("shop.test", event.Ended, "search")
		m.gets(5, time.Second)
		w.of("blog.test", event.Started, "posts")
		m.gets(6, time.Second)

		first, ids := m.mails[0].Header, map[string]bool{}
		subject, root, firstID := first.Get("Subject"), first.Get("References"), first.Get("Message-Id")
		if subject != "cart is down: timed out" || !strings.HasPrefix(root, "<v_") || first.Get("In-Reply-To") != "" {
			w.Errorf("the first mail has %v", first)
		}
		for i, one := range m.mails[:5] {
			h := one.Header
			ids[h.Get("Message-Id")] = true
			reply := h.Get("Subject") == "Re: "+subject && h.Get("References") == root+" "+firstID && h.Get("In-Reply-To") == firstID
			if i > 0 && !reply {
				w.Errorf("mail %d has %v", i, h)
			}
			if !strings.HasPrefix(h.Get("List-Unsubscribe"), "<https://lw.test/alerts/channels/a_") {
				w.Errorf("mail %d has %v", i, h)
			}
		}
		if len(ids) != 5 {
			w.Errorf("the mails have the ids %v", ids)
		}
		other := m.mails[5].Header
		if other.Get("Subject") != "posts is down: timed out" || other.Get("References") == root || other.Get("In-Reply-To") != "" {
			w.Errorf("the mail of another outage has %v", other)
		}
	})
}
