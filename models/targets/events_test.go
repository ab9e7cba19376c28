package targets_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
)

// tells fails the test unless exactly these events were stored since the last call.
func (f fixture) tells(want ...string) {
	f.Helper()
	if got := modelstest.Events(f, f.db); !slices.Equal(got, want) {
		f.Fatalf("events: %q, want %q", got, want)
	}
}

func TestDownAndUpEvents(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		f.check(up(1))
		f.tells()
		f.check(down())
		f.check(down())
		f.tells("target.down began a.test: unexpected status 500 (1)", "target.down began a.test: unexpected status 500 (2)")
		f.check(targets.Result{Outcome: targets.ThrottledOutcome, StatusCode: 429, Attempts: 1, Error: "throttled"})
		f.tells()
		for range 20 {
			f.check(down())
		}
		// Ten, and then one every five minutes for rules that were added during the outage.
		got := modelstest.Events(f, f.db)
		if len(got) != 10 || !strings.HasSuffix(got[7], "(10)") || !strings.HasSuffix(got[8], "(15)") || !strings.HasSuffix(got[9], "(20)") {
			f.Errorf("%d events of further failures: %q", len(got), got)
		}
		f.check(up(1))
		f.tells("target.down ended a.test")
		f.check(down())
		f.tells("target.down began a.test: unexpected status 500 (1)")
		_, err := f.Edit(f.Context(), made.ID, targets.Edit{Paused: new(true)})
		f.must(err)
		f.tells("target.down closed a.test", "target.slow closed a.test", "target.certificate_expiring closed a.test")
	})
}

func TestSlowEvents(t *testing.T) {
	each(t, func(f fixture) {
		f.add("https://a.test")
		for range 12 {
			f.check(up(100))
		}
		f.check(up(1500))
		f.check(up(1200))
		f.tells()
		f.check(up(2000))
		f.tells("target.slow began a.test: response time 2s")
		f.check(up(2000))
		f.tells()
		f.check(up(100))
		f.tells("target.slow ended a.test")
		// A target that is usually slow has no event.
		f.add("https://b.test")
		modelstest.Exec(f, f.db, "DELETE FROM targets WHERE host = 'a.test'")
		for range 20 {
			f.check(up(2000))
		}
		f.tells()
	})
}

func TestCertificateEvents(t *testing.T) {
	each(t, func(f fixture) {
		f.add("https://a.test")
		check := func(left time.Duration) {
			f.clock.Advance(time.Hour)
			r := up(1)
			r.CheckedAt = f.Now()
			f.must(f.Record(f.Context(), targets.Checked{Target: f.only(), Result: r, TLSExpiresAt: f.Now().Add(left)}))
		}
		check(31 * day)
		f.tells()
		date := func(left time.Duration) string {
			return "target.certificate_expiring began a.test: valid until " + f.Now().Add(left).Format(time.DateOnly)
		}
		for _, left := range []time.Duration{29 * day, 6 * day, 20 * time.Hour} {
			check(left)
			f.tells(date(left))
			check(left - time.Hour)
			f.tells()
		}
		check(90 * day)
		f.tells("target.certificate_expiring ended a.test")
	})
}

// A renewed certificate that also expires soon starts a new alert, unless its level is not higher.
func TestRenewedCertificateEvents(t *testing.T) {
	each(t, func(f fixture) {
		f.add("https://a.test")
		check := func(left time.Duration) string {
			f.clock.Advance(time.Hour)
			r := up(1)
			r.CheckedAt = f.Now()
			expires := f.Now().Add(left)
			f.must(f.Record(f.Context(), targets.Checked{Target: f.only(), Result: r, TLSExpiresAt: expires}))
			return "target.certificate_expiring began a.test: valid until " + expires.Format(time.DateOnly)
		}
		const ended = "target.certificate_expiring ended a.test"
		f.tells(check(20 * time.Hour))
		f.tells(ended, check(6*day))
		f.tells(ended, check(20*day))
		check(29 * day) // a short-lived certificate that is renewed in time
		f.tells()
		f.tells(check(6 * day))
		check(60 * day)
		f.tells(ended)
	})
}

func TestMaintenanceDoesNotCountAgainstUptime(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		in := false
		f.UseMaintenance(func(_ context.Context, ts []targets.Target) (map[string]bool, error) {
			return map[string]bool{ts[0].ID: in}, nil
		})
		f.check(up(1))
		in = true
		f.check(down())
		f.check(down())
		in = false
		f.check(up(1))
		f.check(up(1))
		s := f.get(made.ID).Uptime[targets.Last24h]
		if s.Down != 0 || s.Up == 0 {
			f.Errorf("%+v", s)
		}
		if got := f.outages(made.ID); len(got) != 1 {
			f.Errorf("%+v", got)
		}
	})
}
