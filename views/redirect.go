package views

import (
	"time"

	"linkwatch/models/shortlinks"
)

// ShortPreview is where a short link leads, for somebody who looks before going there.
type ShortPreview struct {
	shortlinks.Entry
	Path string // of the short link
	Now  time.Time
}
