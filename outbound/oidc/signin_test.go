package oidc

import (
	"cmp"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"linkwatch/outbound/oidc/standin"
)

// A sign-in works with each signature algorithm and each method of client authentication.
func TestSignIn(t *testing.T) {
	for name, change := range map[string]func(*standin.Server, *Options){
		"RS256":         nil,
		"PS256":         func(s *standin.Server, _ *Options) { s.Algorithm = "PS256" },
		"ES256":         func(s *standin.Server, _ *Options) { s.Algorithm = "ES256" },
		"EdDSA":         func(s *standin.Server, _ *Options) { s.Algorithm = "EdDSA" },
		"body":          func(s *standin.Server, _ *Options) { s.SecretInBody = true },
		"public client": func(s *standin.Server, o *Options) { s.Secret, o.ClientSecret = "", "" },
		"userinfo":      func(s *standin.Server, _ *Options) { s.UserInfoOnly = true },
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, change)
			w.SetUser(standin.User{Subject: "1", Username: "Ann", Email: "ann@example.com", Verified: true, Claims: map[string]any{"groups": []string{"staff", "ops"}}})
			w.SetFaults(standin.AccessHash, standin.ManyWithParty)
			want := Identity{Issuer: w.URL, Subject: "1", Username: "Ann", Email: "ann@example.com", EmailVerified: true, RoleValues: []string{"staff", "ops"}}
			for range 2 {
				if got, err := w.signIn(); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("got %+v, %v", got, err)
				}
			}
			w.wantRequests("discovery", 1)
			w.wantRequests("keys", 1)
			w.wantRequests("token", 2)
			w.wantRequests("cookies", 0)
			if want := map[bool]int{true: 2, false: 0}[name == "userinfo"]; w.Count("userinfo") != want {
				t.Errorf("got %d requests for userinfo, want %d", w.Count("userinfo"), want)
			}
			if got := w.log.String(); got != "" {
				t.Errorf("unexpected log: %s", got)
			}
		})
	}
}

// Each sign-in has new secrets, and the URL does not contain the verifier or the client secret.
func TestBegin(t *testing.T) {
	w := start(t, nil)
	seen := map[string]bool{}
	for range 3 {
		l, err := w.Begin(t.Context(), redirectURL)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{l.State, l.Nonce, l.Verifier} {
			if len(s) < 26 || seen[s] {
				t.Errorf("secret %q is short or repeated", s)
			}
			seen[s] = true
		}
		u, err := url.Parse(l.URL)
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		if strings.Contains(l.URL, l.Verifier) || strings.Contains(l.URL, url.QueryEscape(standin.ClientSecret)) || q.Get("scope") != "openid profile email" || q.Get("redirect_uri") != redirectURL {
			t.Errorf("unexpected URL %s", l.URL)
		}
	}
}

// Invalid ID tokens are rejected. The message says if signing in again does not help.
func TestInvalidTokens(t *testing.T) {
	w := start(t, nil)
	kinds := map[standin.Fault]Kind{
		standin.WrongIssuer: KindSettings, standin.WrongAudience: KindSettings,
		standin.Expired: KindClock, standin.IssuedInFuture: KindClock, standin.IssuedLongAgo: KindClock, standin.NotYetValid: KindClock,
	}
	w.SetUser(standin.User{Subject: "1", Email: "ann@example.com", Claims: map[string]any{"groups": "staff"}}) // complete, so no userinfo request
	for _, f := range []standin.Fault{
		standin.WrongIssuer, standin.WrongAudience, standin.ManyAudiences, standin.OtherParty, standin.WrongNonce, standin.NoNonce,
		standin.WrongKey, standin.UnknownKey, standin.BrokenSignature, standin.Expired, standin.NoExpiry, standin.IssuedInFuture, standin.IssuedLongAgo,
		standin.NoIssued, standin.NotYetValid, standin.NoSubject, standin.LongSubject, standin.AlgorithmNone, standin.ClientSecretHMAC, standin.PublicKeyHMAC,
		standin.BadAccessHash, standin.NoIDToken, standin.HugeIDToken,
	} {
		w.SetFaults(f)
		got, err := w.signIn()
		w.wantKind(f, err, cmp.Or(kinds[f], KindRejected))
		if !reflect.DeepEqual(got, Identity{}) {
			t.Errorf("%s: got identity %+v, want none", f, got)
		}
	}
	w.SetFaults()
	if _, err := w.signIn(); err != nil {
		t.Errorf("without faults: %v", err)
	}
}

