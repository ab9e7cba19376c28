package shortlinks

import (
	"time"

	"linkwatch/models/shortlinks"
)

// shortenedBy is at the foot of the pages that visitors of a short link see.
const shortenedBy = "Shortened by Linkwatch"

// Preview is the page that shows a visitor the destination of a short link.
type Preview struct {
	shortlinks.Entry
	Path string // of the short link
	Now  time.Time
}
