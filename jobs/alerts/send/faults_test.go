package send_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"linkwatch/jobs/alerts/send"
	"linkwatch/jobs/alerts/standin"
	"linkwatch/models"
	"linkwatch/outbound"
)

// each runs a test for every service with an HTTP API.
func each(t *testing.T, test func(t *testing.T, raw string, secrets []string)) {
	t.Helper()
	for i, form := range filled {
		if form.kind != "smtp" {
			t.Run(fmt.Sprint(i, form.kind), func(t *testing.T) { test(t, formURL(t, form.kind, form.values), form.secrets) })
		}
	}
}

// echo responds with all parts of the request, including its secrets.
func echo(status int, more ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i < len(more); i += 2 {
			w.Header().Set(more[i], more[i+1])
		}
		w.WriteHeader(status)
		user, password, _ := r.BasicAuth()
		_, _ = fmt.Fprintf(w, "no_service %s %s %v %s %s", r.URL.Path, r.URL.RawQuery, r.Header, user, password)
	}
}

func TestAnswersThatAreErrors(t *testing.T) {
	s, server := newSender(t)
	for _, test := range []struct {
		status int
		kind   send.Kind
		header []string
		pause  time.Duration
	}{
		{404, send.Refused, nil, 0},
		{401, send.Refused, nil, 0},
		{410, send.Gone, nil, 0},
		{429, send.Unavailable, []string{"Retry-After", "7"}, 7 * time.Second},
		{500, send.Unavailable, nil, 0},
		{503, send.Unavailable, []string{"Retry-After", "999999"}, time.Hour},
		{302, send.Redirected, []string{"Location", "http://127.0.0.1:1/elsewhere"}, 0},
		{308, send.Redirected, []string{"Location", "https://slack.com/elsewhere"}, 0},
	} {
		server.Instead(echo(test.status, test.header...))
		t.Run(fmt.Sprint(test.status), func(t *testing.T) {
			each(t, func(t *testing.T, raw string, secrets []string) {
				server.Requests()
				_, err := s.Send(t.Context(), raw, message)
				e := failure(t, err, secrets...)
				if e.Kind != test.kind || e.StatusCode != test.status || e.RetryAfter != test.pause {
					t.Errorf("%s %d %v: %s", e.Kind, e.StatusCode, e.RetryAfter, e)
				}
				if test.kind != send.Redirected && !strings.Contains(e.Error(), fmt.Sprintf(" returned %d: no_service", test.status)) {
					t.Errorf("the text is %q", e)
				}
				if n := len(server.Requests()); n != 1 {
					t.Errorf("%d requests", n)
				}
			})
		})
	}
}

// An HTML page, such as that of a captive portal or a proxy, is not a success, whatever its status.
func TestPage(t *testing.T) {
	s, server := newSender(t)
	server.Instead(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<!DOCTYPE html><html><head><title>Log in\n first</title><script>x()</script></head><body>Welcome</body></html>")
	})
	each(t, func(t *testing.T, raw string, _ []string) {
		if strings.Contains(raw, "logic.azure.com") {
			t.Skip("a webhook: every 2xx is a success")
		}
		_, err := s.Send(t.Context(), raw, message)
		if e := failure(t, err); e.Kind != send.Refused || e.StatusCode != 200 || e.Answer != "Log in first" {
			t.Errorf("%s %d %q: %s", e.Kind, e.StatusCode, e.Answer, e)
		}
	})
}

