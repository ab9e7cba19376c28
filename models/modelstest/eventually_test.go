package modelstest

import (
	"testing"
	"time"
)

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit time.Duration
		on    int // the call that returns true
		want  bool
	}{
		{"at once", 0, 1, true},
		{"after a while", time.Minute, 3, true},
		{"never", 10 * time.Millisecond, -1, false},
	} {
		calls := 0
		if got := Within(c.limit, func() bool { calls++; return calls == c.on }); got != c.want {
			t.Errorf("%s: %v after %d calls", c.name, got, calls)
		}
	}
}

// A test that stood still until its time was over asks once more.
func TestWithin_AsksAfterTheLimit(t *testing.T) {
	begun, last := time.Now(), time.Time{}
	Within(20*time.Millisecond, func() bool { last = time.Now(); return false })
	if last.Sub(begun) < 20*time.Millisecond {
		t.Errorf("the last look was after %s", last.Sub(begun))
	}
}
