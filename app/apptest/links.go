package apptest

import (
	"linkwatch/models"
	"linkwatch/models/links"
)

// TagID is the id of a tag, "" if there is none.
func (s *Site) TagID(name string) string {
	s.Helper()
	tags, err := s.Links.Tags(s.Context(), name, links.TagsByName, models.Page{Number: 1, Size: 100})
	if err != nil {
		s.Fatal(err)
	}
	for _, tag := range tags.Items {
		if tag.Name == name {
			return tag.ID
		}
	}
	return ""
}
