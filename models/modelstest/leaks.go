package modelstest

import (
	"context"
	"fmt"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
)

// NoLeaks fails the test if a goroutine that the test starts after the call, directly or
// indirectly, still runs ten seconds after the test. Unlike goleak it works with parallel
// tests, because goroutines inherit the label of their test.
func NoLeaks(t testing.TB) {
	t.Helper()
	_, _ = openServer() // this pool outlives the test, so it must not get its label
	name := t.Name()
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("test", name)))
	t.Cleanup(func() {
		pprof.SetGoroutineLabels(context.Background()) // do not count the goroutine of the test
		var left []string
		if !Within(10*time.Second, func() bool { left = labeled(t, name); return len(left) == 0 }) {
			t.Errorf("leaked goroutines:\n\n%s", strings.Join(left, "\n\n"))
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
			!strings.Contains(stack, "database/sql.(*DB).connectionCleaner") { // ends when the store is closed, later
			stacks = append(stacks, stack)
		}
	}
	return stacks
}
