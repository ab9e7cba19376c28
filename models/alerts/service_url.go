package alerts

import (
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"linkwatch/models"
)

// MaxSenderName is the maximum length of the name of the sender of emails, in characters.
const MaxSenderName = 100

// The formats of credentials, names and URLs of services.
var (
	hostName      = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)
	slackBot      = regexp.MustCompile(`^(xox[bp])-([A-Z0-9]{9,})-([A-Z0-9]{9,})-([A-Za-z0-9]{24,})$`)
	slackHook     = regexp.MustCompile(`^/services/([A-Z0-9]{9,})/([A-Z0-9]{9,})/([A-Za-z0-9]{24,})/?$`)
	slackChannel  = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)
	discordHook   = regexp.MustCompile(`^/api(?:/v[0-9]+)?/webhooks/([0-9]+)/([A-Za-z0-9_-]+)/?$`)
	telegramToken = regexp.MustCompile(`^([0-9]+):([A-Za-z0-9_-]+)$`)
	telegramChat  = regexp.MustCompile(`^(@[A-Za-z0-9_]+|-?[0-9]+)(:[0-9]+)?$`)
	gotifyToken   = regexp.MustCompile(`^A[A-Za-z0-9._-]{14}$`)
	matrixRoom    = regexp.MustCompile(`^[#!][^/,?%]+$`)
	pagerdutyKey  = regexp.MustCompile(`^[A-Fa-f0-9]{32}$`)
	pushoverKey   = regexp.MustCompile(`^[A-Za-z0-9]{30}$`)
	webhookToken  = regexp.MustCompile(`^/hooks/([A-Za-z0-9_-]+)/?$`)
	rocketTokens  = regexp.MustCompile(`^/hooks/([A-Za-z0-9_-]+)/([A-Za-z0-9_-]+)/?$`)
	channelName   = regexp.MustCompile(`^@?[^/?#@%\s]+$`)
	googleSpace   = regexp.MustCompile(`^/v1/spaces/[A-Za-z0-9_-]+/messages$`)
	opsgenieKey   = regexp.MustCompile(`^[A-Za-z0-9-]{16,64}$`)
)

func smtpURL(v *values) string {
	host := strings.Trim(v.byName["host"], "[]")
	if !hostName.MatchString(host) && net.ParseIP(host) == nil {
		v.invalid("host", "must be a host name or an IP address, such as smtp.example.com")
	}
	from := v.byName["from"]
	if !isEmail(from) {
		v.invalid("from", "must be an email address such as linkwatch@example.com")
	}
	name := v.byName["from_name"]
	if models.Runes(name) > MaxSenderName {
		v.invalid("from_name", "must be at most "+strconv.Itoa(MaxSenderName)+" characters")
	}
	to := v.emails("to")
	if v.byName["user"] == "" && v.byName["password"] != "" {
		v.invalid("user", "is required with a password")
	}
	port, encryption, require := v.byName["port"], "ExplicitTLS", "yes"
	switch v.byName["encryption"] {
	case "tls":
		encryption, require = "ImplicitTLS", ""
		if port == "" {
			port = "465"
		}
	case "auto":
		require = ""
	}
	if port == "" {
		port = "587"
	}
	u := url.URL{Scheme: "smtp", Host: net.JoinHostPort(host, port), Path: "/", RawQuery: query(
		"encryption", encryption, "requirestarttls", require, "fromaddress", from, "fromname", name,
		"toaddresses", strings.Join(to, ","))}
	if v.byName["user"] != "" {
		u.User = url.UserPassword(v.byName["user"], v.byName["password"])
	}
	return u.String()
}

