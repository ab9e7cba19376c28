package send

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/textproto"
	"strings"

	"github.com/wneessen/go-mail"
	mailsmtp "github.com/wneessen/go-mail/smtp"

	"linkwatch/models"
	"linkwatch/outbound"
)

// How to choose the encryption, in the form of a channel and in its URL.
const (
	chooseSTARTTLS = "choose “STARTTLS, required” (encryption=ExplicitTLS&requirestarttls=yes)"
	chooseImplicit = "choose “TLS from the start” (encryption=ImplicitTLS)"
)

// mailError converts an error of the mail library. It says which setting of the channel is wrong, if one is.
func (m *mailServer) mailError(ctx context.Context, err error) *Error {
	why := outbound.ServiceError(err)
	code, said := 0, ""
	if e, ok := errors.AsType[*mail.SendError](err); ok {
		code = e.ErrorCode()
		said, _, _ = strings.Cut(e.Error(), ", affected recipient")
	} else if e, ok := errors.AsType[*textproto.Error](err); ok {
		code, said = e.Code, e.Msg
	}
	said = m.clean(said)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return m.ended(ctx)
	case code >= 500:
		return &Error{Kind: Refused, Answer: said, text: with(m.refusal(code), said)}
	case code >= 400:
		return &Error{Kind: Unavailable, Answer: said, text: with(m.label+" deferred the mail", said)}
	}
	if text := m.wrongTLS(ctx, why, err); text != "" {
		out := m.unsent(ctx, why)
		out.text = text
		return out
	}
	switch {
	case ctx.Err() != nil:
		return m.ended(ctx)
	case why.Kind != outbound.KindProtocol:
		return m.unsent(ctx, why)
	}
	text := m.wrongSettings(err)
	if text == "" {
		text = with(m.label+" cannot be used with these settings", m.clean(err.Error()))
	}
	return &Error{Kind: Refused, text: text}
}

// refusal returns the text of a reply that refuses a mail.
func (m *mailServer) refusal(code int) string {
	switch {
	case code == 530 && !m.encrypted:
		return m.label + " requires encryption. In the channel, " + chooseSTARTTLS
	case code == 530 && m.config.Username == "":
		return m.label + " requires a login. Enter a user and a password"
	case code == 534 || code == 535:
		return m.label + " refused the login. Check the user and the password"
	}
	return m.label + " refused the mail"
}

// wrongTLS returns the text of an error that a wrong encryption, port or host name explains, or "".
func (m *mailServer) wrongTLS(ctx context.Context, why *outbound.Error, err error) string {
	port := m.config.Port
	if e, ok := errors.AsType[x509.HostnameError](err); ok {
		text := "The certificate of the mail server is for another host name"
		if e.Certificate != nil && len(e.Certificate.DNSNames) > 0 {
			text += ": " + models.Truncate(models.CleanLine(strings.Join(e.Certificate.DNSNames, ", ")), 200)
		}
		return text + ". Enter that name as the mail server."
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "The certificate of the mail server is from an unknown authority. " +
			"If the authority is your own, name its file in SSL_CERT_FILE."
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok && m.implicit() {
		return fmt.Sprintf("%s does not use TLS from the start on port %d. In the channel, %s, or another port, usually 465.",
			m.label, port, chooseSTARTTLS)
	}
	silent := ctx.Err() != nil || why.Kind == outbound.KindTimeout || why.Kind == outbound.KindReset
	if m.connected && !m.answered && !m.implicit() && silent {
		return fmt.Sprintf("%s sent nothing on port %d. If that port uses TLS from the start, %s.",
			m.label, port, chooseImplicit)
	}
	return ""
}

// wrongSettings returns the text of an error of the mail library that a setting of the channel explains, or "".
func (m *mailServer) wrongSettings(err error) string {
	noAuth := strings.Contains(err.Error(), "not support SMTP AUTH") || errors.Is(err, mail.ErrNoSupportedAuthDiscovered)
	switch {
	case strings.Contains(err.Error(), "does not support STARTTLS"): // the library has no error value for it
		return fmt.Sprintf("%s does not offer STARTTLS on port %d. "+
			"Use another port, usually 587, or %s and its port, usually 465.", m.label, m.config.Port, chooseImplicit)
	case errors.Is(err, mailsmtp.ErrUnencrypted), noAuth && !m.encrypted:
		return fmt.Sprintf("%s offers no login without encryption on port %d. In the channel, %s.",
			m.label, m.config.Port, chooseSTARTTLS)
	case noAuth:
		return m.label + " offers no login that Linkwatch supports. If it needs none, remove the user and the password."
	}
	return ""
}
