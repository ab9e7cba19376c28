package alerts

import (
	"net"
	"net/url"
	"regexp"
	"strings"
)

// The forms of what services give out.
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

func smtpURL(v values) (string, error) {
	host := strings.Trim(v.of["host"], "[]")
	if !hostName.MatchString(host) && net.ParseIP(host) == nil {
		return "", v.invalid("host", "must be the name or the IP address of a server, such as smtp.example.com")
	}
	from, err := v.emails("from")
	if err != nil {
		return "", err
	}
	if len(from) > 1 {
		return "", v.invalid("from", "must be one e-mail address")
	}
	to, err := v.emails("to")
	if err != nil {
		return "", err
	}
	if v.of["user"] == "" && v.of["password"] != "" {
		return "", v.invalid("user", "is missing; give the user of the password")
	}
	port, encryption, require := v.of["port"], "ExplicitTLS", "yes"
	switch v.of["encryption"] {
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
		"encryption", encryption, "requirestarttls", require, "fromaddress", from[0], "toaddresses", strings.Join(to, ","))}
	if v.of["user"] != "" {
		u.User = url.UserPassword(v.of["user"], v.of["password"])
	}
	return u.String(), nil
}

func slackURL(v values) (string, error) {
	hook, token := v.of["webhook"], v.of["token"]
	switch {
	case hook == "" && token == "":
		return "", v.invalid("webhook", "is missing; give it or a bot token")
	case hook != "" && token != "":
		return "", v.invalid("token", "cannot be used beside a webhook URL; leave one of them blank")
	case hook != "":
		u, err := v.web("webhook")
		if err != nil {
			return "", err
		}
		part := slackHook.FindStringSubmatch(u.Path)
		if u.Host != "hooks.slack.com" || part == nil {
			return "", v.invalid("webhook", "must be the URL that Slack shows, such as https://hooks.slack.com/services/T…/B…/…")
		}
		return "slack://hook:" + strings.Join(part[1:], "-") + "@webhook", nil
	}
	part := slackBot.FindStringSubmatch(token)
	if part == nil {
		return "", v.invalid("token", "must be a bot token of Slack, which begins with xoxb-")
	}
	channel := strings.TrimPrefix(v.of["channel"], "#")
	if !slackChannel.MatchString(channel) {
		return "", v.invalid("channel", "must be the id of a channel, such as C0123456789")
	}
	return "slack://" + part[1] + ":" + strings.Join(part[2:], "-") + "@" + channel, nil
}

func discordURL(v values) (string, error) {
	u, err := v.web("webhook")
	if err != nil {
		return "", err
	}
	part := discordHook.FindStringSubmatch(u.Path)
	host := strings.TrimPrefix(strings.TrimPrefix(u.Host, "ptb."), "canary.")
	if host != "discord.com" && host != "discordapp.com" || part == nil {
		return "", v.invalid("webhook", "must be the URL that Discord shows, such as https://discord.com/api/webhooks/1234/…")
	}
	to := url.URL{Scheme: "discord", User: url.User(part[2]), Host: part[1], RawQuery: query("thread_id", u.Query().Get("thread_id"))}
	return to.String(), nil
}

func telegramURL(v values) (string, error) {
	part := telegramToken.FindStringSubmatch(strings.TrimSpace(v.of["token"]))
	if part == nil {
		return "", v.invalid("token", "must be the token of a bot, such as 123456:ABC…")
	}
	chats, err := v.list("chats")
	if err != nil {
		return "", err
	}
	for _, chat := range chats {
		if !telegramChat.MatchString(chat) {
			return "", v.invalid("chats", "must be chat ids such as -1001234567890, or names of channels such as @alerts")
		}
	}
	u := url.URL{Scheme: "telegram", User: url.UserPassword(part[1], part[2]), Host: "telegram", RawQuery: query("chats", strings.Join(chats, ","))}
	return u.String(), nil
}

func teamsURL(v values) (string, error) {
	u, err := v.web("webhook")
	if err != nil {
		return "", err
	}
	if u.Scheme != "https" {
		return "", v.invalid("webhook", "must begin with https://")
	}
	return "teams+" + u.String(), nil
}

func mattermostURL(v values) (string, error) {
	u, err := v.server("webhook")
	if err != nil {
		return "", err
	}
	part := webhookToken.FindStringSubmatch(u.Path)
	if part == nil {
		return "", v.invalid("webhook", "must be the URL that Mattermost shows, such as https://mattermost.example.com/hooks/…")
	}
	path := "/" + part[1]
	if channel := v.of["channel"]; channel != "" {
		if !channelName.MatchString(channel) {
			return "", v.invalid("channel", "must be the name of a channel, such as alerts")
		}
		path += "/" + channel
	}
	to := url.URL{Scheme: "mattermost", Host: u.Host, Path: path, RawQuery: query("disabletls", plain(u))}
	return to.String(), nil
}

func rocketchatURL(v values) (string, error) {
	u, err := v.server("webhook")
	if err != nil {
		return "", err
	}
	part := rocketTokens.FindStringSubmatch(u.Path)
	if part == nil || u.Scheme != "https" {
		return "", v.invalid("webhook", "must be the URL that Rocket.Chat shows, such as https://chat.example.com/hooks/…/…")
	}
	path := "/" + part[1] + "/" + part[2]
	if channel := strings.TrimPrefix(v.of["channel"], "#"); channel != "" {
		if !channelName.MatchString(channel) {
			return "", v.invalid("channel", "must be the name of a channel such as alerts, or of a user such as @anna")
		}
		path += "/" + channel
	}
	to := url.URL{Scheme: "rocketchat", Host: u.Host, Path: path}
	return to.String(), nil
}

func googlechatURL(v values) (string, error) {
	u, err := v.web("webhook")
	if err != nil {
		return "", err
	}
	key, token := u.Query().Get("key"), u.Query().Get("token")
	if u.Host != "chat.googleapis.com" || !googleSpace.MatchString(u.Path) || key == "" || token == "" {
		return "", v.invalid("webhook", "must be the whole URL that Google Chat shows, with its key and token")
	}
	to := url.URL{Scheme: "googlechat", Host: u.Host, Path: u.Path, RawQuery: query("key", key, "token", token)}
	return to.String(), nil
}
