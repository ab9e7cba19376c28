package demo

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
)

// alertMaker creates demo channels, rules and alerts.
type alertMaker struct {
	db    *models.DB
	store *alerts.Store
	now   time.Time
	at    time.Time
}

type madeAlert struct {
	kind         event.Kind
	severity     event.Severity
	subject      string // subject kind
	host         string
	names        []string // names of the subjects
	detail       string
	ago          time.Duration // time since it started
	took         time.Duration // duration; 0 if it is still firing or has none
	acknowledged bool
}

// The certificate alert started when the certificate had one week left.
const (
	certificateAgo  = 9 * time.Hour
	certificateLeft = 7*day - certificateAgo
)

// allAlerts returns the demo alerts, oldest first.
func allAlerts(now time.Time) []madeAlert {
	expires := models.At(now.Add(certificateLeft)).Format(time.DateOnly)
	const down, changed, failed = "target.down", "page.changed", "job.failed"
	return []madeAlert{
		{kind: down, severity: event.Critical, subject: "target", host: "shop.northwind.example", names: []string{"Shop"}, detail: "unexpected status 502", ago: 20 * day, took: 14 * time.Minute},
		{kind: down, severity: event.Critical, subject: "target", host: "api.northwind.example", names: []string{"Public API", "Webhooks"}, detail: "timed out after 10 s", ago: 11 * day, took: 47 * time.Minute, acknowledged: true},
		{kind: failed, severity: event.Warning, subject: "job", host: "blog.northwind.example", names: []string{"Crawl of the blog"}, detail: "robots.txt is unavailable", ago: 6 * day, took: 5 * time.Hour},
		{kind: changed, severity: event.Info, subject: "page", host: "docs.northwind.example", names: []string{"Terms of delivery", "Prices"}, ago: 2 * day},
		{kind: down, severity: event.Critical, subject: "target", host: "shop.northwind.example", names: []string{"Shop"}, detail: "unexpected status 500", ago: day, took: 3 * time.Minute},
		{kind: "target.certificate_expiring", severity: event.Warning, subject: "target", host: "blog.northwind.example " + expires, names: []string{"Blog"}, detail: "valid until " + expires, ago: certificateAgo, acknowledged: true},
		{kind: down, severity: event.Critical, subject: "target", host: "labels.northwind.example", names: []string{"Shipping labels"}, detail: "unexpected status 503", ago: 130 * time.Minute},
	}
}

// Alerts creates demo channels, rules, a maintenance window and alerts, and returns a summary. It disables the channels, so that nothing
// is sent to them. opts are the options of the program's store.
func Alerts(ctx context.Context, r *Run, opts alerts.Options) (summary string, err error) {
	if !r.Fresh {
		return "0 alerts", nil
	}
	m := &alertMaker{db: r.DB, now: r.Now, at: r.Now.Add(-30 * day)}
	m.store = alerts.NewStore(r.DB, func() time.Time { return m.at }, opts)
	chat, mail, err := m.channels(ctx)
	if err != nil {
		return "", err
	}
	if err := m.rules(ctx, chat, mail); err != nil {
		return "", err
	}
	if err := m.forget(ctx); err != nil {
		return "", err
	}
	all := allAlerts(m.now)
	for i, a := range all {
		if i == len(all)-1 {
			if err := m.rest(ctx, chat, mail); err != nil {
				return "", err
			}
		}
		if err := m.happen(ctx, i, a); err != nil {
			return "", fmt.Errorf("after %d alerts: %w", i, err)
		}
	}
	return fmt.Sprintf("%d alerts", len(all)), nil
}

// forget deletes the events that the demo data of other systems caused.
func (m *alertMaker) forget(ctx context.Context) error {
	return m.db.Write(ctx, func(tx *gorm.DB) error {
		for {
			events, err := event.Oldest(tx, 1000)
			if err != nil || len(events) == 0 {
				return err
			}
			if err := event.Remove(tx, events); err != nil {
				return err
			}
		}
	})
}

// channels adds two channels.
func (m *alertMaker) channels(ctx context.Context) (chat, mail alerts.Channel, err error) {
	chat, err = m.store.AddChannel(ctx, alerts.NewChannel{Name: "Operations chat", Kind: "ntfy", Address: alerts.Address{URL: "ntfy://ntfy.northwind.example/operations"}})
	if err != nil {
		return chat, mail, err
	}
	mail, err = m.store.AddChannel(ctx, alerts.NewChannel{Name: "On call", Kind: alerts.KindWebhook, Address: alerts.Address{URL: "https://pager.northwind.example/alerts"}})
	return chat, mail, err
}

