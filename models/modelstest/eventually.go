package modelstest

import (
	"testing"
	"time"
)

// Patience is how long Eventually waits. When all is well nothing takes that
// long, even on a busy machine.
const Patience = 30 * time.Second

// Eventually waits until is returns true. It fails the test, with what it waited
// for ("the link is deleted"), when that takes longer than Patience.
func Eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	EventuallyWithin(t, Patience, what, is)
}

// EventuallyWithin is Eventually with another limit.
func EventuallyWithin(t testing.TB, limit time.Duration, what string, is func() bool) {
	t.Helper()
	if !within(limit, is) {
		t.Fatalf("timed out waiting until %s", what)
	}
}

// within reports whether is returned true in time. It asks once more when the time
// is over, so that a machine that stood still fails no test.
func within(limit time.Duration, is func() bool) bool {
	const longest = 20 * time.Millisecond
	end := time.Now().Add(limit)
	for pause := time.Millisecond; ; pause = min(2*pause, longest) {
		late := time.Now().After(end)
		if is() {
			return true
		}
		if late {
			return false
		}
		time.Sleep(pause) // only spares the processor: the condition decides
	}
}
