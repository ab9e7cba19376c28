package oidc

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"linkwatch/outbound/oidc/standin"
)

// A failed discovery is cached for retryAfter. A new Provider makes no request.
func TestDiscoveryIsRetried(t *testing.T) {
	w := start(t, nil)
	w.wantRequests("discovery", 0)
	w.SetFaults(standin.Fail("discovery"))
	for range 3 {
		_, err := w.Begin(t.Context(), redirectURL)
		w.wantKind("down", err, KindUnavailable)
	}
	w.wantRequests("discovery", 1)
	w.advance(retryAfter - time.Millisecond)
	_, err := w.Begin(t.Context(), redirectURL)
	w.wantKind("down", err, KindUnavailable)
	w.wantRequests("discovery", 1)
	w.advance(time.Millisecond)
	w.SetFaults()
	if _, err := w.signIn(); err != nil {
		t.Error(err)
	}
	w.wantRequests("discovery", 2)
	w.advance(maxAge)
	if _, err := w.signIn(); err != nil {
		t.Error(err)
	}
	w.wantRequests("discovery", 3)
	w.wantRequests("keys", 2)
}

// Concurrent callers share one request. A caller that stops waiting does not cancel it.
func TestConcurrentDiscovery(t *testing.T) {
	w := start(t, nil)
	w.SetFaults(standin.Hang("discovery"))
	ctx, cancel := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	for range 20 {
		callers.Go(func() {
			_, err := w.Begin(ctx, redirectURL)
			w.wantKind("canceled", err, KindUnavailable)
		})
	}
	<-w.Hanging()
	cancel()
	callers.Wait()
	w.wantRequests("discovery", 1)
	// Close cancels the request.
	ended := make(chan error)
	go func() {
		_, err := w.Begin(context.WithoutCancel(ctx), redirectURL)
		ended <- err
	}()
	w.Provider.Close()
	w.wantKind("closed", <-ended, KindUnavailable)
	w.Provider.Close()
}

// During a retry after a failure, only the caller that started it waits.
func TestRetryBlocksOneCaller(t *testing.T) {
	w := start(t, nil)
	w.SetFaults(standin.Fail("discovery"))
	_, down := w.Begin(t.Context(), redirectURL)
	w.wantKind("down", down, KindUnavailable)
	w.SetFaults(standin.Hang("discovery"))
	w.advance(retryAfter)
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, err := w.Begin(ctx, redirectURL)
		first <- err
	}()
	<-w.Hanging()
	for range 3 {
		if _, err := w.Begin(t.Context(), redirectURL); !errors.Is(err, down) {
			t.Errorf("got %v, want the cached error", errors.Unwrap(err))
		}
	}
	cancel()
	w.wantKind("canceled", <-first, KindUnavailable)
	w.wantRequests("discovery", 2)
}

// Keys are fetched again for a token with an unknown key ID, at most once per retryAfter. A removed key is rejected.
func TestKeyRotation(t *testing.T) {
	w := start(t, func(s *standin.Server, _ *Options) { s.Algorithm = "ES256" })
	if _, err := w.signIn(); err != nil {
		t.Error(err)
	}
	w.advance(retryAfter)
	w.Rotate()
	for range 2 {
		if _, err := w.signIn(); err != nil {
			t.Error(err)
		}
	}
	w.wantRequests("keys", 2)
	w.SetFaults(standin.UnknownKey)
	for range 3 {
		_, err := w.signIn()
		w.wantKind("unknown key", err, KindRejected)
	}
	w.wantRequests("keys", 2)
	w.advance(retryAfter)
	for range 3 {
		_, err := w.signIn()
		w.wantKind("unknown key", err, KindRejected)
	}
	w.wantRequests("keys", 3)
	w.advance(retryAfter)
	w.SetFaults(standin.UnknownKey, standin.Fail("keys"))
	_, err := w.signIn()
	w.wantKind("unknown key, and keys unavailable", err, KindUnavailable)
	w.wantRequests("keys", 4)
}
