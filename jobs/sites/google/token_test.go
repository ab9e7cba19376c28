package google_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"strings"
	"sync"
	"testing"

	"linkwatch/jobs/sites/engine"
	"linkwatch/jobs/sites/google"
	"linkwatch/jobs/sites/standin"
)

func TestAuthorize(t *testing.T) {
	c, s := newClient(t)
	for range 3 {
		if err := c.Authorize(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Publish(t.Context(), page, false); err != nil {
		t.Fatal(err)
	}
	if n := s.Count(standin.Token); n != 1 {
		t.Errorf("%d token requests", n)
	}
}

// A token that expires soon is replaced by Authorize, not during a call.
func TestExpiringToken(t *testing.T) {
	c, s := newClient(t)
	s.TokenLifetime(60)
	for n := range 2 {
		if err := c.Authorize(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := c.Publish(t.Context(), page, false); err != nil {
			t.Fatal(err)
		}
		if got := s.Count(standin.Token); got != n+1 {
			t.Errorf("%d token requests after %d", got, n+1)
		}
	}
	if err := c.Publish(t.Context(), page, false); err != nil || s.Count(standin.Token) != 2 {
		t.Errorf("%v, %d token requests", err, s.Count(standin.Token))
	}
}

// A token that Google refused is not used again.
func TestRevokedToken(t *testing.T) {
	c, s := newClient(t)
	if err := c.Authorize(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.RevokeTokens()
	if e := failure(t, s, c.Publish(t.Context(), page, false)); e.Kind != engine.Credentials || e.Status != 401 {
		t.Errorf("%+v", e)
	}
	if err := c.Publish(t.Context(), page, false); err != nil || s.Count(standin.Token) != 2 {
		t.Errorf("%v, %d token requests", err, s.Count(standin.Token))
	}
}

// Concurrent callers share a token request and its error. A caller that leaves does not cancel it for the others.
func TestSharedExchange(t *testing.T) {
	c, s := newClient(t)
	for _, fail := range []bool{true, false} {
		release := make(chan struct{})
		fault := standin.Slow(release)
		if fail {
			fault = standin.After(release, standin.TokenError(400, "invalid_grant", "Invalid JWT Signature."))
		}
		s.Fail(standin.Token, fault)
		before := s.Count(standin.Token)
		first, leave := context.WithCancel(t.Context())
		left := make(chan error)
		go func() { left <- c.Authorize(first) }()
		s.Await(t, standin.Token, before+1)
		var all sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			all.Go(func() { errs[i] = c.Authorize(t.Context()) })
		}
		google.AwaitWaiting(t, c, len(errs)+1)
		leave()
		if e := failure(t, s, <-left); e.Kind != engine.Canceled || !errors.Is(e, context.Canceled) {
			t.Errorf("canceled caller: %+v", e)
		}
		close(release)
		all.Wait()
		for _, err := range errs {
			if (err != nil) != fail {
				t.Errorf("fail %t: %v", fail, err)
			}
		}
		if n := s.Count(standin.Token) - before; n != 1 {
			t.Errorf("fail %t: %d token requests", fail, n)
		}
	}
}

// A token request without waiting callers is canceled. The next caller starts a new one.
func TestAbandonedExchange(t *testing.T) {
	c, s := newClient(t)
	s.Fail(standin.Token, standin.Slow(nil))
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() { left <- c.Publish(ctx, page, false) }()
	s.Await(t, standin.Token, 1)
	cancel()
	if e := failure(t, s, <-left); e.Kind != engine.Canceled || e.Lost() {
		t.Errorf("%+v", e)
	}
	if err := c.Authorize(t.Context()); err != nil || s.Count(standin.Token) != 2 || s.Count(standin.Publish) != 0 {
		t.Errorf("%v, %d token requests", err, s.Count(standin.Token))
	}
}

func TestTokenFailures(t *testing.T) {
	refused := standin.TokenError
	for name, f := range map[string]struct {
		fault standin.Fault
		kind  engine.Kind
		text  string
	}{
		"key deleted":      {refused(400, "invalid_grant", "Invalid JWT Signature."), engine.Credentials, "deleted or replaced"},
		"clock":            {refused(400, "invalid_grant", "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim."), engine.Credentials, "clock"},
		"account deleted":  {refused(400, "invalid_grant", "Invalid grant: account not found"), engine.Credentials, "does not exist any more"},
		"account disabled": {refused(401, "disabled_client", "The OAuth client was disabled."), engine.Credentials, "is disabled"},
		"other grant":      {refused(400, "invalid_grant", ""), engine.Credentials, "clock of this server"},
		"client":           {refused(401, "unauthorized_client", "Client is unauthorized to retrieve access tokens using this method."), engine.Credentials, "Client is unauthorized"},
		"echo":             {refused(400, "invalid_scope", "your assertion eyJhbGciOiJSUzI1NiJ9.x.y"), engine.Credentials, "refused the service account."},
		"429":              {standin.Answer(429, "", "Retry-After", "9"), engine.RateLimited, "too many requests"},
		"500":              {standin.Answer(500, "oops"), engine.Unavailable, "status 500"},
		"404 page":         {standin.Answer(404, "<html>"), engine.Protocol, "invalid response"},
		"garbage":          {standin.Garbage(), engine.Protocol, "invalid response"},
		"no token":         {standin.Answer(200, "{}"), engine.Protocol, "invalid response"},
		"bad token":        {standin.Answer(200, `{"access_token":"a\nb"}`), engine.Protocol, "invalid response"},
		"lost":             {standin.Lost(), engine.Unavailable, "did not respond"},
		"cut":              {standin.Cut(), engine.Unavailable, "did not respond"},
		"redirect":         {standin.Answer(302, "", "Location", "/token2"), engine.Protocol, "invalid response"},
	} {
		t.Run(name, func(t *testing.T) {
			c, s := newClient(t)
			s.Fail(standin.Token, f.fault)
			e := failure(t, s, c.Authorize(t.Context()))
			if e.Kind != f.kind || e.Lost() || !e.Sitewide() || !strings.Contains(e.Text+" "+e.Fix, f.text) {
				t.Errorf("%+v", e)
			}
			if s.Count(standin.Token) != 1 {
				t.Errorf("%d token requests", s.Count(standin.Token))
			}
			if err := c.Authorize(t.Context()); err != nil {
				t.Errorf("next call: %v", err)
			}
		})
	}
	t.Run("unreachable", func(t *testing.T) {
		c, s := newClient(t)
		s.Close()
		if e := failure(t, s, c.Authorize(t.Context())); e.Kind != engine.Unavailable || !strings.Contains(e.Text, "could not be reached") {
			t.Errorf("%+v", e)
		}
	})
	t.Run("slow", func(t *testing.T) {
		c, s := newClient(t, func(o *google.Options) { o.Timeout = brief })
		s.Fail(standin.Token, standin.Slow(nil), standin.Slow(nil))
		if e := failure(t, s, c.Authorize(t.Context())); e.Kind != engine.Unavailable {
			t.Errorf("%+v", e)
		}
	})
}

// Keys and accounts that Google does not know.
func TestWrongAccount(t *testing.T) {
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	key := string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(other)}))
	s := standin.New(t)
	c := clientOf(t, s, standin.CredentialsWith(standin.ClientEmail, key))
	if e := failure(t, s, c.Authorize(t.Context())); e.Kind != engine.Credentials || !strings.Contains(e.Text, "does not exist any more") {
		t.Errorf("%+v", e)
	}
}
