//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/alerts"
	happened "linkwatch/models/event"
	"linkwatch/models/modelstest"
)

// The server is killed repeatedly while it sends 1,000 alerts. No alert is lost, and a message that arrives twice has the same id.
func TestAlertsSurviveKills(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { alertsSurviveKills(t, filepath.Join(t.TempDir(), "alerts.db")) })
	t.Run("postgres", func(t *testing.T) { alertsSurviveKills(t, modelstest.NewPostgres(t)) })
}

func alertsSurviveKills(t *testing.T, database string) {
	const n = 1000
	var mu sync.Mutex
	ids := map[string]map[string]bool{} // message ids by subject
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var a struct{ Subject struct{ ID string } }
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if ids[a.Subject.ID] == nil {
			ids[a.Subject.ID] = map[string]bool{}
		}
		ids[a.Subject.ID][r.Header.Get("Linkwatch-Delivery")] = true
	}))
	defer hook.Close()
	s := Start(t, "DATABASE_URL="+database)
	var channel struct{ ID string }
	s.Call("POST", "/v1/channels", map[string]any{"name": "hook", "kind": "webhook", "url": hook.URL, "secret": "a secret of tests"}, &channel)
	s.Call("POST", "/v1/alert-rules", map[string]any{"name": "all", "events": []string{"target.down"}, "channels": []string{channel.ID}}, nil)
	db, closeDB := OpenDatabase(t, database)
	defer closeDB()
	var rule int64
	if err := db.Read(context.Background()).Raw("SELECT seq FROM alert_rules").Scan(&rule).Error; err != nil || rule == 0 {
		t.Fatal(rule, err)
	}
	for made := 0; ; {
		var sent int
		mu.Lock()
		for subject := range ids {
			if subject[0] == 't' {
				sent++
			}
		}
		mu.Unlock()
		if made == n && sent == n {
			break
		}
		if made < n && made-sent < 250 {
			storeDown(t, db, rule, made, 250)
			made += 250
		}
		time.Sleep(time.Duration(rand.IntN(7000)) * time.Millisecond) // kill at a random moment
		s.Kill()
		s = Start(t, "DATABASE_URL="+database)
	}
	modelstest.Eventually(t, "no message waits", func() bool {
		var waiting int64
		if err := db.Read(context.Background()).Raw("SELECT count(*) FROM deliveries WHERE status <> 'delivered'").Scan(&waiting).Error; err != nil {
			t.Fatal(err)
		}
		return waiting == 0
	})
	var subjects int64
	if err := db.Read(context.Background()).Raw("SELECT count(*) FROM alert_subjects WHERE subject_id LIKE 'e%'").Scan(&subjects).Error; err != nil || subjects != n {
		t.Errorf("got %d subjects, %v", subjects, err)
	}
	mu.Lock()
	defer mu.Unlock()
	for subject, of := range ids {
		if len(of) != 1 {
			t.Errorf("%s: got %d different messages, want 1", subject, len(of))
		}
	}
}

// storeDown stores n target.down events on 10 hosts, and n alerts that are due. Events alone would not cause so many alerts within a
// minute.
func storeDown(t *testing.T, db *models.DB, rule int64, from, n int) {
	t.Helper()
	now := models.At(time.Now())
	err := db.Write(context.Background(), func(tx *gorm.DB) error {
		var down []happened.Event
		var all []alerts.Alert
		for i := from; i < from+n; i++ {
			name := fmt.Sprintf("t%d", i)
			down = append(down, happened.Event{
				Kind: "target.down", Phase: happened.Started, Severity: happened.Critical, SubjectKind: "target", SubjectID: "e" + name, Name: name,
				Host: fmt.Sprintf("h%d.example", i%10), At: now, Failures: 1,
			})
			all = append(all, alerts.Alert{
				ID: models.NewID(models.KindAlert), Event: "target.down", Severity: happened.Critical, GroupKey: name, SubjectKind: "target", SubjectID: name, SubjectName: name,
				SubjectCount: 1, OpenSubjectCount: 1, CreatedAt: now.Add(-2 * time.Hour), StartedAt: now,
			})
		}
		if err := errors.Join(happened.Add(tx, down...), models.Insert(tx, all)); err != nil {
			return err
		}
		for _, statement := range []string{
			`INSERT INTO alert_subjects (alert_seq, subject_id, event, subject_kind, name, url, detail, since_at)
				SELECT seq, subject_id, event, subject_kind, subject_name, '', '', started_at FROM alerts WHERE fired_at IS NULL ON CONFLICT DO NOTHING`,
			fmt.Sprintf("INSERT INTO alert_notices (alert_seq, rule_seq, next_at, severity) SELECT seq, %d, created_at, 2 FROM alerts WHERE fired_at IS NULL ON CONFLICT DO NOTHING", rule),
			fmt.Sprintf("INSERT INTO alert_mentions (alert_seq, rule_seq, subject_id, due_at) SELECT seq, %d, subject_id, created_at FROM alerts WHERE fired_at IS NULL ON CONFLICT DO NOTHING", rule),
		} {
			if err := tx.Exec(statement).Error; err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
