package targets_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"linkwatch/models"
	"linkwatch/models/audit"
	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
)

// audited returns the entries since the last call, without ids, each as "alice target.edit target t_1 {…} {…}".
func (f fixture) audited() (texts []string) {
	f.Helper()
	var all []audit.Entry
	f.must(f.db.Read(f.Context()).Order("seq").Find(&all).Error)
	modelstest.Exec(f, f.db, "DELETE FROM audit_entries")
	for _, e := range all {
		texts = append(texts, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s %s %s", e.Actor, e.Action, e.SubjectKind, e.SubjectName, e.Before, e.After)), " "))
	}
	return texts
}

// Each change by a request has one entry, background work has none.
func TestTargetAudit(t *testing.T) {
	each(t, func(f fixture) {
		want := func(entries ...string) {
			f.Helper()
			if got := f.audited(); !slices.Equal(got, entries) {
				f.Errorf("got  %q\nwant %q", got, entries)
			}
		}
		bob := f.as("bob")
		one, _, err := f.Add(bob, targets.New{URL: "https://a.test", Expect: targets.Expect{Keyword: "ok"}})
		f.must(err)
		want(`bob target.add target a.test {"expect.keyword":"ok","private":false,"url":"https://a.test"}`)
		_, _, err = f.Add(bob, targets.New{URL: "https://a.test"})
		f.must(err)
		want()
		_, err = f.Edit(bob, one.ID, targets.Edit{Name: new("A"), Paused: new(true), Private: new(true)})
		f.must(err)
		want(`bob target.edit target A {"name":""} {"name":"A"}`, `bob target.pause target A {"paused":false} {"paused":true}`,
			`bob target.unshare target A {"private":false} {"private":true}`)
		_, err = f.Edit(bob, one.ID, targets.Edit{Name: new("A"), Paused: new(true)})
		f.must(err)
		want()
		_, err = f.Edit(bob, one.ID, targets.Edit{Paused: new(false), Private: new(false)})
		f.must(err)
		want(`bob target.resume target A {"paused":true} {"paused":false}`, `bob target.share target A {"private":true} {"private":false}`)
		f.must(f.RequestCheck(bob, one.ID))
		want(`bob target.check target A`)
		f.must(f.Delete(bob, one.ID))
		want(`bob target.delete target A {"expect.keyword":"ok","name":"A","private":false,"url":"https://a.test"}`)
		_, err = f.Restore(bob, one.ID)
		f.must(err)
		want(`bob target.restore target A`)
		_, err = f.AddAll(bob, []targets.New{{URL: "https://a.test"}, {URL: "https://b.test"}})
		f.must(err)
		want(`bob target.add target b.test {"private":false,"url":"https://b.test"}`)
		n, err := f.AddAll(bob, []targets.New{{URL: "https://b.test"}, {URL: "https://c.test"}, {URL: "https://d.test"}})
		f.must(err)
		if got := f.audited(); n != 2 || len(got) != 1 || !strings.HasPrefix(got[0], `bob target.add target {"count":2,"ids":["t_`) {
			f.Errorf("%d: %q", n, got)
		}
		page, err := f.AddPage(bob, targets.PageSettings{Slug: "s", Title: "S", TargetIDs: []string{one.ID}})
		f.must(err)
		want(fmt.Sprintf(`bob status_page.add status_page S {"description":"","slug":"s","targets":["%s"],"title":"S"}`, one.ID))
		_, err = f.EditPage(bob, page.ID, targets.PageSettings{Slug: "s", Title: "T", TargetIDs: []string{one.ID}})
		f.must(err)
		want(`bob status_page.edit status_page T {"title":"S"} {"title":"T"}`)
		f.must(f.DeletePage(bob, page.ID))
		want(`bob status_page.delete status_page T {"description":"","slug":"s","title":"T"}`)

		f.is(f.DeletePage(bob, page.ID), models.CodeNotFound, "")
		_, err = f.Edit(bob, one.ID, targets.Edit{IntervalSeconds: new(-1)})
		f.is(err, models.CodeInvalid, "")
		background := f.add("https://e.test")
		f.must(f.Delete(f.Context(), background.ID))
		want()
	})
}
