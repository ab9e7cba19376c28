package views

import (
	"slices"

	"linkwatch/models/links"
	"linkwatch/models/schedule"
	"linkwatch/models/shortlinks"
	"linkwatch/models/targets"
	"linkwatch/views/ui"
)

// Overview is the first page: what needs attention, and what is new.
type Overview struct {
	ui.Page
	Counts          links.Counts
	Links           links.Attention
	Recent, Popular []links.Link
	Jobs            []schedule.Job
	BaseURL         string

	Targets           targets.Counts
	Down              []targets.Target // newest first
	Expired, Expiring Certificates

	Short []shortlinks.ShortLink // the newest
}

// Certificates are targets whose certificates need attention.
type Certificates struct {
	Count int
	First []targets.Target // the certificate that ends first at the front
}

// Empty says whether nothing was ever saved, nothing is watched and nothing is shortened.
func (v Overview) Empty() bool {
	return v.Counts.Active+v.Counts.Expired+v.Targets.All()+len(v.Short) == 0
}

// viewed says whether any link was ever viewed: until then the popular ones
// are but the recent ones again.
func (v Overview) viewed() bool { return len(v.Popular) > 0 && v.Popular[0].ViewCount > 0 }

// failing are the jobs whose last run failed.
func (v Overview) failing() []schedule.Job {
	var jobs []schedule.Job
	for _, j := range v.Jobs {
		if j.LastError != "" {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// upcoming are the jobs in the order of their next runs.
func (v Overview) upcoming() []schedule.Job {
	return slices.SortedFunc(slices.Values(v.Jobs), func(a, b schedule.Job) int {
		return a.NextRunAt.Compare(b.NextRunAt.Time)
	})
}

// curlExample is how a shell saves a link.
func curlExample(base string) string {
	return "curl " + base + "/v1/links \\\n  --json '{\"url\": \"https://example.com\", \"tags\": [\"demo\"]}'"
}