// An ID token with a claim of a user that replaces a verified one is rejected.
func TestInexactClaims(t *testing.T) {
	w := start(t, nil)
	for _, name := range []string{"Sub", "NONCE", "i\u017fs", "Exp"} {
		for _, user := range []standin.User{{Subject: "1", Email: "ann@example.com"}, {Subject: "1", Email: "ann@example.com", Claims: map[string]any{name: nil}}} {
			w.SetUser(user)
			_, err := w.signIn()
			switch {
			case user.Claims == nil && err != nil:
				t.Errorf("without %s: %v", name, err)
			case user.Claims != nil:
				w.wantKind(standin.Fault(name), err, KindRejected)
			}
		}
	}
	for object, want := range map[string]bool{
		`{"sub":"1","x":{"sub":"2"}}`: true, `{"Groups":[],"groups":[]}`: true,
		`{"sub":"1","sub":"1"}`: false, `{"x":1,"x":2}`: false, `{"\u0073ub":"1","sub":"1"}`: false, `{"Alg":"none"}`: false,
		`[]`: false, `null`: false, `{"x":`: false, ``: false,
	} {
		if got := exactObject([]byte(object)); got != want {
			t.Errorf("%s: got %v, want %v", object, got, want)
		}
	}
}

// A public client has no secret, so HS256 tokens must be rejected too.
func TestHMACForPublicClient(t *testing.T) {
	w := start(t, func(s *standin.Server, o *Options) { s.Secret, o.ClientSecret = "", "" })
	for _, f := range []standin.Fault{standin.ClientSecretHMAC, standin.PublicKeyHMAC, standin.AlgorithmNone} {
		w.SetFaults(f)
		_, err := w.signIn()
		w.wantKind(f, err, KindRejected)
	}
}

