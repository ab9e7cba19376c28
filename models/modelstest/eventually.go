package modelstest

import (
	"testing"
	"time"
)

// Eventually waits until condition returns true. After a minute it fails the test with
// what, a description of the condition ("the link is deleted").
func Eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	if !Within(time.Minute, condition) {
		t.Fatalf("timed out waiting until %s", what)
	}
}

// Within reports whether condition returned true before the limit. It calls condition once
// more after the limit, in case the machine was suspended. Unlike Eventually, it may be
// called from any goroutine.
func Within(limit time.Duration, condition func() bool) bool {
	const maxPause = 20 * time.Millisecond
	end := time.Now().Add(limit)
	for pause := time.Millisecond; ; pause = min(2*pause, maxPause) {
		late := time.Now().After(end)
		if condition() {
			return true
		}
		if late {
			return false
		}
		time.Sleep(pause)
	}
}
