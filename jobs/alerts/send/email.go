package send

import (
	"context"
	"fmt"
	netmail "net/mail"
	"strings"

	"github.com/nicholas-fedor/shoutrrr/pkg/services/email/smtp"
	"github.com/wneessen/go-mail"

	"linkwatch/models"
	"linkwatch/models/alerts"
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
	server := &mailServer{channel: c, config: config}
	client, err := s.mailClient(ctx, server)
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
		return Answer{}, server.mailError(ctx, err)
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
		if e := server.mailError(ctx, one.SendError()); failed == nil || failed.Kind == Refused {
			failed = e // prefer an error that a retry may resolve
		}
	}
	if failed == nil && err != nil {
		failed = server.mailError(ctx, err)
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

// mail returns a mail. Its Message-ID contains the delivery ID, so that mail programs show a repeated mail once.
// Mails of a group are a thread: all refer to the ID of the group, reply to the first mail and have its subject.
func (s *Sender) mail(config *smtp.Config, to string, m Message) (*mail.Msg, error) {
	out := mail.NewMsg(mail.WithNoDefaultUserAgent())
	name := models.Truncate(models.CleanLine(config.FromName), alerts.MaxSenderName)
	out.FromMailAddress(&netmail.Address{Name: name, Address: config.FromAddress}) // FromFormat loses quotes in the name
	if err := out.To(to); err != nil {
		return nil, err
	}
	title, text := texts(mailStyle, m)
	if m.Mail.First == "" {
		out.Subject(title)
	} else {
		out.Subject("Re: " + titleOf(m.Mail.Subject))
		text = title + "\n\n" + text
	}
	if at := m.At; at.IsZero() {
		out.SetDateWithValue(s.opts.Clock())
	} else {
		out.SetDateWithValue(at) // the same for each attempt
	}
	domain := config.FromAddress[strings.LastIndexByte(config.FromAddress, '@'):]
	out.SetMessageIDWithValue(idText(m.ID) + domain)
	if m.Group != "" {
		thread := "<" + idText(m.Group) + domain + ">"
		if m.Mail.First != "" {
			first := "<" + idText(m.Mail.First) + domain + ">"
			out.SetGenHeader(mail.HeaderInReplyTo, first)
			thread += " " + first
		}
		out.SetGenHeader(mail.HeaderReferences, thread)
	}
	out.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no automatic answers
	if settings := link(m.Mail.Settings); settings != "" {
		out.SetGenHeader(mail.HeaderListUnsubscribe, "<"+settings+">")
	}
	out.SetBodyString(mail.TypeTextPlain, text)
	if m.Mail.HTML != "" {
		out.AddAlternativeString(mail.TypeTextHTML, m.Mail.HTML)
	}
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
