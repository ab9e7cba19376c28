package shortlinks

import (
	"github.com/a-h/templ"

	"linkwatch/models/shortlinks"
	"linkwatch/views/ui"
)

// Overview is what the overview shows of short links.
type Overview struct {
	Newest []shortlinks.ShortLink
}

// Part is the short links' part of the overview.
func (v Overview) Part() ui.OverviewPart {
	p := ui.OverviewPart{Used: len(v.Newest) > 0, Hint: shortenHint()}
	if p.Used {
		p.Aside = []templ.Component{briefs(v.Newest)}
	}
	return p
}
