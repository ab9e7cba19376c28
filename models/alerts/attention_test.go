package alerts_test

import (
	"fmt"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models/alerts"
	"linkwatch/models/event"
	"linkwatch/models/modelstest"
)

// unacknowledged adds n copies of the first alert at intervals of a second.
func (w *world) unacknowledged(name string, severity event.Severity, n int) {
	w.Helper()
	var first alerts.Alert
	w.ok(w.db.Read(w.Context()).Order("seq").Limit(1).Find(&first).Error)
	as := make([]alerts.Alert, n)
	for i := range as {
		a := first
		a.Seq, a.ID, a.Severity, a.CreatedAt = 0, fmt.Sprintf("%s-%d", name, i+1), severity, first.CreatedAt.Add(time.Duration(i+1)*time.Second)
		a.GroupKey, a.SubjectName = a.ID, fmt.Sprintf("%s %d", name, i+1)
		as[i] = a
	}
	w.ok(w.db.Write(w.Context(), func(tx *gorm.DB) error { return tx.CreateInBatches(as, 500).Error }))
}

// The most severe alerts are shown even if there are many newer ones. All are counted.
func TestMostSevereAlertsNeedAttention(t *testing.T) {
	each(t, func(w *world) {
		c := w.channel("c")
		w.rule(c)
		w.happen(w.down("shop@a.test", 1))
		queries := modelstest.Queries(w, w.db)
		_, err := w.Attention(w.Context(), 2)
		w.ok(err)
		few := queries.Load()
		w.unacknowledged("critical", event.Critical, 128)
		w.unacknowledged("info", event.Info, 300)
		w.unacknowledged("warning", event.Warning, 3)
		queries.Store(0)
		at, err := w.Attention(w.Context(), 2)
		w.ok(err)
		if many := queries.Load(); many != few {
			w.Errorf("%d queries for one alert, %d for many", few, many)
		}
		if n := at.Unacknowledged; n[event.Critical] != 129 || n[event.Warning] != 3 || n[event.Info] != 300 {
			w.Errorf("%v", n)
		}
		var got []string
		for _, a := range at.Newest {
			got = append(got, a.SubjectName)
		}
		if want := []string{"critical 128", "critical 127", "warning 3", "warning 2", "info 300", "info 299"}; fmt.Sprint(got) != fmt.Sprint(want) {
			w.Errorf("%q, want %q", got, want)
		}
		w.unacknowledged("more", event.Critical, 10_000)
		at, err = w.Attention(w.Context(), 2)
		w.ok(err)
		if n := at.Unacknowledged[event.Critical]; n != 10_000 {
			w.Errorf("%d are counted", n)
		}
	})
}

func TestChannelsThatNeedAttention(t *testing.T) {
	each(t, func(w *world) {
		want := func(failing ...string) {
			w.Helper()
			at, err := w.Attention(w.Context(), 5)
			w.ok(err)
			var got []string
			for _, c := range at.Failing {
				got = append(got, fmt.Sprintf("%s %d %s", c.Name, c.FailedMessages, c.LastError))
			}
			if fmt.Sprint(got) != fmt.Sprint(failing) {
				w.Errorf("%q, want %q", got, failing)
			}
		}
		edit := func(c alerts.Channel, enabled bool) {
			w.Helper()
			_, err := w.EditChannel(w.Context(), c.ID, alerts.ChannelEdit{Enabled: &enabled})
			w.ok(err)
		}
		lost, failing, gone := w.channel("lost"), w.channel("failing"), w.channel("gone")
		for _, c := range []alerts.Channel{lost, failing, gone} {
			w.rule(c)
		}
		w.queued("one", "two", "three")
		want()
		w.deliver(failing, func(string) alerts.Attempt { return alerts.Attempt{Error: "returned 500"} })
		w.deliver(gone, func(string) alerts.Attempt { return alerts.Attempt{Error: "returned 410", Gone: true} })
		want("failing 0 returned 500", "gone 3 returned 410")
		edit(failing, false)
		want("gone 3 returned 410")
		edit(failing, true)
		w.clock.Advance(alerts.RetryPeriod)
		_, err := w.ExpireMessages(w.Context())
		w.ok(err)
		want("lost 3 ", "failing 3 ", "gone 3 returned 410")
		edit(lost, false)
		want("failing 3 ", "gone 3 returned 410")
		edit(lost, true)
		w.clock.Advance(24*time.Hour - time.Second)
		want("lost 1 ", "failing 1 ", "gone 1 returned 410")
		w.clock.Advance(time.Minute)
		want("gone 0 returned 410")
	})
}
