package handlers_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/accounts"
)

// auditKinds maps kinds of items in a test to the kinds of the audit log.
var auditKinds = map[string]string{
	"link": "link", "tag": "tag", "target": "target", "short link": "short_link", "source": "source", "job": "job", "execution": "execution", "crawled page": "crawled_page",
	"discovered link": "discovered_link", "entry": "frontier_entry", "feed": "feed", "website": "website", "site page": "page", "channel": "channel", "rule": "alert_rule", "alert": "alert",
}

// readOf returns the kind and the id of the last item in the path of a route.
func (b *belongings) readOf(route string) (kind, id string) {
	for _, s := range subjects {
		if strings.HasPrefix(route, s.prefix+":") {
			kind = s.kind
			break
		}
	}
	switch {
	case strings.Contains(route, "/:link_id"):
		kind = "link"
	case strings.Contains(route, "/:page"):
		kind = "site page"
	case strings.HasSuffix(route, "/tag/:tag_id") && kind == "link":
		kind = "tag"
	}
	return auditKinds[kind], b.ids[kind]
}

// reads returns the new entries for reads: action, kind and id of the subject, user and credential.
func (b *belongings) reads(after *int64) (all []string) {
	b.Helper()
	b.Must(b.Systems.Accounts.Store.Flush(b.ctx))
	var rows []struct {
		Seq                                                     int64
		Action, SubjectKind, SubjectID, SubjectName, Actor, Via string
	}
	b.Must(b.DB.Read(b.ctx).Raw("SELECT * FROM audit_entries WHERE seq > ? ORDER BY seq", *after).Scan(&rows).Error)
	for _, r := range rows {
		*after = r.Seq
		if !strings.HasSuffix(r.Action, ".read") {
			continue
		}
		if r.SubjectName == "" {
			b.Errorf("%s %s: got no name", r.Action, r.SubjectID)
		}
		all = append(all, strings.Join([]string{r.Action, r.SubjectKind, r.SubjectID, r.Actor, r.Via}, " "))
	}
	slices.Sort(all)
	return all
}

// TestReadsOfPrivateItemsAreRecorded reads a private item by every route, as two admins: one with a session, one with a
// token. Each gets one entry per hour. There are none for the owner, for shared and for unknown items.
func TestReadsOfPrivateItemsAreRecorded(t *testing.T) {
	apptest.EachEngine(t, func(a *apptest.App) {
		root, other := signIn(a, a.AddUser("root", accounts.Admin)), a.AddUser("robot", accounts.Admin)
		_, secret, err := a.Systems.Accounts.Store.AddToken(a.Context(), other, accounts.NewToken{Name: "test", Scopes: []string{"admin"}, By: other.Role})
		a.Must(err)
		bearer := "Bearer " + secret
		boss := a.AddUser("boss", accounts.Admin)
		bobs, shared := addAll(a, boss, "quokka", true), addAll(a, a.AddUser("alice", accounts.Editor), "wombat", false)
		his := signIn(a, boss)
		var last int64
		bobs.reads(&last)
		gone := map[string]string{}
		for kind, id := range bobs.ids {
			if prefix, _, ok := strings.Cut(id, "_"); ok {
				gone[kind] = prefix + "_" + strings.Repeat("0", 22)
			} else {
				gone[kind] = "nosuchkey"
			}
		}
		unknown := &belongings{App: a, ctx: bobs.ctx, ids: gone}
		tried := map[string]bool{}
		for _, rt := range a.Router.Routes() {
			p := bobs.pathOf(rt.Path)
			kind, id := bobs.readOf(rt.Path)
			if rt.Method != http.MethodGet || p == "" || kind == "" {
				continue
			}
			method := http.MethodGet
			if rt.Stream { // the response of GET does not end
				method = http.MethodHead
			}
			read := func(as *reader, path string, headers ...string) string {
				return as.send(httptest.NewRequestWithContext(a.TB.Context(), method, path, nil), headers...)
			}
			a.Clock.Advance(time.Hour + time.Minute)
			read(his, p)
			for _, none := range []string{shared.pathOf(rt.Path), unknown.pathOf(rt.Path)} {
				read(root, none)
				read(root, none, "Authorization", bearer)
			}
			if got := bobs.reads(&last); len(got) > 0 {
				a.Errorf("%s of the owner, a shared and an unknown item: got %q", rt.Path, got)
			}
			code, _, _ := strings.Cut(read(root, p), "\n")
			want := []string{kind + ".read " + kind + " " + id + " robot token", kind + ".read " + kind + " " + id + " root session"}
			if rt.Needs == middleware.Public || strings.Contains(rt.Path, "/archive/") {
				want = nil
			} else if tried[kind] = true; code >= "400" {
				a.Errorf("%s: got %s", p, code)
			}
			read(root, p, "Authorization", bearer)
			read(root, p)
			if got := bobs.reads(&last); !slices.Equal(got, want) {
				a.Errorf("%s: got %q, want %q", rt.Path, got, want)
			}
			a.Clock.Advance(50 * time.Minute)
			read(root, p)
			read(root, p, "Authorization", bearer)
			if got := bobs.reads(&last); len(got) > 0 {
				a.Errorf("%s again in the same hour: got %q", rt.Path, got)
			}
		}
		for kind := range maps.Values(auditKinds) {
			if !tried[kind] {
				a.Errorf("no route reads a %s", kind)
			}
		}
		a.Clock.Advance(2 * time.Hour)
		root.see("/v1/frontier?source_id=" + bobs.ids["source"])
		root.see("/links?x=l_%00&x=t")
		if got, want := bobs.reads(&last), "source.read source "+bobs.ids["source"]+" root session"; !slices.Equal(got, []string{want}) {
			a.Errorf("a list of a private source: got %q, want %q", got, want)
		}
		write := httptest.NewRequestWithContext(a.TB.Context(), http.MethodPatch, "/v1/targets/"+bobs.ids["target"], strings.NewReader("{}"))
		write.Header.Set("Content-Type", "application/json")
		root.send(write, "Authorization", bearer)
		if got, want := bobs.reads(&last), "target.read target "+bobs.ids["target"]+" robot token"; !slices.Equal(got, []string{want}) {
			a.Errorf("a write that changes nothing: got %q, want %q", got, want)
		}
	})
}

// TestManyReads: more reads than fit in memory become one entry.
func TestManyReads(t *testing.T) {
	a := apptest.New(t)
	store, root := a.Systems.Accounts.Store, models.Actor{ID: "u_1", Name: "root", SeesAll: true, Via: "session"}
	for range 1200 {
		if !store.ReadItem(root, "", models.NewID(models.KindTarget)) {
			t.Fatal("the id of a target is not an item")
		}
	}
	if store.ReadItem(root, "", "t") || store.ReadItem(root, "", "t_x\x00") || store.ReadItem(root, "", "") {
		t.Error("a text that is no id is an item")
	}
	a.Must(store.Flush(t.Context()))
	l, err := store.Audit(t.Context(), accounts.AuditFilter{Actor: "root"}, models.Cursor{}, 10)
	a.Must(err)
	if len(l.Items) != 1 || l.Items[0].Action != "item.read" || l.Items[0].Attempts != 200 {
		t.Errorf("got %+v", l.Items)
	}
}