// rules adds two rules and a maintenance window.
func (m *alertMaker) rules(ctx context.Context, chat, mail alerts.Channel) error {
	_, err := m.store.AddRule(ctx, alerts.Rule{
		Name: "Important alerts", Events: m.store.DefaultEvents(), Channels: alerts.List{chat.ID}, AfterFailures: 1, RepeatMinutes: 120, Enabled: true,
		EscalateAfterMinutes: 15, EscalateChannels: alerts.List{mail.ID},
	})
	if err != nil {
		return err
	}
	_, err = m.store.AddRule(ctx, alerts.Rule{
		Name: "Changed pages in the daytime", Events: alerts.List{"page.changed"}, Channels: alerts.List{chat.ID}, AfterFailures: 1, Enabled: true,
		Quiet: alerts.Quiet{From: "20:00", To: "08:00", TimeZone: "Europe/Berlin"},
	})
	if err != nil {
		return err
	}
	starts := models.At(m.now.Truncate(day).Add(-14*day + 2*time.Hour))
	_, err = m.store.AddMaintenance(ctx, alerts.Maintenance{
		Name: "Database backup", Scope: alerts.Scope{Tags: alerts.List{"Infrastructure"}}, StartsAt: starts, EndsAt: starts.Add(time.Hour),
		Repeat: alerts.RepeatWeekly, TimeZone: "Europe/Berlin",
	})
	return err
}

// happen creates an alert, its messages and its end.
func (m *alertMaker) happen(ctx context.Context, n int, a madeAlert) error {
	began := m.now.Add(-a.ago)
	phase := event.Started
	if m.store.Type(a.kind).Once {
		phase = event.Once
	}
	if err := m.tell(ctx, n, a, phase, began); err != nil {
		return err
	}
	if a.acknowledged {
		page, err := m.store.Alerts(ctx, alerts.Unacknowledged, models.Cursor{}, 1)
		if err != nil {
			return err
		}
		for _, open := range page.Items {
			m.at = began.Add(4 * time.Minute)
			if _, err := m.store.Acknowledge(ctx, open.ID); err != nil {
				return err
			}
		}
	}
	if a.took == 0 {
		return nil
	}
	return m.tell(ctx, n, a, event.Ended, began.Add(a.took))
}

// tell stores the events of an alert and creates its messages.
func (m *alertMaker) tell(ctx context.Context, n int, a madeAlert, phase event.Phase, at time.Time) error {
	kind := models.KindTarget
	switch a.subject {
	case "job":
		kind = models.KindJob
	case "page":
		kind = models.KindCrawled
	}
	err := m.db.Write(ctx, func(tx *gorm.DB) error {
		var events []event.Event
		for i, name := range a.names {
			id := models.TimedID(kind, models.At(m.now.Add(-a.ago)), int64(n*100+i))
			if kind == models.KindTarget { // use the demo target of the same name
				if err := tx.Raw("SELECT id FROM targets WHERE name = ? LIMIT 1", name).Scan(&id).Error; err != nil {
					return fmt.Errorf("find target: %w", err)
				}
			}
			events = append(events, event.Event{
				Kind: a.kind, Phase: phase, Severity: a.severity, SubjectKind: a.subject, SubjectID: id, Name: name, Host: a.host, At: models.At(at), Failures: 1, Detail: a.detail,
			})
		}
		return event.Add(tx, events...)
	})
	if err != nil {
		return err
	}
	m.at = at
	if _, err := m.store.ProcessEvents(ctx, len(a.names)); err != nil {
		return err
	}
	m.at = at.Add(5 * time.Second) // alerts are held for further subjects
	_, err = m.store.QueueMessages(ctx, 100)
	return err
}

// rest marks all messages as delivered and disables the channels, because their hosts do not exist. The alerts after it have no messages.
func (m *alertMaker) rest(ctx context.Context, channels ...alerts.Channel) error {
	err := m.db.Write(ctx, func(tx *gorm.DB) error {
		err := tx.Exec("UPDATE deliveries SET status = ?, delivered_at = created_at, attempts = 1", alerts.DeliveryDelivered).Error
		if err != nil {
			return err
		}
		return tx.Exec("UPDATE channels SET last_delivered_at = (SELECT max(delivered_at) FROM deliveries AS d WHERE d.channel_seq = channels.seq)").Error
	})
	if err != nil {
		return err
	}
	off := false
	for _, c := range channels {
		if _, err := m.store.EditChannel(ctx, c.ID, alerts.ChannelEdit{Enabled: &off}); err != nil {
			return err
		}
	}
	return nil
}
