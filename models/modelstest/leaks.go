package modelstest

import (
	"context"
	"fmt"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
)

// NoLeaks fails the test if a goroutine that it has started from now on, or that
// was started by such a one, is still running ten seconds after its end. Unlike
// goleak it tells apart the goroutines of tests that run at the same time: each
// inherits the label of the test.
func NoLeaks(t testing.TB) {
	t.Helper()
	name := t.Name()
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("test", name)))
	t.Cleanup(func() {
		pprof.SetGoroutineLabels(context.Background()) // the test's own goroutine is not counted
		var left []string
		if !Within(10*time.Second, func() bool { left = labeled(t, name); return len(left) == 0 }) {
			t.Errorf("goroutines are left:\n\n%s", strings.Join(left, "\n\n"))
		}
	})
}

// labeled returns the stacks of the goroutines with the label of a test.
func labeled(t testing.TB, name string) (stacks []string) {
	t.Helper()
	var all strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
		t.Fatal(err)
	}
	for stack := range strings.SplitSeq(all.String(), "\n\n") {
		if strings.Contains(stack, fmt.Sprintf(`"test":%q`, name)) &&
			!strings.Contains(stack, "database/sql.(*DB).connectionCleaner") { // ends when the store is closed, after this
			stacks = append(stacks, stack)
		}
	}
	return stacks
}
