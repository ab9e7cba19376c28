package google_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"linkwatch/jobs/sites/engine"
	"linkwatch/jobs/sites/google"
	"linkwatch/jobs/sites/standin"
	"linkwatch/models"
)

// For any response, a call is one request, and its error can be stored and shown.
func FuzzResponses(f *testing.F) {
	const (
		denied   = `{"error":{"code":403,"message":"Permission denied. Failed to verify the URL ownership.","status":"PERMISSION_DENIED"}}`
		disabled = `{"error":{"code":403,"message":"m","errors":[{"reason":"accessNotConfigured"}],"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"SERVICE_DISABLED","metadata":{"service":"x"}}]}}`
		limited  = `{"error":{"code":429,"message":"Quota exceeded","details":[{"retryDelay":"1e9s"},{"metadata":{"quota_limit":"PerDay","quota_unit":1}},null,[],"x"]}}`
		token    = `{"error":"invalid_grant","error_description":"Invalid JWT Signature."}`
	)
	for i, body := range []string{denied, disabled, limited, token, "", "null", "{}", "[", `[{}]`, `{"error":{"details":{}}}`, `{"access_token":"ya29.x","expires_in":-1}`, `{"access_token":"x","id_token":"y"}`} {
		for service := range uint8(6) {
			f.Add(service, uint16(200+i*37), "120", body)
			f.Add(service, uint16(403), "Wed, 21 Oct 2099 07:28:00 GMT", body)
		}
	}
	f.Add(uint8(3), uint16(200), "12\x15", denied) // invalid HTTP
	s := standin.New(f)
	account, err := google.ParseCredentials(standin.Credentials())
	if err != nil {
		f.Fatal(err)
	}
	e, err := google.NewEndpoints(google.Options{Indexing: s.URL, SearchConsole: s.URL, Token: s.URL + standin.Token})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(e.Close)
	authorized := google.NewClient(e, account)
	f.Fuzz(func(t *testing.T, which uint8, status uint16, retry, body string) {
		if status = 200 + status%400; status < 200 || len(body) > 1<<16 {
			return
		}
		authorizing := method{"authorize", standin.Token, func(ctx context.Context, c *google.Client) error { return c.Authorize(ctx) }}
		m, c := authorizing, google.NewClient(e, account)
		if int(which) < len(methods) {
			m, c = methods[which], authorized
		}
		s.Reset()
		if err := authorized.Authorize(t.Context()); err != nil { // a 401 invalidates the token
			t.Fatal(err)
		}
		s.Reset()
		s.Fail(m.service, standin.Answer(int(status), body, "Retry-After", retry))
		err := m.do(t.Context(), c)
		if n := s.Count(m.service); n != 1 {
			t.Fatalf("%d requests", n)
		}
		if err == nil {
			if status >= 300 && !(status == 404 && m.name == "metadata") {
				t.Errorf("status %d: no error", status)
			}
			return
		}
		e, ok := errors.AsType[*engine.Error](err)
		if !ok || e.Kind == "" || e.Cause == "" || e.Text == "" || e.Fix == "" || !e.Sent() || e.Status != int(status) && (e.Status != 0 || e.Kind != engine.Protocol) || e.RetryAfter < 0 || e.RetryAfter > 24*time.Hour {
			t.Fatalf("%#v", err)
		}
		for _, text := range []string{e.Text, e.Fix, e.Cause} {
			if len(text) > 1600 || models.CleanLine(text) != text || strings.Contains(text, "ya29.") || strings.Contains(text, "eyJ") {
				t.Errorf("%q", text)
			}
		}
	})
}
