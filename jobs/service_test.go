package jobs_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"linkwatch/jobs"
)

func over() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestStopBeforeStartAndTwice(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	b := jobs.NewBackground(func(context.Context, context.Context) { t.Error("it ran") })
	b.Stop(t.Context())
	b.Stop(over())
	b.Start()
	b.Stop(t.Context())
}

func TestStopWaitsForTheWork(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	started, finish, done := make(chan struct{}), make(chan struct{}), false
	b := jobs.NewBackground(func(taking, working context.Context) {
		close(started) // a second start would panic
		<-taking.Done()
		<-finish
		if working.Err() != nil {
			t.Error("the work was given up")
		}
		done = true
	})
	b.Start()
	b.Start()
	<-started
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		b.Stop(context.Background())
	}()
	close(finish)
	<-stopped
	if !done {
		t.Error("Stop returned before the work was done")
	}
	b.Stop(over())
}

func TestStopGivesUpWhenItsTimeIsOver(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	b := jobs.NewBackground(func(_, working context.Context) { <-working.Done() })
	b.Start()
	b.Stop(over())
}

func TestServicesStopTogether(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	firstStops := make(chan struct{})
	all := jobs.Services{
		jobs.NewBackground(func(taking, _ context.Context) {
			<-taking.Done()
			close(firstStops)
		}),
		jobs.NewBackground(func(taking, _ context.Context) {
			<-taking.Done()
			<-firstStops
		}),
		jobs.NewBackground(func(taking, _ context.Context) { <-firstStops; <-taking.Done() }),
	}
	all.Start()
	all.Stop(context.Background()) // in any order of its own it would hang
	all.Stop(context.Background())
}
