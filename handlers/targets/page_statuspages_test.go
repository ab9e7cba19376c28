package targets_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"linkwatch/app/apptest"

	"github.com/PuerkitoBio/goquery"

	"linkwatch/models/targets"
)

// choice returns the ids of the selected and the available targets on the form of a
// status page.
func choice(a apptest.Page) (chosen, others []string) {
	a.Find("#choices li").Each(func(_ int, li *goquery.Selection) {
		name := li.Find(".choice-name").Text()
		if _, on := li.Find("input").Attr("checked"); on {
			chosen = append(chosen, name)
		} else {
			others = append(others, name)
		}
	})
	return chosen, others
}

func wantChoice(t *testing.T, a apptest.Page, chosen, others string) {
	t.Helper()
	c, o := choice(a)
	if strings.Join(c, " ") != chosen || strings.Join(o, " ") != others {
		t.Errorf("chosen are %q of %q, want %q of %q", c, o, chosen, others)
	}
}

func TestStatusPagesEmpty(t *testing.T) {
	s := apptest.New(t)
	apptest.WantText(t, s.Get("/status"), ".empty", "No status pages yet")
	a := s.Get("/status/new")
	apptest.WantText(t, a, "#choices", "No targets yet")
	apptest.WantCount(t, a, `nav[aria-label=Main] a[aria-current="page"]`, 1)
	apptest.WantText(t, s.Get("/admin/checks"), ".empty", "No checks yet")
}

func TestPublishWithoutJavaScript(t *testing.T) {
	s := apptest.New(t)
	a, b, c := s.Watch("https://a.example", "A"), s.Watch("https://b.example", "B"), s.Watch("https://c.example", "C")
	wantChoice(t, s.Get("/status/new"), "", "A B C")

	form := url.Values{"title": {"Unsere Dienste, Zürich"}, "target": {b.ID, a.ID, b.ID}, "save": {"yes"}}
	saved := s.Follow("/status", form)
	apptest.WantText(t, saved, ".flash", "Status page saved")
	if got := saved.Find(".flash a").AttrOr("href", ""); got != "/status/unsere-dienste-zurich" {
		t.Errorf("the new page is at %q", got)
	}
	wantChoice(t, saved, "B A", "C")
	apptest.WantText(t, saved, ".badges", "/badge/"+b.ID+"/uptime/30d.svg")
	list := s.Get("/status")
	apptest.WantText(t, list, "tbody", "Unsere Dienste, Zürich /status/unsere-dienste-zurich 2")

	// Moving, searching and deselecting change only the form.
	at := "/status/unsere-dienste-zurich/edit"
	form = url.Values{"title": {"Typed"}, "slug": {"typed"}, "description": {"Text"}, "target": {b.ID, a.ID, c.ID}}
	with := func(name, value string) url.Values {
		f := url.Values{}
		for k, v := range form {
			f[k] = v
		}
		f.Set(name, value)
		return f
	}
	for _, step := range []struct {
		form           url.Values
		chosen, others string
	}{
		{with("up", c.ID), "B C A", ""},
		{with("down", b.ID), "A B C", ""},
		{with("up", b.ID), "B A C", ""}, // the first stays
		{with("look", "yes"), "B A C", ""},
		{with("target", c.ID), "C", "A B"},
	} {
		r := s.Post(at, step.form)
		apptest.WantStatus(t, r, http.StatusOK)
		wantChoice(t, r, step.chosen, step.others)
		if got := r.Find("[name=title]").AttrOr("value", "") + r.Find("[name=slug]").AttrOr("value", "") + r.Find("[name=description]").Text(); got != "TypedtypedText" {
			t.Errorf("what was typed came back as %q", got)
		}
	}
	look := url.Values{"title": {"Typed"}, "find": {"c.exam"}, "target": {a.ID}, "enter": {"yes"}}
	wantChoice(t, s.Post(at, look), "A", "C")
	look.Set("find", "nothing like it")
	apptest.WantText(t, s.Post(at, look), "#choices", "No other matching targets")
	wantChoice(t, s.Get(at), "B A", "C")

	look.Del("find") // Enter saves then
	look.Set("slug", "typed")
	saved = s.Follow(at, look)
	wantChoice(t, saved, "A", "B C")
	apptest.WantStatus(t, s.Get("/status/unsere-dienste-zurich"), http.StatusNotFound)

	ask := s.Get(saved.Find(".danger").AttrOr("href", ""))
	apptest.WantText(t, ask, "main", "Delete this status page?")
	gone := s.Submit(ask, "main form")
	apptest.WantText(t, gone, ".flash", "Status page deleted")
	apptest.WantText(t, gone, ".empty", "No status pages yet")
	if counts, err := s.Targets.Counts(t.Context()); err != nil || counts.All() != 3 {
		t.Errorf("%d targets are left: %v", counts.All(), err)
	}
}

