package shortlinks

import (
	"github.com/a-h/templ"

	"linkwatch/models/shortlinks"
	"linkwatch/views/ui"
)

// Overview is the part of the overview about short links.
type Overview struct {
	Newest []shortlinks.ShortLink
}

// Part returns the component to show.
func (v Overview) Part() ui.OverviewPart {
	p := ui.OverviewPart{Used: len(v.Newest) > 0, Hint: shortenHint()}
	if p.Used {
		p.Aside = []templ.Component{briefs(v.Newest)}
	}
	return p
}
