package sites_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/sites"
	views "linkwatch/views/sites"
)

func TestEditAWebsite(t *testing.T) {
	a := newPagesApp(t)
	w := a.site("https://example.com/")
	path := "/sites/" + w.ID
	p := a.Get(path + "?edit=1")
	apptest.WantCount(t, p, "#edit[open] input[name=auto_submit][checked]", 1)
	apptest.WantCount(t, p, "input[name=indexing_enabled][checked]", 0)
	apptest.WantText(t, p, "#indexing-help", "Google offers its Indexing API only for pages with job postings and livestreams.")
	p = a.Follow(path, url.Values{"name": {hostile}, "indexing_enabled": {"true"}})
	apptest.WantText(t, p, ".flash", "Saved.")
	apptest.WantText(t, p, "h1", hostile)
	apptest.WantText(t, p, ".facts", "Submission on request Indexing API on")
	apptest.WantCount(t, p, "main script, main img", 0)
	long := strings.Repeat("x", 201)
	p = a.Post(path, url.Values{"name": {long}, "auto_submit": {"true"}})
	apptest.WantStatus(t, p, http.StatusBadRequest)
	apptest.WantText(t, p, "#edit-name-error", "Name must have at most 200 characters.")
	apptest.WantCount(t, p, "#edit[open] input[name=auto_submit][checked]", 1)
	apptest.WantCount(t, p, "input[name=indexing_enabled][checked]", 0)
	if got := p.Find("#edit input[name=name]").AttrOr("value", ""); got != long {
		t.Errorf("name field: %q", got)
	}
	apptest.WantStatus(t, a.Post("/sites/"+noSite, url.Values{"name": {"x"}}), http.StatusNotFound)
}

func TestCredentials(t *testing.T) {
	a := newPagesApp(t)
	w := a.site("https://example.com/")
	path := "/sites/" + w.ID
	apptest.WantText(t, a.Get(path), ".how", "add the email address of the service account as an owner of the property")
	never := func(p apptest.Page) apptest.Page {
		t.Helper()
		if strings.Contains(p.HTML, secretText) || strings.Contains(p.Header.Get("Location"), secretText) {
			t.Errorf("%s shows the credentials", p.Request.URL)
		}
		return p
	}
	a.Services.accountErr = models.Invalid("credentials", "must be the JSON key of a service account")
	for name, p := range map[string]apptest.Page{
		"empty":     a.upload(path+"/credentials", "file", "", " "),
		"plain":     a.Post(path+"/credentials", url.Values{"credentials": {secretText}}),
		"pasted":    a.upload(path+"/credentials", "file", "", secretText),
		"uploaded":  a.upload(path+"/credentials", "file", secretText, ""),
		"too large": a.upload(path+"/credentials", "file", strings.Repeat(secretText, 5000), ""),
	} {
		apptest.WantStatus(t, never(p), http.StatusBadRequest)
		want := map[string]string{"empty": "Key must not be empty", "too large": "Key must have at most 64 KiB"}[name]
		if want == "" {
			want = "Key must be the JSON key of a service account."
		}
		apptest.WantText(t, p, "#credentials-error", want)
		apptest.WantCount(t, p, `textarea[aria-invalid="true"]`, 1)
		if typed := p.Find("textarea").Text(); typed != "" {
			t.Errorf("%s: the field has %q", name, typed)
		}
	}
	a.Services.accountErr = models.Invalid("credentials", "is an API key. Create a JSON key.")
	said := never(a.Post(path+"/credentials", url.Values{"credentials": {secretText}}))
	if text := strings.TrimSpace(said.Find("#credentials-error").Text()); text != "Key is an API key. Create a JSON key." {
		t.Errorf("error that ends with a period: %q", text)
	}
	broken := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path+"/credentials", strings.NewReader(secretText))
	broken.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	p := never(a.Browse(broken))
	apptest.WantStatus(t, p, http.StatusBadRequest)
	apptest.WantText(t, p, "#credentials-error", "Key could not be read. Paste the JSON key instead.")
	apptest.WantStatus(t, a.upload("/sites/"+noSite+"/credentials", "file", secretText, ""), http.StatusNotFound)

	a.Services.accountErr = nil
	p = never(a.upload(path+"/credentials", "file", secretText, "other"))
	apptest.WantStatus(t, p, http.StatusSeeOther)
	p = never(a.Get(p.Header.Get("Location")))
	apptest.WantText(t, p, ".flash", "Credentials saved. Test them now.")
	apptest.WantText(t, p, ".setup .facts", "Service account robot@project.example Project project-1")
	apptest.WantCount(t, p, `[data-copy="robot@project.example"]`, 1)
	w, err := a.Sites.Get(t.Context(), w.ID)
	a.Must(err)
	if key, err := a.Sites.Key(w); err != nil || string(key) != secretText {
		t.Errorf("stored: %q %v", key, err)
	}

	ask := never(a.Get(path + "/credentials/delete"))
	apptest.WantText(t, ask, "main", "Remove the Google credentials?")
	p = a.Submit(ask, "main form")
	apptest.WantText(t, p, ".flash", "Credentials removed.")
	apptest.WantCount(t, p, ".how", 1)
}

