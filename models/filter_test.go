package models_test

import (
	"strings"
	"testing"

	"linkwatch/models"
)

func TestCheckFilter(t *testing.T) {
	for text, ok := range map[string]bool{
		"": true, strings.Repeat("a", 512): true, strings.Repeat("a", 513): false,
		strings.Repeat("ü", 256): true, strings.Repeat("ü", 257): false, // bytes
	} {
		err := models.CheckFilter("query.q", text)
		if (err == nil) != ok || !ok && models.CodeOf(err) != models.CodeInvalid {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
}