// A wrong issuer and an untrusted certificate are errors of the settings.
func TestWrongIssuer(t *testing.T) {
	idp := httptest.NewUnstartedServer(http.NotFoundHandler())
	idp.Config.ErrorLog = log.New(io.Discard, "", 0)
	idp.StartTLS()
	defer idp.Close()
	w := start(t, func(_ *standin.Server, o *Options) { o.Issuer = idp.URL })
	_, err := w.signIn()
	w.wantKind("certificate", err, KindSettings)
	if !strings.Contains(w.log.String(), "x509: certificate signed by unknown authority") {
		t.Errorf("got log %s", w.log.String())
	}
	w = start(t, func(s *standin.Server, o *Options) { o.Issuer = s.URL + "/realms/wrong" })
	_, err = w.signIn()
	w.wantKind("path", err, KindSettings)
	if !strings.Contains(w.log.String(), "404 Not Found") {
		t.Errorf("got log %s", w.log.String())
	}
	for text, want := range map[string]Kind{
		"403 Forbidden: x": KindSettings, "408 Request Timeout: x": KindUnavailable, "429 Too Many Requests: x": KindUnavailable,
		"500 Internal Server Error: x": KindUnavailable, "302 Found: 404 ": KindUnavailable,
	} {
		if got := discoveryKind(errors.New(text)); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestInvalidResponses(t *testing.T) {
	for _, tt := range []struct {
		fault standin.Fault
		kind  Kind
	}{
		{standin.WrongState, KindExpired},
		{standin.WrongCallbackIssuer, KindRejected},
		{standin.Denied, KindDenied},
		{standin.Overloaded, KindUnavailable},
		{standin.OtherIssuer, KindSettings},
		{standin.PlainEndpoint, KindSettings},
		{standin.BlockedKeys, KindSettings},
		{standin.BlockedToken, KindSettings},
		{standin.NoKeys, KindUnavailable},
		{standin.BadKeys, KindUnavailable},
		{standin.TooManyKeys, KindUnavailable},
		{standin.OtherUser, KindRejected},
		{standin.BadClient, KindSettings},
		{standin.Huge("discovery"), KindUnavailable},
		{standin.Huge("keys"), KindUnavailable},
		{standin.Huge("token"), KindUnavailable},
		{standin.Huge("userinfo"), KindUnavailable},
		{standin.Fail("discovery"), KindUnavailable},
		{standin.Fail("keys"), KindUnavailable},
		{standin.Fail("token"), KindUnavailable},
		{standin.Fail("userinfo"), KindUnavailable},
		{standin.Garbage("discovery"), KindSettings},
		{standin.Garbage("keys"), KindUnavailable},
		{standin.Garbage("token"), KindUnavailable},
		{standin.Garbage("userinfo"), KindRejected},
		{standin.Redirect("discovery"), KindUnavailable},
		{standin.Redirect("keys"), KindUnavailable},
		{standin.Redirect("token"), KindRejected},
		{standin.Redirect("userinfo"), KindUnavailable},
		{standin.RedirectInside("discovery"), KindUnavailable},
		{standin.RedirectInside("token"), KindRejected},
	} {
		t.Run(string(tt.fault), func(t *testing.T) {
			w := start(t, func(s *standin.Server, _ *Options) { s.UserInfoOnly = true })
			w.SetFaults(tt.fault)
			_, err := w.signIn()
			w.wantKind(tt.fault, err, tt.kind)
			w.wantRequests("trap", 0)
			if log := w.log.String(); !strings.Contains(log, "kind="+string(tt.kind)) || len(log) > 1500 || strings.Contains(log, standin.ClientSecret) {
				t.Errorf("unexpected log: %s", log)
			}
			w.SetFaults()
			w.advance(maxAge)
			if _, err := w.signIn(); err != nil {
				t.Errorf("without faults: %v", err)
			}
		})
	}
}

// A hanging provider blocks a sign-in no longer than Options.Timeout.
func TestTimeout(t *testing.T) {
	for _, endpoint := range []string{"discovery", "keys", "token", "userinfo"} {
		for _, f := range []standin.Fault{standin.Hang(endpoint), standin.HangBody(endpoint)} {
			t.Run(string(f), func(t *testing.T) {
				t.Parallel()
				w := start(t, func(s *standin.Server, o *Options) { s.UserInfoOnly, o.Timeout = true, 300*time.Millisecond })
				w.SetFaults(f)
				_, err := w.signIn()
				w.wantKind(f, err, KindUnavailable)
				<-w.Hanging()
			})
		}
	}
}

// Without OUTBOUND_ALLOW_CIDRS, loopback addresses are blocked.
func TestAddressGuard(t *testing.T) {
	w := start(t, func(_ *standin.Server, o *Options) { o.AllowCIDRs = nil })
	_, err := w.signIn()
	w.wantKind("loopback", err, KindSettings)
	w.wantRequests("discovery", 0)
	if !strings.Contains(w.log.String(), "OUTBOUND_ALLOW_CIDRS") {
		t.Errorf("log has no OUTBOUND_ALLOW_CIDRS: %s", w.log)
	}
}

// A code is valid once, with the verifier and redirect URL of its sign-in. The log contains neither code nor verifier.
func TestFinish(t *testing.T) {
	w := start(t, nil)
	ctx := t.Context()
	begin := func() (Login, string) {
		l, err := w.Begin(ctx, redirectURL)
		if err != nil {
			t.Fatal(err)
		}
		code, err := w.followLogin(ctx, l)
		if err != nil {
			t.Fatal(err)
		}
		return l, code
	}
	l, code := begin()
	if _, _, err := w.Finish(ctx, l, code, redirectURL); err != nil {
		t.Error(err)
	}
	_, _, err := w.Finish(ctx, l, code, redirectURL)
	w.wantKind("reused code", err, KindExpired)
	if strings.Contains(w.log.String(), code) || strings.Contains(w.log.String(), l.Verifier) {
		t.Errorf("log contains a secret: %s", w.log)
	}
	other, _ := begin()
	_, code = begin()
	_, _, err = w.Finish(ctx, other, code, redirectURL)
	w.wantKind("code of another sign-in", err, KindExpired)
	l, code = begin()
	_, _, err = w.Finish(ctx, l, code, redirectURL+"/x")
	w.wantKind("another redirect URL", err, KindExpired)
	l, code = begin()
	mixed := l
	mixed.Nonce = other.Nonce
	_, _, err = w.Finish(ctx, mixed, code, redirectURL)
	w.wantKind("another nonce", err, KindRejected)
	for _, l := range []Login{{}, {Nonce: "x"}, {Verifier: "x"}} {
		_, _, err = w.Finish(ctx, l, code, redirectURL)
		w.wantKind("empty login", err, KindExpired)
	}
	_, _, err = w.Finish(ctx, other, "", redirectURL)
	w.wantKind("missing code", err, KindExpired)
}

func TestCallback(t *testing.T) {
	w := start(t, nil)
	l := Login{State: "the state", Nonce: "n", Verifier: "v"}
	for query, want := range map[string]Kind{
		"state=the+state&code=c&iss=" + url.QueryEscape(w.URL):                        "",
		"state=the+state&code=c&iss=" + url.QueryEscape(w.URL) + "&error=":            "",
		"state=the+state&code=c&iss=" + url.QueryEscape(w.URL) + "%2F":                KindRejected,
		"state=the+state&code=c&iss=https://other.example":                            KindRejected,
		"state=the+state&error=access_denied&iss=https://other.example":               KindRejected,
		"state=the+state&code=c":                                                      KindRejected, // the discovery document says that iss is sent
		"state=&code=c&iss=" + url.QueryEscape(w.URL):                                 KindExpired,
		"state=The+state&code=c&iss=" + url.QueryEscape(w.URL):                        KindExpired,
		"code=c&iss=" + url.QueryEscape(w.URL):                                        KindExpired,
		"state=the+state&state=the+state&code=c&iss=" + url.QueryEscape(w.URL):        KindRejected,
		"state=the+state&code=c&code=d&iss=" + url.QueryEscape(w.URL):                 KindRejected,
		"state=the+state&iss=" + url.QueryEscape(w.URL):                               KindRejected,
		"state=the+state&code=" + strings.Repeat("c", 5000) + "&iss=" + w.URL:         KindRejected,
		"state=the+state&error=access_denied&iss=" + url.QueryEscape(w.URL):           KindDenied,
		"state=the+state&error=%0A%3Cb%3E&iss=" + url.QueryEscape(w.URL):              KindDenied,
		"state=the+state&error=invalid_scope&code=c&iss=" + url.QueryEscape(w.URL):    KindSettings,
		"state=the+state&error=temporarily_unavailable&iss=" + url.QueryEscape(w.URL): KindUnavailable,
		"": KindExpired,
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		code, err := w.Callback(t.Context(), l, q)
		if want != "" {
			w.wantKind(query, err, want)
		}
		if (err == nil) != (want == "") || (code == "c") != (want == "") {
			t.Errorf("%s: got %q, %v; want kind %q", query, code, err, want)
		}
	}
	_, err := w.Callback(t.Context(), Login{}, url.Values{"state": {""}, "code": {"c"}})
	w.wantKind("login without state", err, KindExpired)
	if n := strings.Count(w.log.String(), "\n"); n != strings.Count(w.log.String(), "level=") {
		t.Errorf("got %d log lines, want one per message: %s", n, w.log)
	}
}

// A missing iss is an error only if the discovery document announces it. A wrong iss is always an error.
func TestCheckIssuer(t *testing.T) {
	w := start(t, func(s *standin.Server, o *Options) { s.Clock = o.Clock })
	w.wantKind("other", w.CheckIssuer(t.Context(), "https://other.example"), KindRejected)
	w.wantRequests("discovery", 0)
	w.wantKind("none", w.CheckIssuer(t.Context(), ""), KindRejected)
	w.discovery.value.SendsIssuer = false
	if err := w.CheckIssuer(t.Context(), ""); err != nil {
		t.Error(err)
	}
	if err := w.CheckIssuer(t.Context(), w.URL); err != nil {
		t.Error(err)
	}
	w.wantKind("other", w.CheckIssuer(t.Context(), "https://other.example"), KindRejected)
}