// A service that reports an error with status 200.
func TestRefusalsWithStatus200(t *testing.T) {
	s, server := newSender(t)
	for i, body := range map[int]string{
		2:  `{"ok":false,"error":"invalid_auth"}`,
		4:  `{"ok":false,"description":"invalid_auth"}`,
		10: "invalid_auth",
	} {
		server.Instead(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
		_, err := s.Send(t.Context(), formURL(t, filled[i].kind, filled[i].values), message)
		if e := failure(t, err); e.Kind != send.Refused || e.Answer != "invalid_auth" {
			t.Errorf("%s %q: %s", e.Kind, e.Answer, e)
		}
	}
}

func TestConnectionsThatBreak(t *testing.T) {
	s, server := newSender(t)
	server.Instead(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	each(t, func(t *testing.T, raw string, secrets []string) {
		_, err := s.Send(t.Context(), raw, message)
		if e := failure(t, err, secrets...); e.Kind != send.Unavailable || e.StatusCode != 0 {
			t.Errorf("%s: %s", e.Kind, e)
		}
	})
}

// never blocks a request, even after the client has disconnected. Returning would send status 200, which the client could still read.
func never(r *http.Request) {
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

// A service that never responds, or never ends its response, does not block: the message ends with its context.
func TestHangs(t *testing.T) {
	s, server := newSender(t)
	each(t, func(t *testing.T, raw string, secrets []string) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		server.Instead(func(_ http.ResponseWriter, r *http.Request) {
			cancel()
			never(r)
		})
		_, err := s.Send(ctx, raw, message)
		if e := failure(t, err, secrets...); e.Kind != send.Timeout || !errors.Is(e, context.Canceled) {
			t.Errorf("%s: %s", e.Kind, e)
		}
	})
}

func TestDeadline(t *testing.T) {
	server := standin.New(t)
	s, err := send.New(send.Options{Relay: server.Relay(t), Timeout: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	server.Instead(func(_ http.ResponseWriter, r *http.Request) { never(r) })
	each(t, func(t *testing.T, raw string, secrets []string) {
		_, err := s.Send(t.Context(), raw, message)
		if e := failure(t, err, secrets...); e.Kind != send.Timeout || !errors.Is(e, context.DeadlineExceeded) {
			t.Errorf("%s: %s", e.Kind, e)
		}
	})
}

// At most 64 KiB of an endless response are read.
func TestEndlessAnswer(t *testing.T) {
	s, server := newSender(t)
	server.Instead(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat("x", 1<<10)); err != nil {
				return
			}
		}
	})
	each(t, func(t *testing.T, raw string, secrets []string) {
		answer, err := s.Send(t.Context(), raw, message)
		if err != nil {
			answer.Text = failure(t, err, secrets...).Answer
		}
		if len(answer.Text) > 500 {
			t.Errorf("%d bytes", len(answer.Text))
		}
	})
}

// No request reaches a private address, whether by the URL, by a name that resolves to it, or by a redirect.
func TestPrivateAddresses(t *testing.T) {
	server := standin.New(t)
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("private address was reached") }))
	defer inside.Close()
	options := server.RelayOptions()
	options.AllowCIDRs = nil
	relay := outbound.NewRelay(options)
	defer relay.Close()
	s, err := send.New(send.Options{Relay: relay, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range filled { // every name resolves to 127.0.0.1
		_, err := s.Send(t.Context(), formURL(t, form.kind, form.values), message)
		if e := failure(t, err, form.secrets...); e.Kind != send.Blocked {
			t.Errorf("%s: %s %s", form.kind, e.Kind, e)
		}
	}
	for _, host := range []string{strings.TrimPrefix(inside.URL, "http://"), "localhost:80", "[::1]:80", "[::ffff:10.0.0.1]", "169.254.169.254", "10.1.2.3:8080", "0.0.0.0"} {
		for _, raw := range []string{"ntfy://" + host + "/topic?scheme=http", "generic://" + host + "/x?disabletls=yes", "https://" + host + "/x", "smtp://" + host + "/?from=a@example.com&to=b@example.com"} {
			if _, err := s.Check(raw); models.CodeOf(err) != models.CodeInvalid || strings.Contains(err.Error(), host) {
				t.Errorf("%s: %v", raw, err)
			}
			if _, err := s.Send(t.Context(), raw, message); models.CodeOf(err) != models.CodeInvalid {
				t.Errorf("%s: %v", raw, err)
			}
		}
	}
}
