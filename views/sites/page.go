package sites

import (
	"strconv"

	"linkwatch/models/sites"
	"linkwatch/views/ui"
)

// OnePage is one page of a website.
type OnePage struct {
	ui.Page
	Site        sites.Website
	One         sites.Page
	Submissions []sites.Submission
	Kept        Kept
	Known       sites.Known
	Findings    []sites.Finding
	Priority    PriorityForm
	Problem     string // why the last action did not work; "" = it did
}

// PriorityForm is what was typed for the priority of a page, with its errors.
type PriorityForm struct {
	Value  string // "" = the automatic one
	Open   bool
	Errors ui.Errors
}

// PriorityFormOf is the form filled in with a page.
func PriorityFormOf(p sites.Page) PriorityForm {
	if p.ManualPriority == nil {
		return PriorityForm{}
	}
	return PriorityForm{Value: strconv.Itoa(*p.ManualPriority)}
}

// Removal is the question before a page's removal is submitted.
type Removal struct {
	ui.Page
	Site sites.Website
	One  sites.Page
}

// Waits reports whether somebody waits for a submission or a verification of the page.
func (v OnePage) Waits() bool {
	return !v.One.SubmitWantedAt.IsZero() || !v.One.VerifyWantedAt.IsZero()
}

// waits says what the page waits for, and what is in the way.
func (v OnePage) waits() (all []string) {
	if !v.One.SubmitWantedAt.IsZero() {
		what := "The page"
		if v.One.Removal {
			what = "The removal of the page"
		}
		all = append(all, what+" is submitted "+v.when())
	}
	if !v.One.VerifyWantedAt.IsZero() {
		all = append(all, "Google is asked within moments whether the page is indexed.")
	}
	if len(all) > 0 {
		for _, r := range v.Site.Refusals() {
			if r.Error != v.One.LastError { // which is shown as well
				all = append(all, r.Name+" refuses requests for now: "+r.Error)
			}
		}
	}
	return all
}

// when is how soon the page is submitted: not before the services that it waits for allow it.
func (v OnePage) when() string {
	google := v.Site.Console
	if v.Site.IndexingEnabled {
		google = v.Site.Indexing
	}
	if v.One.ForGoogle && google.Error != "" || v.One.ForIndexNow && v.Site.IndexNowState.Error != "" {
		return "when requests are allowed again."
	}
	return "within moments."
}

// polls makes a part ask again while the page waits for something.
func (v OnePage) polls() map[string]any {
	if !v.Waits() {
		return nil
	}
	return map[string]any{"hx-get": PagePath(v.One), "hx-trigger": "every 5s", "hx-swap": "outerMorph", "hx-sync": "this:abort"}
}

// certainties are the certainties of findings in words.
var certainties = map[sites.Certainty]string{
	sites.Certain: "certain", sites.Likely: "likely", sites.ByGoogle: "says Google", sites.Waiting: "waiting",
}

// googleFacts are what Google says of the page, by the names of its URL Inspection API.
func googleFacts(i sites.Inspection) (all []ui.Field) {
	for _, f := range []ui.Field{
		{Name: "Verdict", Value: i.Verdict}, {Name: "Coverage", Value: i.CoverageState}, {Name: "robots.txt", Value: i.RobotsState},
		{Name: "Indexing", Value: i.IndexingState}, {Name: "Fetch", Value: i.FetchState},
	} {
		if f.Value != "" {
			all = append(all, f)
		}
	}
	return all
}
