package accounts_test

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/audit"
	"linkwatch/models/modelstest"
)

// record stores an audit entry and advances the clock by a minute.
func record(s *apptest.App, e audit.Entry) {
	s.Helper()
	if e.At.IsZero() {
		e.At = models.At(s.Clock.Now())
	}
	modelstest.Exec(s.TB, s.DB, `INSERT INTO audit_entries (at, actor_id, actor, via, credential, address, request_id, action, subject_kind, subject_id, subject_name, before, after, attempts)
		VALUES (?, ?, ?, ?, '', ?, '', ?, ?, ?, ?, ?, ?, ?)`, e.At, e.ActorID, e.Actor, e.Via, e.Address, e.Action, e.SubjectKind, e.SubjectID, e.SubjectName, e.Before, e.After, max(1, e.Attempts))
	s.Clock.Advance(time.Minute)
}

// addEntries stores n entries, one second apart. The last one is from now.
func addEntries(s *apptest.App, n int) {
	s.Helper()
	modelstest.Exec(s.TB, s.DB, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO audit_entries (at, actor_id, actor, via, credential, address, request_id, action, subject_kind, subject_id, subject_name, before, after, attempts)
		SELECT ? - (? - i) * 1000000, '', 'alice', 'session', '', '192.0.2.1', '', 'target.edit', 'target', 't_0000000000000000000000', 'Shop', '{"a":1}', '{"a":2}', 1 FROM n`,
		n, models.At(s.Clock.Now()), n)
}

func TestAuditPage(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	as := s.SignIn(s.AddUser("alice", accounts.Admin))
	s.Clock.Advance(time.Minute)
	const target = "t_0000000000000000000000"
	record(s, audit.Entry{
		Actor: "bob", Via: "token", Address: "203.0.113.7", Action: "target.edit", SubjectKind: "target", SubjectID: target, SubjectName: "<script>alert(1)</script>",
		Before: `{"interval_seconds":1000000,"name":"<b>old</b>","tags":["a","b"]}`, After: `{"interval_seconds":2000000,"name":"","tags":[]}`,
	})
	record(s, audit.Entry{Actor: "<i>eve</i>", Via: "password", Address: "198.51.100.9", Action: "login.failed", Attempts: 12})
	record(s, audit.Entry{Action: "credential.refused", Attempts: 2})
	a := as.Get("/admin/audit")
	tt := s.TB.(*testing.T)
	apptest.WantText(tt, a, `nav[aria-label="Admin"] [aria-current="page"]`, "Audit log")
	apptest.WantText(tt, a, "tbody tr:nth-child(1)", "1 min ago unknown credential.refused 2 attempts none")
	apptest.WantText(tt, a, "tbody tr:nth-child(2)", "2 min ago <i>eve</i> password login.failed 12 attempts none 198.51.100.9")
	third := "table.audit > tbody > tr:nth-child(3)"
	apptest.WantText(tt, a, third, "bob API token target.edit <script>alert(1)</script> target history 203.0.113.7 3 changes")
	apptest.WantText(tt, a, third+" .changes tbody", "interval_seconds 1000000 2000000 name <b>old</b> empty tags a, b none")
	apptest.WantCount(tt, a, third+` a[href="/watch/`+target+`"]`, 1)
	apptest.WantText(tt, a, "table.audit > tbody > tr:nth-child(4)", "4 min ago alice password login alice user history")
	apptest.WantText(tt, a, "table.audit > tbody > tr:nth-child(4) summary", "Details")
	for _, markup := range []string{"<script>alert", "<i>eve", "<b>old"} {
		if strings.Contains(a.HTML, markup) {
			s.Errorf("%s is not escaped", markup)
		}
	}

	first := s.Clock.Now().Add(-3 * time.Minute)
	for query, want := range map[string]string{
		"actor=bob":                           "target.edit",
		"actor=alice":                         "login",
		"action=login":                        "login",
		"action=login.":                       "login.failed",
		"action=target.":                      "target.edit",
		"subject_id=" + target:                "target.edit",
		"address=198.51.100.9":                "login.failed",
		"actor=bob&action=login":              "",
		"actor=%20bob%20":                     "target.edit",
		"since=" + first.Format(time.RFC3339): "credential.refused login.failed target.edit",
		"until=" + first.Format(time.RFC3339): "login",
		"since=" + first.Format("2006-01-02"): "credential.refused login.failed target.edit login",
		"until=" + first.Format("2006-01-02"): "",
		"since=" + first.Format("2006-01-02T15:04") + "&until=" + first.Add(time.Minute).Format("2006-01-02T15:04"): "target.edit",
	} {
		a := as.Get("/admin/audit?" + query)
		apptest.WantStatus(tt, a, http.StatusOK)
		// The downloads below are entries too.
		if got := strings.TrimSpace(strings.ReplaceAll(apptest.Text(a, "table.audit code")+" ", "audit.download ", "")); got != want && !strings.HasPrefix(got, want+" ") || want == "" && got != "" {
			s.Errorf("%s: got %q, want %q", query, got, want)
		}
		if want == "" {
			apptest.WantText(tt, a, ".empty", "No matching entries")
		}
		rows := parseCSV(s, as.Get("/admin/audit.csv?"+query).HTML)
		if got := len(rows) - 1; got != a.Find("table.audit > tbody > tr").Length() {
			s.Errorf("%s: CSV and page differ: CSV has %d rows", query, got)
		}
	}
	for query, text := range map[string]string{
		"since=yesterday":                    "Since must be a time such as 2026-03-24T12:00.",
		"until=0001-01-01":                   "Until must be a time",
		"actor=" + strings.Repeat("x", 513):  "User",
		"action=" + strings.Repeat("é", 300): "Action",
	} {
		a := as.Get("/admin/audit?" + query)
		name, value, _ := strings.Cut(query, "=")
		wantError(tt, a, http.StatusBadRequest, name+"-error", text)
		value, _ = url.QueryUnescape(value)
		if got := a.Find("input[name="+name+"]").AttrOr("value", ""); got != value {
			s.Errorf("field %s: got %q, want %q", name, got, value)
		}
		apptest.WantStatus(tt, as.Get("/admin/audit.csv?"+query), http.StatusBadRequest)
	}
	apptest.WantStatus(tt, as.Get("/admin/audit?page_token=x"), http.StatusBadRequest)
}

// Each download is an entry. So is reading the audit log with the API, once an hour.
func TestReadsOfTheAuditLogAreRecorded(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	as := s.SignIn(s.AddUser("alice", accounts.Admin))
	of := func() (n int) {
		s.Helper()
		for _, line := range audited(s) {
			if strings.HasPrefix(line, "alice session audit.read Audit log ") {
				n++
			}
		}
		return n
	}
	as.Get("/admin/audit?actor=bob")
	if of() > 0 {
		s.Error("a page of the audit log is recorded")
	}
	as.Get("/admin/audit.csv?actor=bob&since=2026-01-02")
	wantAudited(s, `alice session audit.download Audit log  {"actor":"bob","since":"2026-01-02T00:00:00Z"}`)
	as.Get("/admin/audit.csv?since=x")
	for want := 1; want <= 2; want++ {
		r := as.Request("GET", "/v1/audit", "Accept", "text/csv")
		if r.Status != http.StatusOK || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/csv") {
			s.Fatalf("got %d, %v", r.Status, r.Header)
		}
		as.Do("GET", "/v1/audit", "").Want(http.StatusOK)
		if got := of(); got != want {
			s.Errorf("got %d entries of reads, want %d", got, want)
		}
		s.Clock.Advance(time.Hour + time.Minute)
	}
	if downloads := strings.Count(strings.Join(audited(s), "\n"), "audit.download"); downloads != 1 {
		s.Errorf("got %d entries of downloads, want 1", downloads)
	}
}

func parseCSV(s *apptest.App, text string) [][]string {
	s.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	s.Must(err)
	return rows
}

func TestAuditPage_Subjects(t *testing.T) {
	s := apptest.New(t)
	as := s.SignIn(s.AddUser("alice", accounts.Admin))
	for kind, want := range map[string]struct{ id, path string }{
		"link": {"l_1", "/links/l_1"}, "target": {"t_1", "/watch/t_1"}, "short_link": {"spring 26", "/short/spring%2026"}, "job": {"j_1", "/crawl/jobs/j_1"},
		"website": {"w_1", "/sites/w_1"}, "user": {"u_1", "/settings/users/u_1"}, "alert": {"v_1", "/alerts/v_1"}, "channel": {"a_1", "/alerts/channels/a_1"},
		"tag": {"g_1", ""}, "something": {"x", ""},
	} {
		record(s, audit.Entry{Actor: "alice", Action: kind + ".edit", SubjectKind: kind, SubjectID: want.id})
		a := as.Get("/admin/audit?action=" + kind + ".edit")
		if got := a.Find("td[data-label=Subject] > a").AttrOr("href", ""); got != want.path {
			t.Errorf("subject %s: got link %q, want %q", kind, got, want.path)
		}
	}
	record(s, audit.Entry{Actor: "alice", Action: "job.run", SubjectKind: "job", SubjectID: "reaper"})
	if got := as.Get("/admin/audit?action=job.run").Find("td[data-label=Subject] > a").AttrOr("href", ""); got != "/admin/jobs/reaper" {
		t.Errorf("scheduled job: got link %q", got)
	}
}

func TestAuditPage_Many(t *testing.T) {
	s := apptest.New(t)
	as := s.SignIn(s.AddUser("alice", accounts.Admin))
	addEntries(s, 10)
	queries := map[string]int64{ // at most: a group of actions takes one more, for its actions
		"": 2, "?actor=alice": 2, "?action=target.": 3, "?subject_id=t_0000000000000000000000": 2, "?address=192.0.2.1": 2,
	}
	few := map[string]int64{}
	for query := range queries {
		few[query] = as.Count("/admin/audit" + query)
	}
	addEntries(s, 5000)
	for query, most := range queries {
		if many := as.Count("/admin/audit" + query); many != few[query] || many > most {
			t.Errorf("%s: got %d queries with many entries, %d with few", query, many, few[query])
		}
	}
	a := as.Get("/admin/audit?actor=alice")
	apptest.WantCount(t, a, "table.audit > tbody > tr", 50)
	older := as.Get(a.Find("[rel=next]").AttrOr("href", ""))
	apptest.WantText(t, older, "table.audit > tbody > tr:first-child", "39 s ago")
	apptest.WantCount(t, older, `[rel=prev][href="/admin/audit?actor=alice"]`, 1)
	apptest.WantCount(t, older, `input[name=actor][value=alice]`, 1)

	p := as.Get("/admin/audit.csv?action=target.edit")
	if got := p.Header.Get("Content-Disposition"); got != `attachment; filename="audit.csv"` {
		t.Errorf("Content-Disposition: got %q", got)
	}
	rows := parseCSV(s, p.HTML)
	if len(rows) != 5011 || rows[0][0] != "id" || rows[1][8] != "target.edit" || rows[1][12] != `{"a":1}` {
		t.Errorf("got %d rows, starting with %q", len(rows), rows[:2])
	}
	addEntries(s, 6000)
	if rows := parseCSV(s, as.Get("/admin/audit.csv").HTML); len(rows) != 10_001 {
		t.Errorf("got %d rows, want 10,001", len(rows))
	}
	record(s, audit.Entry{Actor: "=cmd()", Action: "login.failed"})
	if rows := parseCSV(s, as.Get("/admin/audit.csv?action=login.failed").HTML); rows[1][2] != "'=cmd()" {
		t.Errorf("actor: got %q", rows[1][2])
	}
}
