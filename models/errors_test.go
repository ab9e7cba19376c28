package models_test

import (
	"errors"
	"slices"
	"testing"

	"linkwatch/models"
)

func TestInvalidsJoinsMembers(t *testing.T) {
	if err := models.Invalids(nil, nil); err != nil {
		t.Errorf("of nothing: %v", err)
	}
	name, url := models.Invalid("name", "is too long"), models.Invalid("url", "is required")
	e, ok := errors.AsType[*models.Error](models.Invalids(nil, name, models.Invalids(url, models.Invalid("name", "is odd"))))
	fields := []models.FieldError{{"name", "is too long"}, {"url", "is required"}}
	if !ok || e.Code != models.CodeInvalid || e.Detail != "name: is too long; url: is required" || !slices.Equal(e.Fields, fields) {
		t.Errorf("joined: %+v", e)
	}
	if len(name.Fields) != 1 {
		t.Errorf("an error was changed: %v", name)
	}
	full := models.Conflict("There are 200 channels.")
	if err := models.Invalids(name, full); !errors.Is(err, full) {
		t.Errorf("with a conflict: %v", err)
	}
}
