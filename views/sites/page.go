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
	Related     Related
	Evidence    sites.Evidence
	Findings    []sites.Finding
	Priority    PriorityForm
	Problem     string // error of the last action; "" = none
}

// PriorityForm is the form that sets the priority of a page, with its errors.
type PriorityForm struct {
	Value  string // "" = automatic
	Open   bool
	Errors ui.Errors
}

// PriorityFormOf returns the form filled in with a page.
func PriorityFormOf(p sites.Page) PriorityForm {
	if p.ManualPriority == nil {
		return PriorityForm{}
	}
	return PriorityForm{Value: strconv.Itoa(*p.ManualPriority)}
}

// Removal is the confirmation page of a removal.
type Removal struct {
	ui.Page
	Site sites.Website
	One  sites.Page
}

// Waiting reports whether a submission or verification of the page was requested and is not done.
func (v OnePage) Waiting() bool {
	return !v.One.SubmitRequestedAt.IsZero() || !v.One.VerifyRequestedAt.IsZero()
}

// waitingTexts describe the requested submission and verification, and the services that refuse requests.
func (v OnePage) waitingTexts() (all []string) {
	if !v.One.SubmitRequestedAt.IsZero() {
		what := "The page"
		if v.One.Removal {
			what = "The removal of the page"
		}
		all = append(all, what+" will be submitted "+v.submissionTime())
	}
	if !v.One.VerifyRequestedAt.IsZero() {
		all = append(all, "The page will be verified shortly.")
	}
	if len(all) > 0 {
		for _, r := range v.Site.Refusals() {
			if r.Error != v.One.LastError { // shown separately
				all = append(all, refusal(v.Site, r))
			}
		}
	}
	return all
}

// submissionTime says how soon the page is submitted. A paused service delays it.
func (v OnePage) submissionTime() string {
	google := v.Site.Console
	if v.Site.IndexingEnabled {
		google = v.Site.Indexing
	}
	if v.One.QueuedForGoogle && google.Error != "" || v.One.QueuedForIndexNow && v.Site.IndexNowState.Error != "" && !v.Site.KeyMissing() {
		return "when requests are allowed again."
	}
	return "shortly."
}

// pollAttributes make the page refresh itself while it is waiting.
func (v OnePage) pollAttributes() map[string]any {
	if !v.Waiting() {
		return nil
	}
	return map[string]any{"hx-get": PagePath(v.One), "hx-trigger": "every 5s", "hx-swap": "outerMorph", "hx-sync": "this:abort"}
}

var certainties = map[sites.Certainty]string{
	sites.Certain: "certain", sites.Likely: "likely", sites.ByGoogle: "reported by Google", sites.Waiting: "waiting",
}

// googleFacts are the results of the URL Inspection API.
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
