package jobs

import (
	"context"
	"errors"
	"testing"
)

func TestRetention(t *testing.T) {
	taking, stop := context.WithCancel(t.Context())
	var order string
	purge := func(name, summary string, err error) Purge {
		return func(context.Context, context.Context) (string, error) {
			order += name
			return summary, err
		}
	}
	broken := errors.New("broken")
	job := Retention(purge("a", "3 results", nil), purge("b", "", broken), purge("c", "1 target", nil))
	summary, err := job.Run(taking, t.Context())
	if order != "abc" || summary != "3 results, 1 target" || !errors.Is(err, broken) {
		t.Errorf("%s: %q, %v", order, summary, err)
	}
	order = ""
	job = Retention(purge("a", "", nil), func(context.Context, context.Context) (string, error) { stop(); return "", nil }, purge("c", "", nil))
	if summary, err = job.Run(taking, t.Context()); order != "a" || summary != "" || err != nil {
		t.Errorf("stopped in the middle: %s: %q, %v", order, summary, err)
	}
}
