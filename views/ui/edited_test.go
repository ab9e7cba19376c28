package ui

import (
	"strings"
	"testing"
)

// Both sides of a difference say what differs: the values if they can be read, otherwise how many are on one side only.
func TestDifferences(t *testing.T) {
	stored := Edited{}.Text("interval", "Interval", "0").Shown(func(v string) string { return v + " s" }).
		Multiple("events", "Events", []string{"down", "up"}).Shown(strings.ToUpper).
		Multiple("targets", "Targets", []string{"t_1", "t_2"}).Multiple("same", "Same", []string{"b", "a"})
	got := stored.Differences(map[string][]string{
		"interval": {"300"}, "events": {"down", "dead"}, "targets": {"t_1", "t_3"}, "same": {"a", "b"},
	})
	want := []Difference{
		{"Interval", "0 s", "300 s"}, {"Events", "DOWN, UP", "DOWN, DEAD"},
		{"Targets", "2 items selected, 1 only here", "2 items selected, 1 only here"},
	}
	if len(got) != len(want) {
		t.Fatalf("got %+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %+v, want %+v", got[i], want[i])
		}
	}
}
