package modelstest

import (
	"fmt"
	"testing"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/event"
)

// AddEvents stores events.
func AddEvents(t testing.TB, db *models.DB, events ...event.Event) {
	t.Helper()
	if err := db.Write(t.Context(), func(tx *gorm.DB) error { return event.Add(tx, events...) }); err != nil {
		t.Fatal(err)
	}
}

// Events removes and returns all stored events as texts: "target.down began Shop: unexpected status 500 (3)". The number
// counts failures and is missing if it is 0.
func Events(t testing.TB, db *models.DB) (texts []string) {
	t.Helper()
	err := db.Write(t.Context(), func(tx *gorm.DB) error {
		texts = nil
		all, err := event.Oldest(tx, 10_000)
		for _, e := range all {
			text := fmt.Sprintf("%s %s %s", e.Kind, e.Phase, e.Name)
			if e.Detail != "" {
				text += ": " + e.Detail
			}
			if e.Failures > 0 {
				text += fmt.Sprintf(" (%d)", e.Failures)
			}
			texts = append(texts, text)
		}
		if err != nil {
			return err
		}
		return event.Remove(tx, all)
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}
