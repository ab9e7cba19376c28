package crawl

import (
	"linkwatch/models/crawl"
	"linkwatch/views/ui"
)

// Another is the page that asks what to do with a URL whose site has a source.
type Another struct {
	ui.Page
	Add    AddForm
	Source crawl.Source
	Jobs   []crawl.Job // that start at the URL, the newest first
}

// maxAnother is the number of existing jobs that the page shows.
const maxAnother = 10

func (v Another) shown() []crawl.Job { return v.Jobs[:min(len(v.Jobs), maxAnother)] }

// jobsText says how many jobs start at the URL.
func (v Another) jobsText() string {
	text := ui.Plural(len(v.Jobs), "job") + " "
	if len(v.Jobs) == 1 {
		text += "starts at this URL."
	} else {
		text += "start at this URL."
	}
	if len(v.Jobs) > maxAnother {
		text += " These are the newest " + ui.Count(maxAnother) + "."
	}
	return text
}
