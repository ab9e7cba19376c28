package modelstest

import (
	"testing"
	"time"
)

// Eventually waits until is returns true. After a minute it fails the test, with
// what it waited for ("the link is deleted"). When all is well nothing takes that
// long, even on a busy machine.
func Eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	if !Within(time.Minute, is) {
		t.Fatalf("timed out waiting until %s", what)
	}
}

// Within reports whether is returned true within a time. It asks once more when
// the time is over, so that a machine that stood still fails no test. It is for
// any goroutine, and for callers that have more to say than Eventually.
func Within(limit time.Duration, is func() bool) bool {
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
