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

// world is a stand-in, a Provider for it, and their clock.
type world struct {
	*standin.Server
	*Provider
	t   *testing.T
	log *output

	mu  sync.Mutex
	now time.Time
}

// start makes a world. change may change both before they are used; nil changes nothing.
func start(t *testing.T, change func(*standin.Server, *Options)) *world {
	t.Helper()
	s := standin.New()
	t.Cleanup(s.Close)
	w := &world{Server: s, t: t, log: &output{}, now: time.Now()}
	s.Clock = w.clock
	o := Options{
		Issuer: w.URL, ClientID: standin.ClientID, ClientSecret: standin.ClientSecret, Scopes: []string{"profile", "openid", "email"}, RoleClaim: "groups",
		AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Clock: w.clock,
		Log: slog.New(slog.NewTextHandler(w.log, nil)), UserAgent: "Linkwatch/test",
	}
	if change != nil {
		change(s, &o)
	}
	w.Provider = New(o)
	t.Cleanup(w.Provider.Close)
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) wait(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// signIn is a whole sign-in.
func (w *world) signIn() (Identity, error) {
	ctx := w.t.Context()
	l, err := w.Begin(ctx, redirectURL)
	if err != nil {
		return Identity{}, err
	}
	code, err := w.comeBack(ctx, l)
	if err != nil {
		return Identity{}, err
	}
	return w.Finish(ctx, l, code, redirectURL)
}

// comeBack is the way of the browser.
func (w *world) comeBack(ctx context.Context, l Login) (code string, err error) {
	w.t.Helper()
	back, err := w.SignIn(ctx, l.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	if got := back.Scheme + "://" + back.Host + back.Path; got != redirectURL {
		w.t.Errorf("the provider sends the browser to %s", got)
	}
	return w.Callback(ctx, l, back.Query())
}

// fails checks that err is of this kind, and that it shows nothing of the provider.
func (w *world) fails(what any, err error, kind Kind) {
	w.t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Kind != kind {
		w.t.Errorf("%v: got %v (%v), want %s", what, err, errors.Unwrap(err), kind)
		return
	}
	if text := e.Error(); text == "" || text != texts[kind] || strings.Contains(text, "<b>") {
		w.t.Errorf("%v: the text is %q", what, text)
	}
	if e.Unwrap() == nil {
		w.t.Errorf("%v: no cause", what)
	}
}

func (w *world) counts(part string, want int) {
	w.t.Helper()
	if got := w.Count(part); got != want {
		w.t.Errorf("%d requests for %s, want %d", got, part, want)
	}
}

// output is a log that can be written and read at a time.
type output struct {
	mu sync.Mutex
	bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.Buffer.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.Buffer.String()
}
