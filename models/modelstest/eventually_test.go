package modelstest

import (
	"testing"
	"time"
)

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit time.Duration
		on    int // number of the call that returns true
		want  bool
	}{
		{"first call", 0, 1, true},
		{"third call", time.Minute, 3, true},
		{"never", 10 * time.Millisecond, -1, false},
	} {
		calls := 0
		if got := Within(c.limit, func() bool { calls++; return calls == c.on }); got != c.want {
			t.Errorf("%s: got %v after %d calls, want %v", c.name, got, calls, c.want)
		}
	}
}

func TestWithin_ChecksAfterTheLimit(t *testing.T) {
	start, last := time.Now(), time.Time{}
	Within(20*time.Millisecond, func() bool { last = time.Now(); return false })
	if last.Sub(start) < 20*time.Millisecond {
		t.Errorf("last call after %s, want at least 20ms", last.Sub(start))
	}
}
