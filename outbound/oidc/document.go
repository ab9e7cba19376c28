package oidc

import (
	"context"
	"sync"
	"time"
)

// document caches a document of the provider for maxAge. It makes one request at a time and at most one per retryAfter. So
// a provider that is down gets few requests and blocks few callers.
type document[T any] struct {
	p     *Provider
	fetch func(context.Context) (T, error)

	mu      sync.Mutex
	value   T
	err     error         // of the last attempt
	at      time.Time     // of the last attempt; zero = none
	running chan struct{} // closed when the current attempt ends; nil = none
}

func newDocument[T any](p *Provider, fetch func(context.Context) (T, error)) *document[T] {
	return &document[T]{p: p, fetch: fetch}
}

// get returns the document. If it is older than maxAge, or accept returns false for it, get fetches it again and waits until
// ctx ends. A nil accept accepts every document. If the last attempt failed or is more recent than retryAfter, get returns
// its result at once. The caller must therefore check the returned document.
func (d *document[T]) get(ctx context.Context, accept func(T) bool) (T, error) {
	for waited := false; ; waited = true {
		value, err, wait := d.state(accept, waited)
		if wait == nil {
			return value, err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return value, ctx.Err()
		}
	}
}

// state returns the document, or a channel to wait for if it must be fetched. If waited is true, it does not start another
// attempt.
func (d *document[T]) state(accept func(T) bool, waited bool) (value T, err error, wait chan struct{}) { //nolint:revive,staticcheck // err is part of the document
	d.mu.Lock()
	defer d.mu.Unlock()
	age, tried := d.p.opts.Clock().Sub(d.at), !d.at.IsZero()
	if tried && d.err == nil && age < maxAge && (accept == nil || accept(d.value)) {
		return d.value, nil, nil
	}
	if waited || tried && (age < retryAfter && age >= 0 || d.running != nil && d.err != nil) {
		return d.value, d.err, nil
	}
	if d.running == nil {
		d.running = make(chan struct{})
		d.p.work.Go(d.attempt)
	}
	return d.value, d.err, d.running
}

// attempt fetches the document for all waiting callers. Close of the Provider cancels it, but the end of a request does not.
func (d *document[T]) attempt() {
	value, err := d.fetch(d.p.ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err, d.at = err, d.p.opts.Clock()
	if err == nil {
		d.value = value
	}
	close(d.running)
	d.running = nil
}
