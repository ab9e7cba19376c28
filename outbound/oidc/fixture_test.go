package oidc

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"linkwatch/outbound/oidc/standin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const redirectURL = "https://links.example/login/oidc/callback"

// fixture is a stand-in server and a Provider for it, with a shared clock.
type fixture struct {
	*standin.Server
	*Provider
	t   *testing.T
	log *logBuffer

	mu  sync.Mutex
	now time.Time
}

// start returns a fixture. configure may change the server and the options first; nil = no change.
func start(t *testing.T, configure func(*standin.Server, *Options)) *fixture {
	t.Helper()
	s := standin.New()
	t.Cleanup(s.Close)
	w := &fixture{Server: s, t: t, log: &logBuffer{}, now: time.Now()}
	s.Clock = w.clock
	o := Options{
		Issuer: w.URL, ClientID: standin.ClientID, ClientSecret: standin.ClientSecret, Scopes: []string{"profile", "openid", "email"}, RoleClaim: "groups",
		AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Clock: w.clock,
		Log: slog.New(slog.NewTextHandler(w.log, nil)), UserAgent: "Linkwatch/test",
	}
	if configure != nil {
		configure(s, &o)
	}
	w.Provider = New(o)
	t.Cleanup(w.Provider.Close)
	return w
}

func (w *fixture) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *fixture) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// signIn makes a complete sign-in.
func (w *fixture) signIn() (Identity, error) {
	ctx := w.t.Context()
	l, err := w.Begin(ctx, redirectURL)
	if err != nil {
		return Identity{}, err
	}
	code, err := w.followLogin(ctx, l)
	if err != nil {
		return Identity{}, err
	}
	id, _, err := w.Finish(ctx, l, code, redirectURL)
	return id, err
}

// followLogin does what the browser does between Begin and Finish, and returns the code.
func (w *fixture) followLogin(ctx context.Context, l Login) (code string, err error) {
	w.t.Helper()
	back, err := w.SignIn(ctx, l.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	if got := back.Scheme + "://" + back.Host + back.Path; got != redirectURL {
		w.t.Errorf("the provider redirects to %s, want %s", got, redirectURL)
	}
	return w.Callback(ctx, l, back.Query())
}

// wantKind checks that err is an *Error of a kind with a cause, and that its message has no text from the provider.
func (w *fixture) wantKind(what any, err error, kind Kind) {
	w.t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Kind != kind {
		w.t.Errorf("%v: got %v (%v), want %s", what, err, errors.Unwrap(err), kind)
		return
	}
	if text := e.Error(); text == "" || text != texts[kind] || strings.Contains(text, "<b>") {
		w.t.Errorf("%v: got message %q, want %q", what, text, texts[kind])
	}
	if e.Unwrap() == nil {
		w.t.Errorf("%v: the error has no cause", what)
	}
}

func (w *fixture) wantRequests(endpoint string, want int) {
	w.t.Helper()
	if got := w.Count(endpoint); got != want {
		w.t.Errorf("got %d requests for %s, want %d", got, endpoint, want)
	}
}

// logBuffer is a buffer that is safe for concurrent use.
type logBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}
