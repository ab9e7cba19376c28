package pages_test

import (
	"testing"

	"linkwatch/handlers/pages"
)

// Form fields take numbers as pages show them, with thousands separators.
func TestNumber(t *testing.T) {
	for typed, want := range map[string]int{
		"": 0, " 7 ": 7, "1000": 1000, "1,000": 1000, "12,345,678": 12345678, "-5": -5,
		"1,00": -1, "1,0000": -1, ",100": -1, "1,000,": -1, "1.000": -1, "1 000": -1, "ten": -1,
	} {
		if got := pages.Number(typed); got != want {
			t.Errorf("Number(%q) = %d, want %d", typed, got, want)
		}
	}
}
