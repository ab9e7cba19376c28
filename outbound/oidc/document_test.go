package oidc

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"linkwatch/outbound/oidc/standin"
)

// The program starts while the provider is down. A failure is remembered for some seconds, then the provider is asked again.
func TestDiscoveryIsRetried(t *testing.T) {
	w := start(t, nil)
	w.counts("discovery", 0)
	w.Break(standin.Fail("discovery"))
	for range 3 {
		_, err := w.Begin(t.Context(), redirectURL)
		w.fails("down", err, KindUnavailable)
	}
	w.counts("discovery", 1)
	w.wait(retryAfter - time.Millisecond)
	_, err := w.Begin(t.Context(), redirectURL)
	w.fails("down", err, KindUnavailable)
	w.counts("discovery", 1)
	w.wait(time.Millisecond)
	w.Break()
	if _, err := w.signIn(); err != nil {
		t.Error(err)
	}
	w.counts("discovery", 2)
	w.wait(maxAge)
	if _, err := w.signIn(); err != nil {
		t.Error(err)
	}
	w.counts("discovery", 3)
	w.counts("keys", 2)
}

// One request fetches a document for all. A caller that stops waiting does not end it for the others.
func TestOneDiscoveryAtATime(t *testing.T) {
	w := start(t, nil)
	w.Break(standin.Hang("discovery"))
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			_, err := w.Begin(ctx, redirectURL)
			w.fails("canceled", err, KindUnavailable)
		})
	}
	<-w.Hanging()
	cancel()
	all.Wait()
	w.counts("discovery", 1)
	// Close ends the request itself.
	ended := make(chan error)
	go func() {
		_, err := w.Begin(context.WithoutCancel(ctx), redirectURL)
		ended <- err
	}()
	w.Provider.Close()
	w.fails("closed", <-ended, KindUnavailable)
	w.Provider.Close()
}

// While a provider that was down is asked again, only the request that began it waits.
func TestARetryHoldsOneRequest(t *testing.T) {
	w := start(t, nil)
	w.Break(standin.Fail("discovery"))
	_, down := w.Begin(t.Context(), redirectURL)
	w.fails("down", down, KindUnavailable)
	w.Break(standin.Hang("discovery"))
	w.wait(retryAfter)
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, err := w.Begin(ctx, redirectURL)
		first <- err
	}()
	<-w.Hanging()
	for range 3 {
		if _, err := w.Begin(t.Context(), redirectURL); !errors.Is(err, down) {
			t.Errorf("another request waited: %v", errors.Unwrap(err))
		}
	}
	cancel()
	w.fails("canceled", <-first, KindUnavailable)
	w.counts("discovery", 2)
}

// A new key is fetched when a token names it, at most once in some seconds, and the old one is not accepted any more.
func TestKeyRotation(t *testing.T) {
	w := start(t, func(s *standin.Server, _ *Options) { s.Algorithm = "ES256" })
	if _, err := w.signIn(); err != nil {
		t.Error(err)
	}
	w.wait(retryAfter)
	w.Rotate()
	for range 2 {
		if _, err := w.signIn(); err != nil {
			t.Error(err)
		}
	}
	w.counts("keys", 2)
	w.Break(standin.UnknownKey)
	for range 3 {
		_, err := w.signIn()
		w.fails("unknown key", err, KindRejected)
	}
	w.counts("keys", 2)
	w.wait(retryAfter)
	for range 3 {
		_, err := w.signIn()
		w.fails("unknown key", err, KindRejected)
	}
	w.counts("keys", 3)
	w.wait(retryAfter)
	w.Break(standin.UnknownKey, standin.Fail("keys"))
	_, err := w.signIn()
	w.fails("unknown key, and no way to know more", err, KindUnavailable)
	w.counts("keys", 4)
}
