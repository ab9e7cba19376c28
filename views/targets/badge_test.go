package targets

import "testing"

func TestTextWidth(t *testing.T) {
	for text, want := range map[string]int{"": 0, "up": 14, "uptime 30d": 64, "99.95%": 44, "W": 11, "日本": 22, "e\u0301": 7} {
		if got := textWidth(text); got != want {
			t.Errorf("%q is %d wide, want %d", text, got, want)
		}
	}
}
