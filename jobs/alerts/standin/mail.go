package standin

import (
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// The login of the mail server. It also accepts mail without a login.
const (
	MailUser     = "linkwatch@example.com"
	MailPassword = "p@ss/w%rd? +&"
)

// Letter is an accepted mail.
type Letter struct {
	From, To, User string // User is the login; "" if none
	Encrypted      bool
	Data           string // raw header and body
}

// Mail is a mail server with STARTTLS on one port and TLS on another. It is safe for concurrent use.
type Mail struct {
	Addr      string // host and port, with STARTTLS
	encrypted string // host and port, with TLS from the start
	mu        sync.Mutex
	letters   []Letter
	refuse    map[string]*smtp.SMTPError // by recipient
}

func newMail(t testing.TB, cert tls.Certificate) *Mail {
	m := &Mail{refuse: map[string]*smtp.SMTPError{}}
	config := &tls.Config{Certificates: []tls.Certificate{cert}}
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	serve := func(l net.Listener) string {
		s := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
			_, encrypted := c.TLSConnectionState()
			return &session{mail: m, letter: Letter{Encrypted: encrypted}}, nil
		}))
		s.Domain, s.TLSConfig, s.ErrorLog = "mail.example.com", config, log.New(io.Discard, "", 0)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = s.Serve(l) // returns after Close
		}()
		t.Cleanup(func() { _ = s.Close(); _ = l.Close(); <-done }) // s.Close does not close a listener before Serve has registered it
		return l.Addr().String()
	}
	m.Addr, m.encrypted = serve(listen()), serve(tls.NewListener(listen(), config))
	return m
}

// Refuse makes the server refuse a recipient with an SMTP code and text.
func (m *Mail) Refuse(to string, code int, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refuse[to] = &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 1, 1}, Message: text}
}

// Letters returns the mails received since the last call, in order.
func (m *Mail) Letters() []Letter {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.letters
	m.letters = nil
	return out
}

type session struct {
	mail   *Mail
	letter Letter
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != MailUser || password != MailPassword {
			return &smtp.SMTPError{Code: 535, EnhancedCode: smtp.EnhancedCode{5, 7, 8}, Message: "Wrong login " + password}
		}
		s.letter.User = user
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.letter.From = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mail.mu.Lock()
	defer s.mail.mu.Unlock()
	if no := s.mail.refuse[to]; no != nil {
		return no
	}
	s.letter.To = to
	return nil
}

func (s *session) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return errors.New("incomplete mail")
	}
	s.mail.mu.Lock()
	defer s.mail.mu.Unlock()
	letter := s.letter
	letter.Data = string(data)
	s.mail.letters = append(s.mail.letters, letter)
	return nil
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }
