package ui

import "testing"

func TestNiceTop(t *testing.T) {
	for n, want := range map[int]int{0: 10, 9: 10, 10: 10, 11: 12, 84: 100, 101: 120, 139: 160, 700: 800, 5000: 5000, 60_001: 80_000} {
		if got := NiceTop(n); got != want {
			t.Errorf("NiceTop(%d) = %d, want %d", n, got, want)
		}
	}
}
