package apptest

import (
	"time"

	"linkwatch/models/shortlinks"
)

// Shorten adds a short link and advances the clock by a minute. change may set options.
func (a *App) Shorten(longURL, key string, change ...func(*shortlinks.New)) shortlinks.ShortLink {
	a.Helper()
	n := shortlinks.New{LongURL: longURL, Key: key}
	for _, set := range change {
		set(&n)
	}
	l, created, err := a.ShortLinks.Add(a.Context(), n)
	if err != nil || !created {
		a.Fatal(created, err)
	}
	a.Clock.Advance(time.Minute)
	return l
}