func TestStatusChoicesForHTMX(t *testing.T) {
	s := apptest.New(t)
	a := s.Watch("https://a.example", "A")
	s.Watch("https://b.example", "B")
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/status", strings.NewReader(url.Values{"target": {a.ID}, "find": {"b"}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("HX-Request", "true")
	part := s.Browse(r)
	apptest.WantStatus(t, part, http.StatusOK)
	apptest.WantCount(t, part, "form, header", 0)
	wantChoice(t, part, "A", "B")
}

// The number of queries does not depend on the number of selected targets.
func TestStatusChoiceQueries(t *testing.T) {
	s := apptest.New(t)
	form := url.Values{"find": {"nothing like it"}, "look": {"yes"}}
	var few int64
	for i := range 30 {
		form.Add("target", s.Watch(fmt.Sprintf("https://%d.example", i), "").ID)
		if i != 1 && i != 29 {
			continue
		}
		before := s.Queries.Load()
		r := s.Post("/status", form)
		apptest.WantStatus(t, r, http.StatusOK)
		if chosen, _ := choice(r); len(chosen) != i+1 {
			t.Errorf("%d of %d are chosen", len(chosen), i+1)
		}
		n := s.Queries.Load() - before
		if few == 0 {
			few = n
		}
		if n != few || n > 3 { // the end of the search, the targets that it finds, and those that are selected
			t.Errorf("%d queries with 2 chosen, %d with %d", few, n, i+1)
		}
	}
}

func TestStatusErrorsAreNextToTheirField(t *testing.T) {
	s := apptest.New(t)
	shop := s.Watch("https://shop.example", "Shop")
	gone := s.Watch("https://gone.example", "Gone")
	s.Must(s.Targets.Delete(t.Context(), gone.ID))
	publish(s, "taken", "Taken", shop)
	for _, c := range []struct {
		title, slug, target string
		status              int
		field, message      string
	}{
		{"", "fine", shop.ID, 400, "title", "Title is missing."},
		{strings.Repeat("x", targets.MaxPageTitle+1), "fine", shop.ID, 400, "title", "Title must have at most 200 characters."},
		{"Fine", "Not fine", shop.ID, 400, "slug", "lower-case"},
		{"状態", "", shop.ID, 400, "slug", "lower-case"},
		{"New", "", shop.ID, 400, "slug", "another"},
		{"Taken", "", shop.ID, 409, "slug", "Another status page"},
		{"Fine", "fine", gone.ID, 400, "targets", "A selected target was deleted."},
		{"Fine", "fine", "t_nonsense", 400, "targets", "A selected target was deleted."},
	} {
		a := s.Post("/status", url.Values{
			"title": {c.title}, "slug": {c.slug}, "description": {"kept <b>"}, "target": {shop.ID, c.target}, "save": {"yes"},
		})
		apptest.WantStatus(t, a, c.status)
		apptest.WantText(t, a, "#"+c.field+"-error", c.message)
		apptest.WantCount(t, a, ".field-error", 1)
		if c.field != "targets" {
			apptest.WantCount(t, a, `[name=`+c.field+`][aria-invalid="true"]`, 1)
		}
		if got := a.Find("[name=title]").AttrOr("value", ""); got != c.title {
			t.Errorf("the title %q came back as %q", c.title, got)
		}
		if got := a.Find("[name=description]").Text(); got != "kept <b>" {
			t.Errorf("the description came back as %q", got)
		}
		wantChoice(t, a, "Shop", "")
	}
	many := url.Values{"title": {"Fine"}, "save": {"yes"}}
	for i := range targets.MaxPageTargets + 1 {
		many.Add("target", s.Watch(fmt.Sprintf("https://%d.example", i), "").ID)
	}
	apptest.WantText(t, s.Post("/status", many), "#targets-error", "at most 100")
	for _, path := range []string{"/status/none/edit", "/status/none/delete"} {
		apptest.WantStatus(t, s.Get(path), http.StatusNotFound)
		apptest.WantStatus(t, s.Post(path, url.Values{"title": {"x"}, "save": {"yes"}}), http.StatusNotFound)
	}
}

