package demo_test

import (
	"testing"
	"time"

	"linkwatch/demo"
	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
	"linkwatch/models/modelstest"
	"linkwatch/models/secret"
)

// The demo has firing, acknowledged and resolved alerts, and all its channels are disabled.
func TestAlerts(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		now := time.Now()
		plain := func(text []byte, _ string) ([]byte, error) { return text, nil }
		opts := alerts.Options{Seal: plain, Open: plain, Sign: func(text string) string { return text }, Types: []event.Type{
			{Kind: "target.down", EndsAs: "target.up", Default: true}, {Kind: "target.up", Default: true}, {Kind: "page.changed", Once: true},
			{Kind: "target.certificate_expiring", Default: true}, {Kind: "job.failed", Default: true},
		}}
		if did, err := demo.Alerts(t.Context(), &demo.Run{DB: db, Now: now}, opts); err != nil || did != "0 alerts" {
			t.Errorf("with other data: %q, %v", did, err)
		}
		if _, err := demo.Alerts(t.Context(), &demo.Run{DB: db, Now: now, Fresh: true}, opts); err != nil {
			t.Fatal(err)
		}
		s := alerts.NewStore(db, func() time.Time { return now }, opts)
		counts, err := s.Counts(t.Context())
		if err != nil || counts[alerts.Unacknowledged] != 1 || counts[alerts.Firing] != 2 || counts[alerts.Resolved] < 5 {
			t.Errorf("got alerts %v, %v", counts, err)
		}
		channels, err := s.Channels(t.Context(), models.Cursor{}, 10)
		if err != nil || len(channels.Items) != 2 {
			t.Fatalf("%d channels, %v", len(channels.Items), err)
		}
		for _, c := range channels.Items {
			if c.Usable() {
				t.Errorf("alerts are sent to %s", c.Name)
			}
		}
		open, err := s.Alerts(t.Context(), alerts.Unacknowledged, models.Cursor{}, 10)
		if err != nil {
			t.Fatal(err)
		}
		if sent, err := s.DeliveriesOf(t.Context(), open.Items, 10); err != nil || len(sent) > 0 {
			t.Errorf("messages were sent after the channels were disabled: %v, %v", sent, err)
		}
		if waiting, err := s.PendingMessages(t.Context()); err != nil || len(waiting) > 0 {
			t.Errorf("queued messages: %v, %v", waiting, err)
		}
	})
}

// demoCanBeSent checks that a server with the key file can decrypt the addresses of the demo channels.
func demoCanBeSent(t *testing.T, db *models.DB, file string) {
	box, err := secret.FromFile(file + ".key")
	if err != nil {
		t.Fatal(err)
	}
	store := alerts.NewStore(db, nil, alerts.Options{Seal: box.Seal, Open: box.Open})
	all, err := store.Channels(t.Context(), models.Cursor{}, alerts.MaxChannels)
	if err != nil || len(all.Items) == 0 {
		t.Fatalf("%d channels, %v", len(all.Items), err)
	}
	for _, c := range all.Items {
		if a, err := store.Address(c); err != nil || a.URL == "" {
			t.Errorf("the channel %s: %v", c.Name, err)
		}
	}
}

// demoCertificate checks that the certificate alert has the expiry date of the certificate of its target.
func demoCertificate(t *testing.T, db *models.DB) {
	var expires models.Time
	if err := db.Read(t.Context()).Raw("SELECT tls_expires_at FROM targets WHERE name = 'Blog'").Scan(&expires).Error; err != nil {
		t.Fatal(err)
	}
	var detail string
	if err := db.Read(t.Context()).Raw("SELECT detail FROM alert_subjects WHERE event = 'target.certificate_expiring'").Scan(&detail).Error; err != nil {
		t.Fatal(err)
	}
	if want := "valid until " + expires.Format(time.DateOnly); detail != want {
		t.Errorf("the alert says %q, the target %q", detail, want)
	}
}
