package oidc

import (
	"context"
	"sync"
	"time"
)

// document is something that the provider publishes, fetched when it is needed first and again after maxAge. It is fetched
// once at a time, and at most once in retryAfter, so that a provider that is down neither gets nor holds many requests.
type document[T any] struct {
	p     *Provider
	fetch func(context.Context) (T, error)

	mu      sync.Mutex
	value   T
	err     error         // of the last attempt
	at      time.Time     // of the last attempt; zero = there was none
	running chan struct{} // closed when the attempt under way ends; nil = there is none
}

func newDocument[T any](p *Provider, fetch func(context.Context) (T, error)) *document[T] {
	return &document[T]{p: p, fetch: fetch}
}

// get returns the document. If it is old, or enough (nil = any is) refuses it, it is fetched first: the caller waits for
// that as long as ctx lasts. If the last attempt failed, or was made within retryAfter, the caller gets what came of it at
// once. So a document that is returned may not be enough.
func (d *document[T]) get(ctx context.Context, enough func(T) bool) (T, error) {
	for waited := false; ; waited = true {
		value, err, wait := d.look(enough, waited)
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

// look returns the document as it is, or the attempt to wait for. last says that the caller has waited for one already.
func (d *document[T]) look(enough func(T) bool, last bool) (value T, err error, wait chan struct{}) { //nolint:revive,staticcheck // err is part of the document
	d.mu.Lock()
	defer d.mu.Unlock()
	age, tried := d.p.o.Clock().Sub(d.at), !d.at.IsZero()
	if tried && d.err == nil && age < maxAge && (enough == nil || enough(d.value)) {
		return d.value, nil, nil
	}
	if last || tried && (age < retryAfter && age >= 0 || d.running != nil && d.err != nil) {
		return d.value, d.err, nil
	}
	if d.running == nil {
		d.running = make(chan struct{})
		d.p.work.Go(d.attempt)
	}
	return d.value, d.err, d.running
}

// attempt fetches the document, for all who wait. It ends with the Provider, not with the request that needed it first.
func (d *document[T]) attempt() {
	value, err := d.fetch(d.p.ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err, d.at = err, d.p.o.Clock()
	if err == nil {
		d.value = value
	}
	close(d.running)
	d.running = nil
}
