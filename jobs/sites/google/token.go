package google

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/jwt"

	"linkwatch/jobs/sites/engine"
)

// tokenMargin is how long before the expiry of an access token Authorize requests a new one.
const tokenMargin = 5 * time.Minute

// tokens provides the access tokens of a service account. Concurrent callers share one exchange and its error.
type tokens struct {
	client  *engine.Client
	account Credentials
	url     string
	timeout time.Duration

	mu      sync.Mutex
	token   *oauth2.Token // nil = none
	running *exchange     // nil = none
}

type exchange struct {
	cancel  context.CancelFunc
	waiting int           // callers; the last one that leaves cancels it
	done    chan struct{} // closed when token and err are set
	token   *oauth2.Token
	err     error
}

// get returns an access token that is valid for at least validFor.
func (t *tokens) get(ctx context.Context, validFor time.Duration) (string, error) {
	t.mu.Lock()
	if t.token != nil && (t.token.Expiry.IsZero() || time.Until(t.token.Expiry) > validFor) {
		defer t.mu.Unlock()
		return t.token.AccessToken, nil
	}
	x := t.running
	if x == nil {
		x = t.start(ctx)
	}
	x.waiting++
	t.mu.Unlock()
	select {
	case <-x.done:
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if x.waiting--; x.waiting == 0 {
		x.cancel()
		if t.running == x { // no caller uses its result
			t.running = nil
		}
	}
	select {
	case <-x.done:
		if x.err != nil {
			return "", x.err
		}
		return x.token.AccessToken, nil
	default:
		return "", tokenUnavailable(ctx, &engine.Attempt{}, ctx.Err())
	}
}

// start starts an exchange, which runs while callers wait for it. mu must be held.
func (t *tokens) start(ctx context.Context) *exchange {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.timeout)
	x := &exchange{cancel: cancel, done: make(chan struct{})}
	t.running = x
	go func() {
		token, err := t.exchange(ctx)
		t.mu.Lock()
		defer t.mu.Unlock()
		x.token, x.err = token, err
		close(x.done)
		if t.running == x {
			t.running = nil
			if err == nil {
				t.token = token
			}
		}
	}()
	return x
}

func (t *tokens) invalidate(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != nil && t.token.AccessToken == token {
		t.token = nil
	}
}

func (t *tokens) exchange(ctx context.Context) (*oauth2.Token, error) {
	ctx, attempt := engine.NewAttempt(ctx)
	client := *t.client.HTTP
	client.Transport = withContext{ctx, client.Transport} // the library does not pass it on
	config := &jwt.Config{
		Email: t.account.ClientEmail, PrivateKey: t.account.key, PrivateKeyID: t.account.PrivateKeyID,
		Scopes: []string{indexingScope, webmastersScope}, TokenURL: t.url,
	}
	token, err := config.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, &client)).Token()
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return nil, tokenRefused(ctx, attempt, refused)
	}
	if err != nil || !isPrintable(token.AccessToken) {
		return nil, tokenUnavailable(ctx, attempt, err)
	}
	return token, nil
}

// withContext is a transport that adds a context to requests.
type withContext struct {
	ctx  context.Context
	base http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t withContext) RoundTrip(r *http.Request) (*http.Response, error) {
	return t.base.RoundTrip(r.WithContext(t.ctx))
}
