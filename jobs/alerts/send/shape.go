package send

import (
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"linkwatch/models"
)

const (
	maxTitle = 200  // characters
	maxText  = 4000 // characters
)

// style is the text format of a service. Its limits are below the limits of the service, so that no message is refused for its length.
type style struct {
	title  int               // bytes of a separate title; 0 if the title is the first line of the text
	text   int               // bytes of the whole text
	escape func(rune) string // escapes one character of markup; nil if the service has no markup
	dense  bool              // no blank lines
}

// styles are the styles by kind. Other services get plainStyle. Limits of the services: Telegram 4,096 bytes, Discord 2,000 characters,
// Pushover 1,024 characters, WeCom 2,048 bytes. Slack gets one block for each line.
var styles = map[string]style{
	"bark":       {title: maxTitle, text: 2000},
	"discord":    {title: maxTitle, text: 1900, escape: markdown},
	"generic":    {title: maxTitle, text: 4000},
	"googlechat": {text: 3900, escape: angles},
	"gotify":     {title: maxTitle, text: 4000},
	"mattermost": {text: 3900, escape: markdown},
	"ntfy":       {title: maxTitle, text: 3900},
	"opsgenie":   {title: 130, text: 4000},
	"pagerduty":  {title: maxTitle, text: 4000},
	"pushover":   {title: maxTitle, text: 1000},
	"rocketchat": {text: 3900, escape: markdown},
	"slack":      {title: maxTitle, text: 2900, escape: slack, dense: true},
	"teams":      {title: maxTitle, text: 4000, escape: teams},
	"telegram":   {text: 4000},
}

var plainStyle = style{text: 1900}

// texts returns the title and the text of a message in a style. The URL is the last line and never truncated. The title is not empty,
// unless the style has no separate title.
func texts(s style, m Message) (title, text string) {
	title = titleOf(m.Title)
	text = models.Truncate(models.CleanText(m.Text), maxText)
	if s.dense {
		text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }), "\n")
	}
	if s.escape != nil {
		title, text = mention.ReplaceAllString(title, "@\u200b$1"), mention.ReplaceAllString(text, "@\u200b$1")
	}
	link := link(m.URL)
	gap := "\n\n"
	if s.dense {
		gap = "\n"
	}
	if s.title == 0 {
		text, title = strings.TrimSpace(title+gap+text), ""
	} else {
		title = cut(title, s.title, s.escape)
	}
	if link == "" {
		return title, fallback(cut(text, s.text, s.escape), title)
	}
	if s.escape != nil && s.escape('&') != "&" {
		link = strings.ReplaceAll(link, "&", "&amp;")
	}
	return title, strings.TrimSpace(cut(text, s.text-len(link)-len(gap), s.escape) + gap + link)
}

// titleOf returns a title in one line, or the name of the program if there is none.
func titleOf(raw string) string {
	return fallback(models.Truncate(models.CleanLine(raw), maxTitle), "Linkwatch")
}

// fallback returns text, or other if text is empty. Most services refuse a message without a text.
func fallback(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// cut escapes text and truncates the result to n bytes.
func cut(text string, n int, escape func(rune) string) string {
	const more = "…"
	var b strings.Builder
	end := 0 // where to cut so that more fits
	for i, r := range text {
		one := text[i : i+utf8.RuneLen(r)]
		if escape != nil {
			one = escape(r)
		}
		if b.Len()+len(one) > n {
			return b.String()[:end] + more
		}
		b.WriteString(one)
		if b.Len() <= n-len(more) {
			end = b.Len()
		}
	}
	return b.String()
}

// link returns the URL of a message if it is http or https and contains no character that could end it early, otherwise "".
func link(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || len(raw) > 1000 || strings.ContainsAny(raw, " <>\"'`|\\") || models.CleanLine(raw) != raw {
		return ""
	}
	return raw
}

// mention matches mentions of everyone in a room. A zero-width space after the @ disables them.
var mention = regexp.MustCompile(`(?i)@(everyone|here|channel|all)\b`)

func markdown(r rune) string {
	if strings.ContainsRune("\\`*~[]<>|", r) {
		return "\\" + string(r)
	}
	return string(r)
}

func slack(r rune) string {
	switch r {
	case '&':
		return "&amp;"
	case '<':
		return "&lt;"
	case '>':
		return "&gt;"
	}
	return string(r)
}

// teams escapes text of cards, which support Markdown and HTML.
func teams(r rune) string {
	if strings.ContainsRune("&<>", r) {
		return slack(r)
	}
	return markdown(r)
}

// angles replaces angle brackets, which start links and mentions in Google Chat and cannot be escaped.
func angles(r rune) string {
	switch r {
	case '<':
		return "‹"
	case '>':
		return "›"
	}
	return string(r)
}

// shape returns the text and the parameters for the library. Parameters take precedence over those in the URL.
func shape(c channel, m Message) (string, types.Params) {
	s, ok := styles[c.kind]
	if !ok {
		s = plainStyle
	}
	group := idText(cmp.Or(m.Group, m.ID))
	title, text := texts(s, m)
	params := types.Params{}
	if title != "" {
		params["title"] = title
	}
	switch c.kind {
	case "discord":
		params["splitlines"] = "no"
	case "generic":
		if c.url.Query().Get("template") == "" { // without a template only the text is sent
			return title + "\n\n" + text, types.Params{}
		}
	case "gotify":
		if !m.At.IsZero() {
			params["date"] = m.At.UTC().Format(time.RFC3339)
		}
	case "ntfy":
		if at := link(m.URL); at != "" {
			params["click"] = at
		}
	case "opsgenie":
		params["alias"], params["source"] = group, "Linkwatch"
	case "pagerduty":
		return title, pagerduty(m, group, text)
	case "telegram":
		params = types.Params{"title": "", "parsemode": "None", "preview": "no"}
	}
	return text, params
}

// pagerduty returns the parameters of an event. A resolved message resolves the incident of its group.
func pagerduty(m Message, group, text string) types.Params {
	details, _ := json.Marshal(map[string]string{"text": text, "event": m.Event}) // strings cannot fail
	severity := m.Severity
	switch severity {
	case "critical", "warning", "info":
	default:
		severity = "error"
	}
	action := "trigger"
	if m.Resolved {
		action = "resolve"
	}
	params := types.Params{
		"severity": severity, "source": "Linkwatch", "action": action, "dedup_key": group, "details": string(details), "client": "Linkwatch",
	}
	if at := link(m.URL); at != "" {
		params["client_url"] = at
	}
	return params
}
