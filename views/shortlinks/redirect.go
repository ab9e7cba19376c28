package shortlinks

import (
	"time"

	"linkwatch/models/shortlinks"
)

// shortenedBy says what Linkwatch has to do with a page that visitors of a short
// link see.
const shortenedBy = "Shortened by Linkwatch"

// ShortPreview is where a short link leads, for somebody who looks before going there.
type ShortPreview struct {
	shortlinks.Entry
	Path string // of the short link
	Now  time.Time
}