func TestTestCredentials(t *testing.T) {
	a := newPagesApp(t)
	w := a.site("https://example.com/")
	path := "/sites/" + w.ID
	apptest.WantText(t, a.Follow(path+"/test", noForm), ".flash", "No credentials to test.")
	a.google(w)
	apptest.WantCount(t, a.Get(path), "#test li", 0)
	a.Services.checks = []views.Check{{Name: "Access token", OK: true, Text: "Google accepts the key."}, {Name: "Search Console", Text: hostile, Fix: "Add the service account as an owner."}}
	p := a.Post(path+"/test", noForm)
	apptest.WantStatus(t, p, http.StatusOK)
	apptest.WantText(t, p, "h1", "example.com")
	apptest.WantText(t, p, "#test", "ok Access token Google accepts the key. failed Search Console "+hostile+" Add the service account as an owner.")
	apptest.WantCount(t, p, "main script, main img", 0)
	part := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path+"/test", nil)
	part.Header.Set("HX-Request", "true")
	p = a.Browse(part)
	apptest.WantCount(t, p, "#test li", 2)
	apptest.WantCount(t, p, "h1, header, form", 0)

	a.Services.checks, a.Services.testErr = nil, models.Conflict("The stored credentials cannot be decrypted.")
	apptest.WantText(t, a.Post(path+"/test", noForm), "#test", "failed Test The stored credentials cannot be decrypted.")
	a.Services.testErr = errors.New(secretText)
	p = a.Post(path+"/test", noForm)
	apptest.WantStatus(t, p, http.StatusInternalServerError)
	if strings.Contains(p.HTML, secretText) {
		t.Error("the page shows an internal error")
	}
}

func TestIndexNow(t *testing.T) {
	a := newPagesApp(t)
	w := a.site("https://example.com/blog/")
	path := "/sites/" + w.ID
	apptest.WantStatus(t, a.Get(path+"/indexnow/key.txt"), http.StatusNotFound)
	apptest.WantStatus(t, a.Post(path+"/indexnow/check", noForm), http.StatusConflict)
	p := a.Get(path)
	apptest.WantText(t, p, "#indexnow + .panel", "It needs no account")
	for _, bad := range []string{"", "short", "with blanks in it", strings.Repeat("x", 129)} {
		p := a.Post(path+"/indexnow", url.Values{"indexnow_key": {bad}})
		apptest.WantStatus(t, p, http.StatusBadRequest)
		apptest.WantText(t, p, "#indexnow-error", "Key must ")
		if got := p.Find("input[name=indexnow_key]").AttrOr("value", ""); got != bad {
			t.Errorf("%q came back as %q", bad, got)
		}
	}
	p = a.Submit(p, `form[action$="/indexnow"]:not(.fields-form)`)
	apptest.WantText(t, p, ".flash", "Key saved.")
	apptest.WantText(t, p, "#indexnow + .panel", "Key file 0123456789abcdef.txt Key file URL https://example.com/0123456789abcdef.txt Last verified never")
	file := a.Get(path + "/indexnow/key.txt")
	if file.HTML != "0123456789abcdef" || file.Header.Get("Content-Disposition") != `attachment; filename="0123456789abcdef.txt"` {
		t.Errorf("file: %q, %s", file.HTML, file.Header.Get("Content-Disposition"))
	}
	a.Services.keyProblem = "status 404: " + hostile
	p = a.Submit(p, `form[action$="/indexnow/check"]`)
	apptest.WantText(t, p, ".flash.bad", "Key file not found.")
	apptest.WantText(t, p, "#indexnow-state", a.Services.keyProblem)
	apptest.WantCount(t, p, "main script, main img", 0)
	a.Services.keyProblem = ""
	p = a.Submit(p, `form[action$="/indexnow/check"]`)
	apptest.WantText(t, p, ".flash", "Key file found.")
	apptest.WantText(t, p, "#indexnow + .panel", "Last verified just now")
	p = a.Follow(path+"/indexnow", url.Values{"indexnow_key": {" another-key-1 "}})
	apptest.WantText(t, p, "#indexnow + .panel", "https://example.com/another-key-1.txt Last verified never")
	p = a.Follow(path+"/indexnow", url.Values{"action": {"stop"}})
	apptest.WantText(t, p, ".flash", "IndexNow disabled.")
	apptest.WantCount(t, p, `a[href$="key.txt"]`, 0)
	for _, form := range []url.Values{{"action": {"make"}}, {"action": {"stop"}}, {"indexnow_key": {"another-key-1"}}} {
		apptest.WantStatus(t, a.Post("/sites/"+noSite+"/indexnow", form), http.StatusNotFound)
	}
}

// The state describes how a website is submitted.
func TestStateOfAWebsite(t *testing.T) {
	a := newPagesApp(t)
	w := a.site("https://example.com/")
	set := func(e sites.Edit) {
		t.Helper()
		_, err := a.Sites.Edit(t.Context(), w.ID, e)
		a.Must(err)
	}
	for _, c := range []struct {
		change func()
		want   string
	}{
		{func() { set(sites.Edit{IndexNowKey: new("12345678")}) }, "It is not known yet whether IndexNow accepts submissions: check the key file below."},
		{func() {
			keyed, err := a.Sites.Get(t.Context(), w.ID)
			a.Must(err)
			a.Must(a.Sites.KeyChecked(t.Context(), keyed, ""))
		}, "New and changed pages are submitted to IndexNow."},
		{func() { a.google(w) }, "New and changed pages are submitted to IndexNow. It is not known yet whether Google through sitemaps accepts submissions: test the credentials below."},
		{func() {
			a.Must(a.Sites.RecordServiceOutcome(t.Context(), w, sites.SearchConsole, sites.Outcome{Status: sites.Accepted}))
		}, "New and changed pages are submitted to IndexNow and to Google through sitemaps."},
		{func() { set(sites.Edit{IndexingEnabled: new(true)}) }, "New and changed pages are submitted to IndexNow and to Google's Indexing API."},
		{func() { set(sites.Edit{AutoSubmit: new(false)}) }, "Automatic submission is off."},
	} {
		c.change()
		apptest.WantText(t, a.Get("/sites/"+w.ID), ".state-text", c.want)
	}
}
