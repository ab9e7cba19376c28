package send

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/discord"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/googlechat"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/lark"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/matrix"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/mattermost"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/rocketchat"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/signal"
	slackservice "github.com/nicholas-fedor/shoutrrr/pkg/services/chat/slack"
	teamsservice "github.com/nicholas-fedor/shoutrrr/pkg/services/chat/teams"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/telegram"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/wecom"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/zulip"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/incident/opsgenie"
	pagerdutyservice "github.com/nicholas-fedor/shoutrrr/pkg/services/incident/pagerduty"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/bark"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/gotify"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/ifttt"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/join"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/ntfy"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/pushbullet"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/pushover"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/specialized/notifiarr"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"
)

// services are the services of shoutrrr by scheme, without smtp, which Linkwatch sends itself. The router of the library would
// link its generic service: see genericService.
var services = map[string]func() types.Service{
	"bark":       func() types.Service { return &bark.Service{} },
	"discord":    func() types.Service { return &discord.Service{} },
	"generic":    func() types.Service { return &genericService{} },
	"googlechat": func() types.Service { return &googlechat.Service{} },
	"gotify":     func() types.Service { return &gotify.Service{} },
	"hangouts":   func() types.Service { return &googlechat.Service{} },
	"ifttt":      func() types.Service { return &ifttt.Service{} },
	"join":       func() types.Service { return &join.Service{} },
	"lark":       func() types.Service { return &lark.Service{} },
	"matrix":     func() types.Service { return &matrix.Service{} },
	"mattermost": func() types.Service { return &mattermost.Service{} },
	"notifiarr":  func() types.Service { return &notifiarr.Service{} },
	"ntfy":       func() types.Service { return &ntfy.Service{} },
	"opsgenie":   func() types.Service { return &opsgenie.Service{} },
	"pagerduty":  func() types.Service { return &pagerdutyservice.Service{} },
	"pushbullet": func() types.Service { return &pushbullet.Service{} },
	"pushover":   func() types.Service { return &pushover.Service{} },
	"rocketchat": func() types.Service { return &rocketchat.Service{} },
	"signal":     func() types.Service { return &signal.Service{} },
	"slack":      func() types.Service { return &slackservice.Service{} },
	"teams":      func() types.Service { return &teamsservice.Service{} },
	"telegram":   func() types.Service { return &telegram.Service{} },
	"wecom":      func() types.Service { return &wecom.Service{} },
	"zulip":      func() types.Service { return &zulip.Service{} },
}

var errUnknownService = errors.New("unknown service")

// locate returns the service of a shoutrrr URL. A scheme such as teams+https means that the rest is the URL of the service itself.
func locate(rawURL string) (types.Service, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, err
	}
	scheme, _, custom := strings.Cut(u.Scheme, "+")
	newService, ok := services[scheme]
	if !ok {
		return nil, errUnknownService
	}
	service := newService()
	if custom {
		c, ok := service.(types.CustomURLService)
		if !ok {
			return nil, fmt.Errorf("%s: no service URL is possible", scheme)
		}
		if u, err = c.GetConfigURLFromCustom(u); err != nil {
			return nil, fmt.Errorf("%s: %w", scheme, err)
		}
	}
	return service, service.Initialize(u, nil)
}
