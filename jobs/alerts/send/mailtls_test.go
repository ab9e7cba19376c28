package send_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"linkwatch/jobs/alerts/send"
	"linkwatch/jobs/alerts/standin"
	"linkwatch/outbound"
)

// A wrong encryption, port, host name or login is named, with what to choose instead.
func TestMailSettingsThatAreWrong(t *testing.T) {
	s, server := newSender(t)
	server.Mail.Refuse("encrypt@example.com", 530, "Must issue a STARTTLS command first")
	server.Mail.Refuse("login@example.com", 530, "Authentication required")
	for name, test := range map[string]struct {
		url  string
		want []string
		kind send.Kind
	}{
		"TLS from the start where STARTTLS is": {
			"smtp://mail.example.com:587/?encryption=ImplicitTLS",
			[]string{"does not use TLS from the start on port 587", "encryption=ExplicitTLS", "465"}, send.Unavailable,
		},
		"no encryption, which the server requires": {
			"smtp://mail.example.com:587/?encryption=None&to=encrypt@example.com",
			[]string{"requires encryption", "encryption=ExplicitTLS"}, send.Refused,
		},
		"login without encryption": {
			"smtp://a:b@mail.example.com:587/?encryption=None",
			[]string{"offers no login without encryption on port 587", "encryption=ExplicitTLS"}, send.Refused,
		},
		"no login, which the server requires": {
			"smtp://mail.example.com:587/?to=login@example.com",
			[]string{"requires a login", "Enter a user"}, send.Refused,
		},
		"wrong login": {
			"smtp://a:b@mail.example.com:587/?",
			[]string{"refused the login", "Check the user and the password"}, send.Refused,
		},
		"certificate of another host": {
			"smtp://mail.example.net:587/?",
			[]string{"certificate of the mail server is for another host name", "*.example.com", "Enter that name"}, send.Unavailable,
		},
	} {
		raw := test.url + "&from=linkwatch@example.com"
		if !strings.Contains(raw, "&to=") {
			raw += "&to=bob@example.com"
		}
		_, err := s.Send(t.Context(), raw, message)
		e := failure(t, err)
		for _, want := range test.want {
			if !strings.Contains(e.Error(), want) {
				t.Errorf("%s: %q does not say %q", name, e, want)
			}
		}
		if e.Kind != test.kind {
			t.Errorf("%s: %s: %s", name, e.Kind, e)
		}
	}
	if letters := server.Mail.Letters(); len(letters) != 0 {
		t.Errorf("%d letters", len(letters))
	}
}

// A certificate that the machine does not trust is named.
func TestMailServerOfUnknownAuthority(t *testing.T) {
	server := standin.New(t)
	options := server.RelayOptions()
	options.Roots = nil
	relay := outbound.NewRelay(options)
	defer relay.Close()
	s, err := send.New(send.Options{Relay: relay, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Send(t.Context(), "smtp://mail.example.com:465/?from=linkwatch@example.com&to=bob@example.com", message)
	e := failure(t, err)
	if !strings.Contains(e.Error(), "from an unknown authority") || !strings.Contains(e.Error(), "SSL_CERT_FILE") {
		t.Errorf("%s: %s", e.Kind, e)
	}
}

// A port where TLS starts with the connection sends nothing to a client that waits for a greeting.
func TestSTARTTLSWherePortUsesTLS(t *testing.T) {
	for name, serve := range map[string]func(net.Conn){
		"waits":  func(c net.Conn) { _, _ = io.Copy(io.Discard, c) },
		"closes": func(net.Conn) {},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				if c, err := l.Accept(); err == nil {
					serve(c)
					_ = c.Close()
				}
			}()
			defer func() { _ = l.Close(); <-done }()
			relay := outbound.NewRelay(standin.New(t).RelayOptions())
			defer relay.Close()
			s, err := send.New(send.Options{Relay: relay, Timeout: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			const query = "/?encryption=ExplicitTLS&requirestarttls=yes&from=a@example.com&to=b@example.com"
			_, err = s.Send(t.Context(), "smtp://"+l.Addr().String()+query, message)
			e := failure(t, err)
			if !strings.Contains(e.Error(), "sent nothing on port") || !strings.Contains(e.Error(), "encryption=ImplicitTLS") {
				t.Errorf("%s: %s", e.Kind, e)
			}
			if kind := map[string]send.Kind{"waits": send.Timeout, "closes": send.Unavailable}[name]; e.Kind != kind {
				t.Errorf("%s: %s", e.Kind, e)
			}
		})
	}
}
