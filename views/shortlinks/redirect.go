package shortlinks

import (
	"time"

	"linkwatch/models/shortlinks"
)

// shortenedBy is the footer of pages for visitors.
const shortenedBy = "Shortened by Linkwatch"

// Withheld is the text for a request that is no visit, if the short link has a visit limit.
const Withheld = "This short link has a visit limit. Previews do not count as visits."

// Preview is the page of a short link with ?preview=1.
type Preview struct {
	shortlinks.Entry
	Path string // URL path of the short link
	Now  time.Time
}