func TestChecksPage(t *testing.T) {
	s := apptest.New(t)
	shop := s.Watch("https://shop.example", "Shop", foundUp, foundDown, foundThrottled)
	other := s.Watch("https://other.example", "", foundSilent)
	a := s.Get("/admin/checks")
	apptest.WantCount(t, a, "tbody tr", 4)
	apptest.WantText(t, a, "tbody tr:first-child", "other.example only down connection refused")
	apptest.WantText(t, a, "tbody tr:last-child", "Shop only up 200 40 ms 1")
	apptest.WantText(t, a, "tbody", "throttled: status 429")
	if got := a.Find("tbody .title").First().AttrOr("href", ""); got != "/watch/"+other.ID {
		t.Errorf("the target is at %q", got)
	}
	if got := a.Find("#checks").AttrOr("hx-get", ""); got != "/admin/checks" {
		t.Errorf("it asks for %q", got)
	}
	apptest.WantCount(t, s.Part("/admin/checks"), "#checks", 1)

	for path, want := range map[string]int{
		"/admin/checks?failed=true":                              3,
		"/admin/checks?target=" + shop.ID:                        3,
		"/admin/checks?target=" + shop.ID + "&failed=true":       2,
		"/admin/checks?since=1h":                                 4,
		"/admin/checks?failed=true&since=7d&target=" + other.ID:  1,
		"/admin/checks?failed=false&since=24h&target=" + shop.ID: 3,
	} {
		a := s.Get(path)
		apptest.WantStatus(t, a, http.StatusOK)
		apptest.WantCount(t, a, "tbody tr", want)
	}
	apptest.WantText(t, s.Get("/admin/checks?target="+shop.ID), ".chip", "Shop")
	for path, want := range map[string]int{
		"/admin/checks?since=2h": 400, "/admin/checks?page_token=x": 400, "/admin/checks?target=t_none": 404,
	} {
		apptest.WantStatus(t, s.Get(path), want)
	}
	s.Clock.Advance(2 * 3600e9)
	apptest.WantText(t, s.Get("/admin/checks?since=1h"), ".empty", "No matching checks")
}

// TestChecksPageOlder reads the whole history. Each check is shown once, newest first,
// and older pages do not update themselves.
func TestChecksPageOlder(t *testing.T) {
	s := apptest.New(t)
	shop := s.Watch("https://shop.example", "Shop")
	for range 120 {
		s.Record(shop, foundUp)
	}
	var ids []string
	path, pages := "/admin/checks?target="+shop.ID, 0
	for path != "" {
		a := s.Get(path)
		a.Find("tbody tr").Each(func(_ int, tr *goquery.Selection) { ids = append(ids, tr.AttrOr("id", "")) })
		_, live := a.Find("#checks").Attr("hx-get")
		if live != (pages == 0) {
			t.Errorf("page %d: live is %v", pages, live)
		}
		path = a.Find("[rel=next]").AttrOr("href", "")
		pages++
	}
	if len(ids) != 120 || pages != 3 || !slices.IsSortedFunc(ids, func(a, b string) int { return strings.Compare(b, a) }) || len(slices.Compact(ids)) != 120 {
		t.Errorf("%d checks on %d pages", len(ids), pages)
	}
}

func TestChecksPageQueries(t *testing.T) {
	s := apptest.New(t)
	s.Watch("https://first.example", "", foundUp)
	few := s.Count("/admin/checks")
	for i := range 12 {
		s.Watch(fmt.Sprintf("https://%d.example", i), "", foundDown, foundUp)
	}
	if many := s.Count("/admin/checks"); many != few || many > 2 {
		t.Errorf("%d queries with one check, %d with 25", few, many)
	}
}
