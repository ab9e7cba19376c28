package shortlinks

import (
	"time"

	"linkwatch/models/shortlinks"
)

// shortenedBy is the footer of pages for visitors.
const shortenedBy = "Shortened by Linkwatch"

// Preview is the page of a short link with ?preview=1.
type Preview struct {
	shortlinks.Entry
	Path string // URL path of the short link
	Now  time.Time
}
