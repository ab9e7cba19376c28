//go:build e2e

package e2e

import (
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/http"
	"net/mail"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// tested sends a test message to a channel and returns the answer.
func (s *Server) tested(channel string) string {
	s.t.Helper()
	var answer struct{ Answer, Detail string }
	s.Call("POST", "/v1/channels/"+channel+"/test", nil, &answer)
	return answer.Answer + answer.Detail
}

// htmlOf returns the HTML part of a mail.
func htmlOf(t *testing.T, m *mail.Message) string {
	t.Helper()
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("the mail is %s, %v", kind, err)
	}
	for parts := multipart.NewReader(m.Body, params["boundary"]); ; {
		part, err := parts.NextRawPart()
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(part.Header.Get("Content-Type"), "text/html") {
			text, err := io.ReadAll(quotedprintable.NewReader(part))
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
	}
}

// A real mail server gets the mails of an outage as one thread, over TLS in both forms. A wrong form of TLS is named.
func TestMailServer(t *testing.T) {
	t.Parallel()
	mx, web := newExim(t), site(t)
	s := Start(t, "CHECK_INTERVAL=500ms", "PUBLIC_URL=http://linkwatch.test", "SSL_CERT_FILE="+mx.ca)

	add := func(url string) string {
		return s.channel(map[string]any{"name": "mail", "kind": "smtp", "url": url})
	}
	direct := mx.url(mx.direct, "encryption=ImplicitTLS")
	for channel, want := range map[string]string{
		add(mx.url(mx.starttls, "encryption=ImplicitTLS")):                        "does not use TLS from the start on port",
		add(mx.url(mx.starttls, "encryption=None")):                               "offers no login without encryption",
		add(strings.Replace(mx.url(mx.starttls, ""), "linkwatch:secret@", "", 1)): "refused the mail",
		add(strings.Replace(direct, "secret", "x", 1)):                            "refused the login",
	} {
		if got := s.tested(channel); !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := s.tested(add(direct)); !strings.Contains(got, "OK") {
		t.Errorf("got %q from the port with TLS from the start", got)
	}

	s.rule(add(mx.url(mx.starttls, "requirestarttls=yes&fromname=W%C3%A4chter")))
	s.watch(web, "cart")
	web.set("/cart", status(500))
	mx.mails(t, 2) // with the test message
	web.set("/cart", status(200))
	mails := mx.mails(t, 3)[1:]

	down, up := mails[0].Header, mails[1].Header
	root, subject, first := down.Get("References"), down.Get("Subject"), down.Get("Message-Id")
	if !strings.HasPrefix(subject, "cart is down: ") || up.Get("Subject") != "Re: "+subject {
		t.Errorf("the subjects are %q and %q", subject, up.Get("Subject"))
	}
	if !strings.HasPrefix(root, "<v_") || up.Get("References") != root+" "+first || up.Get("In-Reply-To") != first {
		t.Errorf("the mails are no thread: %v and %v", down, up)
	}
	for _, m := range mails {
		from, err := m.Header.AddressList("From")
		if err != nil || from[0].Name != "Wächter" {
			t.Errorf("the header is %v, %v", m.Header, err)
		}
		if to := m.Header.Get("List-Unsubscribe"); !strings.HasPrefix(to, "<http://linkwatch.test/alerts/channels/a_") {
			t.Errorf("the settings are at %s", to)
		}
		// With TLS and login, and without an extension that the next server may lack.
		if !strings.Contains(m.Header.Get("Received"), " with esmtpsa") {
			t.Errorf("the server received it as %s", m.Header.Get("Received"))
		}
	}
	if html := htmlOf(t, mails[1]); !strings.Contains(html, "cart is up again") || !strings.Contains(html, ">Resolved<") {
		t.Errorf("the recovery is %s", html)
	}
	html := htmlOf(t, mails[0])
	link := regexp.MustCompile(`href="http://linkwatch\.test(/alerts/v_\w+/manage\?key=[^"]+)"`).FindStringSubmatch(html)
	if link == nil || !strings.Contains(html, "<b>cart</b>") || !strings.Contains(html, ">Critical<") {
		t.Fatalf("the outage is %s", html)
	}
	path, err := url.PathUnescape(strings.ReplaceAll(link[1], "&amp;", "&"))
	if err != nil {
		t.Fatal(err)
	}
	if status := s.Call("GET", path, nil, nil); status != http.StatusOK {
		t.Errorf("the button leads to status %d", status)
	}
}
