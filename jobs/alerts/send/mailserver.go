package send

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
	"time"
	"unicode"

	"github.com/nicholas-fedor/shoutrrr/pkg/services/email/smtp"
	"github.com/wneessen/go-mail"
)

// mailServer is a mail server, and what its connection has shown so far. Only the goroutine that sends uses it.
type mailServer struct {
	channel
	config    *smtp.Config
	connected bool
	answered  bool // it sent something
	encrypted bool // a TLS handshake succeeded
}

// implicit reports whether TLS starts with the connection.
func (m *mailServer) implicit() bool {
	auto := m.config.Encryption == smtp.EncAuto && m.config.Port == smtp.ImplicitTLSPort
	return auto || m.config.Encryption == smtp.EncImplicitTLS
}

// policy returns when STARTTLS is used. Connections with implicit TLS need none.
func (m *mailServer) policy() mail.TLSPolicy {
	switch {
	case m.implicit():
		return mail.TLSOpportunistic
	case m.config.RequireStartTLS:
		return mail.TLSMandatory
	case m.config.Encryption == smtp.EncNone || !m.config.UseStartTLS:
		return mail.NoTLS
	}
	return mail.TLSOpportunistic
}

// mailAuth are the methods of the parameter auth. All others choose the best one that the server offers.
var mailAuth = map[string]mail.SMTPAuthType{
	"Plain": mail.SMTPAuthPlain, "CRAMMD5": mail.SMTPAuthCramMD5, "OAuth2": mail.SMTPAuthXOAUTH2,
}

// mailConn notes whether the server sent anything.
type mailConn struct {
	net.Conn
	server *mailServer
}

func (c mailConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.server.answered = true
	}
	return n, err
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

func (s *Sender) mailClient(ctx context.Context, server *mailServer) (*mail.Client, error) {
	config, encrypted := server.config, s.opts.Relay.TLS(server.config.Host)
	encrypted.VerifyConnection = func(tls.ConnectionState) error {
		server.encrypted = true
		return nil
	}
	options := []mail.Option{
		mail.WithPort(int(config.Port)), mail.WithTimeout(s.opts.Timeout), mail.WithTLSConfig(encrypted), mail.WithoutNoop(),
		mail.WithTLSPolicy(server.policy()),
		mail.WithDialContextFunc(func(dialing context.Context, network, address string) (net.Conn, error) {
			raw, err := s.opts.Relay.Dial(dialing, network, address)
			if err != nil {
				return nil, err
			}
			server.connected = true
			// The connection ends with ctx, however slowly the server sends.
			context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Unix(1, 0)); _ = raw.Close() })
			conn := mailConn{raw, server}
			if server.implicit() {
				return tls.Client(conn, encrypted), nil
			}
			return conn, nil
		}),
	}
	if addresses := config.FromAddress + strings.Join(config.ToAddresses, ""); isASCII(addresses) {
		// A server whose next hop lacks the extension would return the mail.
		options = append(options, mail.WithoutSMTPUTF8())
	}
	if config.ClientHost != "auto" {
		options = append(options, mail.WithHELO(config.ClientHost))
	}
	if config.Auth != smtp.AuthNone && config.Username != "" {
		login, ok := mailAuth[config.Auth.String()]
		if !ok {
			login = mail.SMTPAuthAutoDiscover
		}
		options = append(options, mail.WithSMTPAuth(login),
			mail.WithUsername(config.Username), mail.WithPassword(config.Password))
	}
	return mail.NewClient(config.Host, options...)
}