func slackURL(v *values) string {
	hook, token := v.byName["webhook"], v.byName["token"]
	switch {
	case hook == "" && token == "":
		v.invalid("webhook", "or a bot token is required")
		return ""
	case hook != "" && token != "":
		v.invalid("token", "cannot be combined with a webhook URL. Leave one of them blank")
		return ""
	case hook != "":
		u := v.httpURL("webhook")
		part := slackHook.FindStringSubmatch(u.Path)
		if u.Host != "hooks.slack.com" || part == nil {
			v.invalid("webhook", "must be the URL that Slack shows, such as https://hooks.slack.com/services/T…/B…/…")
			return ""
		}
		return "slack://hook:" + strings.Join(part[1:], "-") + "@webhook"
	}
	part := slackBot.FindStringSubmatch(token)
	if part == nil {
		v.invalid("token", "must be a Slack bot token, which starts with xoxb-")
	}
	channel := strings.TrimPrefix(v.byName["channel"], "#")
	if !slackChannel.MatchString(channel) {
		v.invalid("channel", "must be a channel ID such as C0123456789")
	}
	if part == nil {
		return ""
	}
	return "slack://" + part[1] + ":" + strings.Join(part[2:], "-") + "@" + channel
}

func discordURL(v *values) string {
	u := v.httpURL("webhook")
	part := discordHook.FindStringSubmatch(u.Path)
	host := strings.TrimPrefix(strings.TrimPrefix(u.Host, "ptb."), "canary.")
	if host != "discord.com" && host != "discordapp.com" || part == nil {
		v.invalid("webhook", "must be the URL that Discord shows, such as https://discord.com/api/webhooks/1234/…")
		return ""
	}
	to := url.URL{Scheme: "discord", User: url.User(part[2]), Host: part[1], RawQuery: query("thread_id", u.Query().Get("thread_id"))}
	return to.String()
}

func telegramURL(v *values) string {
	part := telegramToken.FindStringSubmatch(strings.TrimSpace(v.byName["token"]))
	if part == nil {
		v.invalid("token", "must be a bot token such as 123456:ABC…")
	}
	if !telegramChat.MatchString(v.byName["chat"]) {
		v.invalid("chat", "must be a chat ID such as -1001234567890, or a channel name such as @alerts")
	}
	if part == nil {
		return ""
	}
	u := url.URL{Scheme: "telegram", User: url.UserPassword(part[1], part[2]), Host: "telegram", RawQuery: query("chats", v.byName["chat"])}
	return u.String()
}

func teamsURL(v *values) string {
	u := v.httpURL("webhook")
	if u.Scheme != "https" {
		v.invalid("webhook", "must start with https://")
	}
	return "teams+" + u.String()
}

func mattermostURL(v *values) string {
	u := v.serverURL("webhook")
	part := webhookToken.FindStringSubmatch(u.Path)
	if part == nil {
		v.invalid("webhook", "must be the URL that Mattermost shows, such as https://mattermost.example.com/hooks/…")
	}
	path := ""
	if part != nil {
		path = "/" + part[1]
	}
	if channel := v.byName["channel"]; channel != "" {
		if !channelName.MatchString(channel) {
			v.invalid("channel", "must be a channel name such as alerts")
		}
		path += "/" + channel
	}
	to := url.URL{Scheme: "mattermost", Host: u.Host, Path: path, RawQuery: query("disabletls", disableTLS(u))}
	return to.String()
}

func rocketchatURL(v *values) string {
	u := v.serverURL("webhook")
	part := rocketTokens.FindStringSubmatch(u.Path)
	if part == nil || u.Scheme != "https" {
		v.invalid("webhook", "must be the URL that Rocket.Chat shows, such as https://chat.example.com/hooks/…/…")
	}
	path := ""
	if part != nil {
		path = "/" + part[1] + "/" + part[2]
	}
	if channel := strings.TrimPrefix(v.byName["channel"], "#"); channel != "" {
		if !channelName.MatchString(channel) {
			v.invalid("channel", "must be a channel name such as alerts, or a user name such as @anna")
		}
		path += "/" + channel
	}
	to := url.URL{Scheme: "rocketchat", Host: u.Host, Path: path}
	return to.String()
}

func googlechatURL(v *values) string {
	u := v.httpURL("webhook")
	key, token := u.Query().Get("key"), u.Query().Get("token")
	if u.Host != "chat.googleapis.com" || !googleSpace.MatchString(u.Path) || key == "" || token == "" {
		v.invalid("webhook", "must be the complete URL that Google Chat shows, with its key and token")
	}
	to := url.URL{Scheme: "googlechat", Host: u.Host, Path: u.Path, RawQuery: query("key", key, "token", token)}
	return to.String()
}
