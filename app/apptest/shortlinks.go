package apptest

import (
	"time"

	"linkwatch/models/shortlinks"
)

// Shorten adds a short link, a minute before the next. change may set its options.
func (s *Site) Shorten(longURL, key string, change ...func(*shortlinks.New)) shortlinks.ShortLink {
	s.Helper()
	n := shortlinks.New{LongURL: longURL, Key: key}
	for _, set := range change {
		set(&n)
	}
	l, created, err := s.ShortLinks.Add(s.Context(), n)
	if err != nil || !created {
		s.Fatal(created, err)
	}
	s.Clock.Advance(time.Minute)
	return l
}
