package modelstest

import (
	"strings"
	"testing"
)

func TestNoLeaks(t *testing.T) {
	end, ended := make(chan struct{}), make(chan struct{})
	others := make(chan struct{})
	defer close(others)
	go func() { <-others }() // started before NoLeaks, like a goroutine of another test
	NoLeaks(t)
	started := make(chan struct{})
	go func() {
		go func() { close(started); <-end; close(ended) }() // started by a goroutine of the test
	}()
	<-started
	if got := labeled(t, t.Name()); len(got) != 2 || !strings.Contains(strings.Join(got, ""), "TestNoLeaks.func") {
		t.Errorf("got %d stacks, want that of the test and one more:\n%s", len(got), strings.Join(got, "\n\n"))
	}
	close(end)
	<-ended
}
