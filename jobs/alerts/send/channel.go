package send

import (
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/discord"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/matrix"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/mattermost"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/telegram"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/gotify"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/ntfy"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/pushbullet"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"linkwatch/models"
	"linkwatch/models/alerts"
)

const (
	maxURL      = 8192 // bytes
	officeHooks = ".webhook.office.com"
)

type channel struct {
	kind     string // as in alerts.Channel
	label    string // name of the service at the start of a sentence
	raw      string // shoutrrr URL
	workflow string // URL of a Teams workflow, which shoutrrr does not support; "" if none
	url      *url.URL
	secrets  []string
}

// Check parses a shoutrrr URL, or the http:// or https:// URL of a webhook, and returns its kind. It makes no connection. The error is a
// *models.Error that contains no part of the URL.
func (s *Sender) Check(rawURL string) (kind string, err error) {
	c, err := s.parse(rawURL)
	return c.kind, err
}

func (s *Sender) parse(rawURL string) (channel, error) {
	if len(rawURL) > maxURL {
		return channel{}, models.TooLong("url", maxURL, "bytes")
	}
	if !utf8.ValidString(rawURL) || strings.ContainsFunc(rawURL, unicode.IsControl) {
		return channel{}, models.Invalid("url", "must not contain line breaks or other control characters")
	}
	u, err := url.Parse(rawURL)
	if err != nil || u.Scheme == "" || u.Opaque != "" {
		return channel{}, models.Invalid("url", "must be a URL such as ntfy://ntfy.sh/topic. Write special characters of a password as %%40")
	}
	scheme, custom, _ := strings.Cut(u.Scheme, "+")
	c := channel{kind: scheme, raw: rawURL, url: u}
	switch {
	case scheme == "hangouts":
		c.kind = "googlechat"
	case scheme == "http" || scheme == "https":
		c.kind = alerts.KindWebhook
	case scheme == "pagerduty" && u.Port() == "": // the library defaults to port 0
		if u.Host == "" {
			u.Host = "events.pagerduty.com"
		}
		u.Host += ":443"
		c.raw = u.String()
	case scheme == "teams" && custom == "https" && !strings.HasSuffix(u.Hostname(), officeHooks):
		c.workflow = strings.TrimPrefix(rawURL, "teams+")
	}
	if c.label = "The service"; c.kind == alerts.KindWebhook {
		c.label = "The webhook"
	} else if known, ok := alerts.ServiceOf(c.kind); ok {
		c.label = known.Label
	}
	if c.kind == "smtp" {
		c.label = "The mail server"
	}
	if err := s.inspect(c); err != nil {
		return channel{}, err
	}
	c.secrets = secrets(u)
	return c, nil
}

// inspect validates a channel without connecting to its service.
func (s *Sender) inspect(c channel) (err error) {
	defer func() {
		if recover() != nil { // a panic of the library, whose text may contain the URL
			err = incomplete()
		}
	}()
	host := c.url.Hostname()
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		host = "127.0.0.1"
	}
	if ip, err := netip.ParseAddr(host); err == nil && !s.opts.Relay.Allows(ip) {
		return models.Invalid("url", "points to a private address. Use a public one, or allow it in OUTBOUND_ALLOW_CIDRS")
	}
	for key, values := range c.url.Query() {
		switch strings.ToLower(key) {
		case "skiptlsverify", "insecureskipverify", "disabletlsverification":
			if v := strings.ToLower(values[0]); v == "yes" || v == "true" || v == "1" || v == "y" {
				return models.Invalid("url", "must not disable certificate verification. Remove that parameter")
			}
		}
	}
	switch {
	case c.kind == alerts.KindWebhook || c.workflow != "":
		if c.url.Hostname() == "" || c.url.User != nil || c.url.Fragment != "" {
			return models.Invalid("url", "must have a host, and must not contain a user name, a password or #")
		}
		return nil
	case c.kind == "smtp":
		_, err := mailConfig(c)
		return err
	case c.kind == "logger":
		return unknown()
	}
	recipients, err := c.dry()
	switch {
	case errors.Is(err, errUnknownService):
		return unknown()
	case err != nil:
		return incomplete()
	case recipients != 1:
		// If one recipient refused a message, every retry would go to all of them.
		return models.Invalid("url", "must name one chat, room or device. Add a channel for each")
	}
	return nil
}

func incomplete() error {
	return models.Invalid("url", "is incomplete or not a URL of this service. Compare it with the service's documentation, or use its form")
}

func unknown() error {
	return models.Invalid("url", "has an unknown scheme. Use https://, or a service such as smtp, slack, ntfy or telegram")
}

// dry parses the URL with the library and returns the number of recipients. Matrix and Gotify are parsed here, because the library connects
// to Matrix.
func (c channel) dry() (recipients int, err error) {
	u := *c.url
	switch c.kind {
	case "matrix":
		config := &matrix.Config{}
		err := config.SetURL(&u)
		if err == nil && (config.Host == "" || config.Password == "") {
			err = errors.New("missing host or password")
		}
		return len(config.Rooms), err
	case "gotify":
		config := &gotify.Config{}
		err := config.SetURL(&u)
		if err == nil && (config.Host == "" || !(&gotify.DefaultValidator{}).ValidateToken(config.Token)) {
			err = errors.New("missing host or token")
		}
		return 1, err
	}
	service, err := locate(c.raw)
	switch s := service.(type) {
	case *telegram.Service:
		return len(s.GetConfig().Chats), err
	case *pushbullet.Service:
		return len(s.Config.Targets), err
	}
	return 1, err
}

// service returns the library's service, which sends with t. Services that do not accept a transport use http.DefaultTransport; see
// outbound.Relay.
func (c channel) service(t http.RoundTripper) (types.Service, error) {
	service, err := locate(c.raw)
	if err != nil {
		return nil, err
	}
	switch s := service.(type) {
	case *discord.Service:
		s.HTTPClient, s.Sleeper = &http.Client{Transport: t}, awake{}
	case *gotify.Service:
		s.GetHTTPClient().Transport = t
	case *mattermost.Service:
		s.GetHTTPClient().Transport = t
	case *ntfy.Service:
		s.SetHTTPClient(&http.Client{Transport: t})
	}
	return service, nil
}

// awake makes the retries of a library immediate. The Relay refuses them.
type awake struct{}

// Sleep implements discord.Sleeper.
func (awake) Sleep(time.Duration) {}
