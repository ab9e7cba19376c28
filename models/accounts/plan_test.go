package accounts_test

import (
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/audit"
	"linkwatch/models/modelstest"
)

// A page of the audit log is read in order from an index for each filter and pair of filters that the page offers. Only the
// merge of several actions sorts, at most one page of each.
func TestAuditPlans(t *testing.T) {
	s := newStore(t, modelstest.New(t))
	for range 300 {
		modelstest.Exec(t, s.db, `INSERT INTO audit_entries (at, actor_id, actor, via, credential, address, request_id, action, subject_kind, subject_id, subject_name, before, after, attempts)
			VALUES (1, '', 'alice', '', '', '', '', 'target.add', '', '', '', '', '', 1), (1, '', 'bob', '', '', '', '', 'target.edit', '', '', '', '', '', 1)`)
	}
	after := models.Cursor{CreatedAt: s.Now(), ID: accounts.EntryID(audit.Entry{At: s.Now(), Seq: 100})}
	for _, c := range []struct {
		index string
		f     accounts.AuditFilter
	}{
		{"audit_entries_newest", accounts.AuditFilter{}},
		{"audit_entries_newest", accounts.AuditFilter{Since: s.Now().Add(-time.Hour), Until: s.Now()}},
		{"audit_entries_actor", accounts.AuditFilter{Actor: "alice"}},
		{"audit_entries_action", accounts.AuditFilter{Action: "target.edit"}},
		{"audit_entries_action", accounts.AuditFilter{Action: "target."}},
		{"audit_entries_actor_action", accounts.AuditFilter{Actor: "alice", Action: "target.edit"}},
		{"audit_entries_actor_action", accounts.AuditFilter{Actor: "alice", Action: "target."}},
		{"audit_entries_address", accounts.AuditFilter{Address: "192.0.2.1"}},
		{"audit_entries_subject", accounts.AuditFilter{SubjectID: "t_1"}},
	} {
		sent := modelstest.Sent(t, s.db, func() error { _, err := s.Audit(t.Context(), c.f, after, 50); return err })
		before := ""
		for _, step := range modelstest.Plan(t, s.db, sent[len(sent)-1]) {
			merges := before == "SCAN of_action" // at most one page of an action
			switch {
			case modelstest.ReadsAll(step) && step != "SCAN of_action", modelstest.Sorts(step) && !merges:
				t.Errorf("%+v: %s", c.f, step)
			case strings.Contains(step, "audit_entries USING") && !strings.Contains(step, "INDEX "+c.index+" "):
				t.Errorf("%+v: got %s, want %s", c.f, step, c.index)
			}
			before = step
		}
	}
}

// Filters combine, also those that select several actions.
func TestAuditFiltersCombine(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		s := newStore(t, db)
		for i, e := range []struct{ actor, action string }{{"alice", "target.add"}, {"bob", "target.add"}, {"alice", "target.edit"}, {"alice", "targets.add"}, {"alice", "link.add"}, {"alice", "target.add"}} {
			modelstest.Exec(t, db, `INSERT INTO audit_entries (at, actor_id, actor, via, credential, address, request_id, action, subject_kind, subject_id, subject_name, before, after, attempts)
				VALUES (?, '', ?, '', '', '', '', ?, '', '', '', '', '', 1)`, i+1, e.actor, e.action)
		}
		for want, f := range map[string]accounts.AuditFilter{
			"target.add target.edit target.add":            {Actor: "alice", Action: "target."},
			"target.add target.add":                        {Actor: "alice", Action: "target.add"},
			"target.add target.edit target.add target.add": {Action: "target."},
			"": {Action: "nothing."},
		} {
			var got []string
			for after := (models.Cursor{}); ; {
				l, err := s.Audit(t.Context(), f, after, 1)
				s.must(err)
				for _, e := range l.Items {
					got = append(got, e.Action)
				}
				if after = l.Next; !l.More() {
					break
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%+v: got %q, want %q", f, got, want)
			}
		}
	})
}
