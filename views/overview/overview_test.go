package overview

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"

	"linkwatch/views/ui"
)

func shown(t *testing.T, parts ...ui.OverviewPart) *goquery.Document {
	t.Helper()
	var b bytes.Buffer
	v := Overview{Page: ui.Page{Title: "Overview", Now: time.Now()}, Parts: parts}
	if err := Page(v).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	page, err := goquery.NewDocumentFromReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func texts(page *goquery.Document, selector string) []string {
	return page.Find(selector).Map(func(_ int, s *goquery.Selection) string { return strings.TrimSpace(s.Text()) })
}

func TestGroupsAreOrderedBySeverityThenBySystemFromTheLast(t *testing.T) {
	row := templ.Raw("<li>row</li>")
	page := shown(t,
		ui.OverviewPart{Used: true, Attention: []ui.Attention{
			{Severity: ui.Info, Noun: "moved link", Count: 1},
			{Severity: ui.Critical, Noun: "dead link", Count: 7, Path: "/dead", Rows: []templ.Component{row, row}},
			{Severity: ui.Critical, Noun: "gone link", Count: 1},
			{Severity: ui.Critical, Noun: "empty group"},
		}},
		ui.OverviewPart{Attention: []ui.Attention{
			{Severity: ui.Warning, Noun: "certificate", After: " expiring soon", Count: 2},
			{Severity: ui.Critical, Noun: "target", After: " down", Rows: []templ.Component{row}}, // counted before it went down
		}},
	)
	want := []string{"1 target down", "7 dead links", "1 gone link", "2 certificates expiring soon", "1 moved link"}
	if got := texts(page, ".attention-group h3"); !slices.Equal(got, want) {
		t.Errorf("groups %q, want %q", got, want)
	}
	if got := texts(page, "#needs .muted"); !slices.Equal(got, []string{"· 12"}) {
		t.Errorf("%q things need attention", got)
	}
	if all := page.Find(".show-all a[href='/dead']"); all.Text() != "Show all 7" || all.AttrOr("aria-label", "") != "Show all 7 dead links" {
		t.Errorf("the way to all dead links is %q", all.Text())
	}
}

func TestWellIsWhatEachSystemSays(t *testing.T) {
	for want, parts := range map[string][]ui.OverviewPart{
		"All is well.":                          {{Used: true}},
		"All is well. No link is dead.":         {{Used: true, Well: []string{"no link is dead"}}},
		"All is well. No a, no b, c, and no d.": {{Used: true, Well: []string{"no a", "no b, c"}}, {}, {Well: []string{"no d"}}},
	} {
		if got := texts(shown(t, parts...), ".all-well"); !slices.Equal(got, []string{want}) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestFirstStepsUntilAnySystemIsUsed(t *testing.T) {
	parts := []ui.OverviewPart{
		{Steps: []ui.Step{{Place: 1, Body: templ.Raw("one")}, {Place: 3, Body: templ.Raw("three")}}},
		{Steps: []ui.Step{{Place: 2, Body: templ.Raw("two")}}, Hint: templ.Raw("Or <a href='/x'>that</a>.")},
	}
	page := shown(t, parts...)
	if got := texts(page, ".steps li"); !slices.Equal(got, []string{"one", "two", "three"}) {
		t.Errorf("steps %q", got)
	}
	if got := texts(page, ".steps ~ .lead"); !slices.Equal(got, []string{"Or that."}) {
		t.Errorf("hint %q", got)
	}
	parts[1].Used = true
	if page = shown(t, parts...); page.Find(".steps").Length() != 0 || page.Find(".tiles").Length() != 1 {
		t.Error("the first steps are still shown")
	}
}

func TestWelcomeOfTheFirstSystemThatHasOne(t *testing.T) {
	if got := texts(shown(t, ui.OverviewPart{}), "h1, .lead"); !slices.Equal(got, []string{"Overview"}) {
		t.Errorf("without a welcome: %q", got)
	}
	page := shown(t, ui.OverviewPart{}, ui.OverviewPart{Welcome: ui.Welcome{Heading: "Hello", Lead: "World."}}, ui.OverviewPart{Welcome: ui.Welcome{Heading: "Later"}})
	if got := texts(page, "h1, .lead"); !slices.Equal(got, []string{"Hello", "World."}) {
		t.Errorf("%q", got)
	}
}

func TestPartsAreShownInTheirOrder(t *testing.T) {
	page := shown(t,
		ui.OverviewPart{Used: true, Tiles: []ui.Tile{{Path: "/a", Count: 2, Word: "apples", Class: "red"}}, Aside: []templ.Component{templ.Raw("<h2>A</h2>")}},
		ui.OverviewPart{Tiles: []ui.Tile{{Path: "/b", Word: "bees", Class: "dead"}}, Aside: []templ.Component{templ.Raw("<h2>B</h2>")}, Main: []templ.Component{templ.Raw("<h2>M</h2>")}},
	)
	if got := texts(page, ".tiles a.red strong, .tiles a.zero:not(.dead) strong"); !slices.Equal(got, []string{"2", "0"}) {
		t.Errorf("tiles %q", got)
	}
	if got := texts(page, "aside h2"); !slices.Equal(got, []string{"A", "B"}) {
		t.Errorf("beside: %q", got)
	}
	if got := texts(page, ".needs + h2"); !slices.Equal(got, []string{"M"}) {
		t.Errorf("below: %q", got)
	}
}
