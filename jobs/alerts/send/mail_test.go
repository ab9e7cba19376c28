package send_test

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/netip"
	"strings"
	"testing"
	"time"

	"linkwatch/jobs/alerts/send"
	"linkwatch/jobs/alerts/standin"
	"linkwatch/models"
	"linkwatch/outbound"
)

// checked fails the test unless err is a *models.Error that contains no part of the URL.
func checked(t *testing.T, err error, raw string) {
	t.Helper()
	if e, ok := errors.AsType[*models.Error](err); !ok || e.Code != models.CodeInvalid || len(e.Fields) != 1 || e.Fields[0].Location != "url" || e.Err != nil {
		t.Errorf("got error %#v", err)
	}
	if len(raw) > 60 && strings.Contains(err.Error(), raw) {
		t.Errorf("%v repeats the URL", err)
	}
}

func TestMail(t *testing.T) {
	s, server := newSender(t)
	for _, test := range []struct {
		more      map[string]string
		user      string
		encrypted bool
	}{
		{nil, standin.MailUser, true},
		{map[string]string{"encryption": "tls"}, standin.MailUser, true},
		{map[string]string{"encryption": "auto", "port": "25", "user": "", "password": ""}, "", true},
	} {
		values := map[string]string{}
		for _, set := range []map[string]string{filled[0].values, test.more} {
			for name, value := range set {
				values[name] = value
			}
		}
		raw := formURL(t, "smtp", values)
		answer, err := s.Send(t.Context(), raw, message)
		if err != nil || answer.StatusCode != 0 || answer.Text == "" {
			t.Fatalf("%+v, %v", answer, err)
		}
		letters := server.Mail.Letters()
		if len(letters) != 2 || letters[0].To != "anna+alerts@example.com" || letters[1].To != "bob@example.com" {
			t.Fatalf("%d letters", len(letters))
		}
		for _, letter := range letters {
			if letter.From != "linkwatch@example.com" || letter.User != test.user || letter.Encrypted != test.encrypted {
				t.Errorf("%+v", letter)
			}
			header, body := read(t, letter.Data)
			if header.Get("Subject") != message.Title || header.Get("Message-ID") != "<al_1@example.com>" || header.Get("Auto-Submitted") != "auto-generated" ||
				header.Get("To") != "<"+letter.To+">" || !strings.HasPrefix(header.Get("Content-Type"), "text/plain") {
				t.Errorf("the header is %v", header)
			}
			if at, err := header.Date(); err != nil || !at.Equal(now) {
				t.Errorf("the date is %v, %v", at, err)
			}
			if body != message.Text+"\n\n"+message.URL {
				t.Errorf("the body is %q", body)
			}
		}
	}
}

func read(t *testing.T, data string) (mail.Header, string) {
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	body := m.Body
	if m.Header.Get("Content-Transfer-Encoding") == "quoted-printable" {
		body = quotedprintable.NewReader(body)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return m.Header, strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))
}

const plainMail = "smtp://mail.example.com/?from=linkwatch@example.com&to=anna@example.com,bob@example.com"

// No part of a message becomes a header, an address or markup.
func TestMailHeaders(t *testing.T) {
	s, server := newSender(t)
	if _, err := s.Send(t.Context(), plainMail+"&fromname=M%C3%A9%20%22x%22%0d%0aBcc:%20evil@example.com&usehtml=yes&subject=other", hostile); err != nil {
		t.Fatal(err)
	}
	letters := server.Mail.Letters()
	if len(letters) != 2 {
		t.Fatalf("%d letters", len(letters))
	}
	header, body := read(t, letters[0].Data)
	subject, err := new(mime.WordDecoder).DecodeHeader(header.Get("Subject"))
	if err != nil || !strings.HasPrefix(subject, "Down Bcc: evil@example.com<script>") || len(subject) > 204 {
		t.Errorf("the subject is %q, %v", subject, err)
	}
	if header.Get("Bcc") != "" || header.Get("Message-ID") != "<al_2Bccevilexample.com@example.com>" || !strings.HasPrefix(header.Get("Content-Type"), "text/plain") {
		t.Errorf("the header is %v", header)
	}
	if strings.ContainsAny(body, "\x00\x1b\u202e") || !strings.HasSuffix(body, hostile.URL) {
		t.Errorf("the body is %.300q", body)
	}
}

