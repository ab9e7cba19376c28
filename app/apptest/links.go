package apptest

import (
	"time"

	"linkwatch/models"
	"linkwatch/models/links"
)

// Save saves a link and advances the clock by a minute.
func (a *App) Save(u string, tags ...string) links.Link {
	a.Helper()
	l, _, err := a.Links.Add(a.Context(), links.New{URL: u, Tags: tags})
	if err != nil {
		a.Fatal(err)
	}
	a.Clock.Advance(time.Minute)
	return l
}

// TagID returns the id of a tag, or "" if there is none.
func (a *App) TagID(name string) string {
	a.Helper()
	tags, err := a.Links.Tags(a.Context(), name, links.TagsByName, models.Page{Number: 1, Size: 100})
	if err != nil {
		a.Fatal(err)
	}
	for _, tag := range tags.Items {
		if tag.Name == name {
			return tag.ID
		}
	}
	return ""
}
