package send

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/textproto"
	"strings"
	"time"

	"github.com/nicholas-fedor/shoutrrr/pkg/services/email/smtp"
	"github.com/wneessen/go-mail"

	"linkwatch/models"
	"linkwatch/outbound"
)

const maxRecipients = 50

// mailStyle fits the whole text. Its limits are in bytes.
var mailStyle = style{title: 4 * maxTitle, text: 4*maxText + 1024}

// mailConfig parses an smtp:// URL like the library, which is not used to send because it dials itself.
func mailConfig(c channel) (*smtp.Config, error) {
	config := &smtp.Config{
		Port: smtp.DefaultSMTPPort, Auth: smtp.AuthTypes.Unknown, UseStartTLS: true, Encryption: smtp.EncMethods.Auto, ClientHost: "auto",
	}
	u := *c.url
	if err := config.SetURL(&u); err != nil || config.Host == "" {
		return nil, models.Invalid("url", "must look like smtp://user:password@smtp.example.com:587/?from=a@example.com&to=b@example.com")
	}
	config.FixEmailTags()
	if len(config.ToAddresses) > maxRecipients {
		return nil, models.Invalid("url", "must have at most %d recipients. Add a second channel for the others", maxRecipients)
	}
	for _, address := range append([]string{config.FromAddress}, config.ToAddresses...) {
		if a, err := netmail.ParseAddress(address); err != nil || a.Address != address {
			return nil, models.Invalid("url", "must name the sender and the recipients by email addresses, such as from=a@example.com")
		}
	}
	return config, nil
}

// email sends a separate mail to each recipient, so that a refused recipient does not affect the others. It succeeds if the server accepts
// one of them: a retry would send the message to the others again.
func (s *Sender) email(ctx context.Context, c channel, m Message) (Answer, error) {
	config, err := mailConfig(c)
	if err != nil {
		return Answer{}, err
	}
	client, err := s.mailClient(ctx, config)
	if err != nil {
		return Answer{}, s.unusable(ctx, c)
	}
	mails := make([]*mail.Msg, 0, len(config.ToAddresses))
	for _, to := range config.ToAddresses {
		one, err := s.mail(config, to, m)
		if err != nil {
			return Answer{}, s.unusable(ctx, c)
		}
		mails = append(mails, one)
	}
	if err := client.DialWithContext(ctx); err != nil {
		return Answer{}, c.mailError(ctx, err)
	}
	err = client.Send(mails...)
	_ = client.Close() // the result of QUIT does not matter
	var failed *Error
	taken := 0
	for _, one := range mails {
		if !one.HasSendError() && err == nil || one.IsDelivered() {
			taken++
			continue
		}
		if !one.HasSendError() {
			continue
		}
		if e := c.mailError(ctx, one.SendError()); failed == nil || failed.Kind == Refused {
			failed = e // prefer an error that a retry may resolve
		}
	}
	if failed == nil && err != nil {
		failed = c.mailError(ctx, err)
	}
	if failed != nil && taken > 0 {
		s.opts.Log.Warn("mail refused for some recipients", "delivery_id", m.ID, "accepted", taken, "refused", len(mails)-taken, "error", failed.Error())
		return Answer{Text: fmt.Sprintf("Delivered to %d of %d recipients. %s", taken, len(mails), failed.Error())}, nil
	}
	if failed != nil {
		return Answer{}, failed
	}
	return Answer{Text: c.clean(mails[0].ServerResponse())}, nil
}

// mail returns a plain text mail. Its Message-ID contains the delivery ID, so that mail programs show a repeated mail once.
func (s *Sender) mail(config *smtp.Config, to string, m Message) (*mail.Msg, error) {
	out := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if err := out.FromFormat(models.CleanLine(config.FromName), config.FromAddress); err != nil {
		return nil, err
	}
	if err := out.To(to); err != nil {
		return nil, err
	}
	title, text := texts(mailStyle, m)
	out.Subject(title)
	if at := m.At; at.IsZero() {
		out.SetDateWithValue(s.opts.Clock())
	} else {
		out.SetDateWithValue(at) // the same for each attempt
	}
	out.SetMessageIDWithValue(idText(m.ID) + config.FromAddress[strings.LastIndexByte(config.FromAddress, '@'):])
	out.SetGenHeader("Auto-Submitted", "auto-generated")
	out.SetBodyString(mail.TypeTextPlain, text)
	return out, nil
}

// idText removes all characters from an ID that could end a header.
func idText(id string) string {
	return models.Truncate(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return -1
	}, id), 100)
}

func (s *Sender) mailClient(ctx context.Context, config *smtp.Config) (*mail.Client, error) {
	encrypted := s.opts.Relay.TLS(config.Host)
	implicit := config.Encryption == smtp.EncImplicitTLS || config.Encryption == smtp.EncAuto && config.Port == smtp.ImplicitTLSPort
	options := []mail.Option{
		mail.WithPort(int(config.Port)), mail.WithTimeout(s.opts.Timeout), mail.WithTLSConfig(encrypted), mail.WithoutNoop(),
		mail.WithDialContextFunc(func(dialing context.Context, network, address string) (net.Conn, error) {
			raw, err := s.opts.Relay.Dial(dialing, network, address)
			if err != nil {
				return nil, err
			}
			// The connection ends with ctx, however slowly the server sends.
			context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Unix(1, 0)); _ = raw.Close() })
			if implicit {
				return tls.Client(raw, encrypted), nil
			}
			return raw, nil
		}),
	}
	switch {
	case implicit: // the connection is already encrypted
		options = append(options, mail.WithTLSPolicy(mail.TLSOpportunistic))
	case config.RequireStartTLS:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	case config.Encryption == smtp.EncNone || !config.UseStartTLS:
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	default:
		options = append(options, mail.WithTLSPolicy(mail.TLSOpportunistic))
	}
	if config.ClientHost != "auto" {
		options = append(options, mail.WithHELO(config.ClientHost))
	}
	if config.Auth != smtp.AuthNone && config.Username != "" {
		login := map[string]mail.SMTPAuthType{"Plain": mail.SMTPAuthPlain, "CRAMMD5": mail.SMTPAuthCramMD5, "OAuth2": mail.SMTPAuthXOAUTH2}[config.Auth.String()]
		if login == "" {
			login = mail.SMTPAuthAutoDiscover
		}
		options = append(options, mail.WithSMTPAuth(login), mail.WithUsername(config.Username), mail.WithPassword(config.Password))
	}
	return mail.NewClient(config.Host, options...)
}

// mailError converts an error of the mail library.
func (c channel) mailError(ctx context.Context, err error) *Error {
	why := outbound.ServiceError(err)
	code, said := 0, ""
	if e, ok := errors.AsType[*mail.SendError](err); ok {
		code = e.ErrorCode()
		said, _, _ = strings.Cut(e.Error(), ", affected recipient")
	} else if e, ok := errors.AsType[*textproto.Error](err); ok {
		code, said = e.Code, e.Msg
	}
	said = c.clean(said)
	switch {
	case ctx.Err() != nil:
		return c.ended(ctx)
	case code >= 500:
		return &Error{Kind: Refused, Answer: said, text: with(c.label+" refused the mail", said)}
	case code >= 400:
		return &Error{Kind: Unavailable, Answer: said, text: with(c.label+" deferred the mail", said)}
	case why.Kind != outbound.KindProtocol:
		return c.unsent(ctx, why)
	}
	said = c.clean(err.Error())
	return &Error{Kind: Refused, Answer: said, text: with(c.label+" cannot be used with these settings", said)}
}