func TestMailErrors(t *testing.T) {
	s, server := newSender(t)
	server.Mail.Refuse("anna@example.com", 550, "No anna@example.com here")
	answer, err := s.Send(t.Context(), plainMail, message)
	if err != nil || !strings.HasPrefix(answer.Text, "Delivered to 1 of 2 recipients.") || strings.Contains(answer.Text, "anna@example.com") {
		t.Errorf("%q, %v", answer.Text, err)
	}
	if letters := server.Mail.Letters(); len(letters) != 1 || letters[0].To != "bob@example.com" {
		t.Errorf("the other recipient: %+v", letters)
	}
	server.Mail.Refuse("bob@example.com", 550, "No bob@example.com here")
	_, err = s.Send(t.Context(), plainMail, message)
	if e := failure(t, err, "anna@example.com", "bob@example.com"); e.Kind != send.Refused || !strings.Contains(e.Error(), "refused the mail") || !strings.Contains(e.Answer, "No … here") {
		t.Errorf("%s: %s", e.Kind, e)
	}
	server.Mail.Refuse("anna@example.com", 451, "Later")
	for _, raw := range []string{plainMail, strings.Replace(plainMail, "anna@example.com,bob@example.com", "bob@example.com,anna@example.com", 1)} {
		_, err = s.Send(t.Context(), raw, message)
		if e := failure(t, err); e.Kind != send.Unavailable {
			t.Errorf("one refused, one later: %s: %s", e.Kind, e)
		}
	}
	_, err = s.Send(t.Context(), "smtp://linkwatch%40example.com:wrong-password@mail.example.com/?from=linkwatch@example.com&to=bob@example.com", message)
	if e := failure(t, err, "wrong-password", "linkwatch@example.com"); e.Kind != send.Refused || !strings.Contains(e.Answer, "Wrong login …") {
		t.Errorf("%s: %s", e.Kind, e)
	}
}

// Servers that send nothing, send endlessly, are not mail servers, or lack the required encryption.
func TestMailServersThatMisbehave(t *testing.T) {
	for name, test := range map[string]struct {
		serve func(net.Conn, func())
		kind  send.Kind
	}{
		"silent": {func(c net.Conn, cancel func()) { cancel(); _, _ = io.Copy(io.Discard, c) }, send.Timeout},
		"endless": {func(c net.Conn, cancel func()) {
			cancel()
			for {
				if _, err := io.WriteString(c, "220-x\r\n"); err != nil {
					return
				}
			}
		}, send.Timeout},
		"closes": {func(net.Conn, func()) {}, send.Unavailable},
		"other":  {func(c net.Conn, _ func()) { _, _ = io.WriteString(c, "SSH-2.0-OpenSSH\r\n") }, send.Unavailable},
		"plain": {func(c net.Conn, _ func()) {
			_, _ = io.WriteString(c, "220 hello\r\n")
			_, _ = io.ReadFull(c, make([]byte, 4))
			_, _ = io.WriteString(c, "250 hello\r\n")
			_, _ = io.Copy(io.Discard, c)
		}, send.Refused},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan struct{})
			go func() {
				defer close(done)
				c, err := l.Accept()
				if err != nil {
					return
				}
				defer func() { _ = c.Close() }()
				test.serve(c, cancel)
			}()
			defer func() { _ = l.Close(); <-done }()
			relay := outbound.NewRelay(outbound.RelayOptions{AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
			defer relay.Close()
			s, err := send.New(send.Options{Relay: relay, Timeout: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Send(ctx, "smtp://"+l.Addr().String()+"/?requirestarttls=yes&from=linkwatch@example.com&to=bob@example.com", message)
			e := failure(t, err)
			if e.Kind != test.kind {
				t.Errorf("%s: %s", e.Kind, e)
			}
			if name == "plain" && !strings.Contains(e.Error(), "does not offer STARTTLS on port") {
				t.Errorf("got %s", e)
			}
		})
	}
}
