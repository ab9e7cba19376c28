package handlers_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"linkwatch/app/apptest"
)

// values returns what a browser posts for a form.
func values(form *goquery.Selection) url.Values {
	all := url.Values{}
	form.Find("input[name], textarea[name], select[name]").Each(func(_ int, in *goquery.Selection) {
		name, value := in.AttrOr("name", ""), in.AttrOr("value", "")
		_, checked := in.Attr("checked")
		switch kind := in.AttrOr("type", ""); {
		case kind == "checkbox" || kind == "radio":
			if checked {
				all.Add(name, value)
			}
		case kind == "file":
		case goquery.NodeName(in) == "textarea":
			all.Add(name, in.Text())
		case goquery.NodeName(in) == "select":
			chosen := in.Find("option[selected]")
			if chosen.Length() == 0 {
				chosen = in.Find("option").First()
			}
			all.Add(name, chosen.AttrOr("value", chosen.Text()))
		default:
			all.Add(name, value)
		}
	})
	return all
}

// editForms are the pages with edit forms, by the path that the form posts to.
var editForms = []struct{ page, action, text string }{
	{"/links/:id", "/links/:id", "notes"},
	{"/watch/:id", "/watch/:id", "name"},
	{"/short/:key", "/short/:key", "title"},
	{"/crawl/jobs/:id", "/crawl/jobs/:id", "max_retries"},
	{"/crawl/jobs/:id", "/crawl/sources/:id", "name"},
	{"/sites/:id", "/sites/:id", "name"},
	{"/alerts/channels/:id", "/alerts/channels/:id", "name"},
	{"/alerts/rules/:id", "/alerts/rules/:id", "name"},
	{"/alerts/maintenance/:id", "/alerts/maintenance/:id", "name"},
	{"/status/shop/edit", "/status/shop/edit", "title"},
}

// TestTwoTabsEdit: of two tabs with the same edit form, the second to be saved shows both texts and stores nothing. Its form
// then saves the second text. The links keep the first.
func TestTwoTabsEdit(t *testing.T) {
	a := apptest.New(t)
	admin, b := everyItem(a)
	path := func(p string) string {
		if at := b.pathOf(p); at != "" {
			return at
		}
		return p
	}
	for _, f := range editForms {
		first, second := "1", "2"
		if f.text != "max_retries" {
			first, second = "first text", "second text"
		}
		page, action := path(f.page), path(f.action)
		form := func(p apptest.Page) url.Values { return values(p.Find(`form[action="` + action + `"]`).First()) }
		tab := form(admin.Get(page))
		if tab.Get("version") == "" {
			t.Errorf("%s: the form has no version", f.action)
			continue
		}
		other, mine := form(admin.Get(page)), tab
		other.Set("save", "yes")
		other.Set(f.text, first)
		if got := admin.Post(action, other); got.StatusCode != 303 {
			t.Errorf("%s: got %d, %s", f.action, got.StatusCode, apptest.Text(got, "main"))
		}
		mine.Set(f.text, second)
		mine.Set("save", "yes")
		got := admin.Post(action, mine)
		if text := apptest.Text(got, ".conflict"); got.StatusCode != 412 || !strings.Contains(text, "Saved now "+first) || !strings.Contains(text, "Yours "+second) {
			t.Errorf("%s: got %d, %s", f.action, got.StatusCode, apptest.Text(got, "main"))
			continue
		}
		apptest.WantCount(t, got, `.conflict a[href="`+page+`"]`, 1)
		apptest.WantCount(t, got, ".field-error, .error-summary, [aria-invalid=true]", 0) // no field is wrong
		if stored := form(admin.Get(page)); stored.Get(f.text) != first {
			t.Errorf("%s: got %q stored", f.action, stored.Get(f.text))
		}
		again := form(got)
		if again.Get(f.text) != second {
			t.Errorf("%s: the form has %q", f.action, again.Get(f.text))
		}
		again.Set("save", "mine")
		if got := admin.Post(action, again); got.StatusCode != 303 {
			t.Errorf("%s, save mine: got %d, %s", f.action, got.StatusCode, apptest.Text(got, "main"))
		}
		if stored := form(admin.Get(page)); stored.Get(f.text) != second {
			t.Errorf("%s: got %q stored", f.action, stored.Get(f.text))
		}
	}
}

// A form with errors keeps the version that it was made from, so that a change by someone else is found afterwards. The same
// change in two tabs is no conflict.
func TestTwoTabsWithErrors(t *testing.T) {
	a := apptest.New(t)
	admin, b := everyItem(a)
	page := "/links/" + b.ids["link"]
	form := func(p apptest.Page) url.Values { return values(p.Find(`form[action="` + page + `"]`)) }
	mine, other := form(admin.Get(page)), form(admin.Get(page))
	other.Set("notes", "first")
	apptest.WantStatus(t, admin.Post(page, other), 303)
	mine.Set("title", strings.Repeat("x", 501))
	mine.Set("notes", "second")
	wrong := admin.Post(page, mine)
	apptest.WantStatus(t, wrong, 400)
	again := form(wrong)
	again.Set("title", "short")
	apptest.WantStatus(t, admin.Post(page, again), 412)
	again.Set("title", b.word+"linktitle")
	again.Set("notes", "first\r\n")
	apptest.WantStatus(t, admin.Post(page, again), 303)
}
