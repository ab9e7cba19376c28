package send

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"linkwatch/models"
	"linkwatch/outbound"
)

const (
	maxSaid   = 500 // characters
	minSecret = 6   // bytes; anything shorter may be a word of the answer
)

// said is the service's answer in one line, without secrets.
func (c channel) said(e outbound.Exchange) string { return c.clean(plain(e.Body)) }

// anyURL is every URL: services repeat the message, and the links in it may be signed.
var anyURL = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*:\\?/\\?/[^\s"<>]*`)

// anySecret is what looks like the value of a secret, such as a token that a service gave out meanwhile.
var anySecret = regexp.MustCompile(`(?i)((?:token|key|secret|password|sig)(?:=|"\s*:\s*"))[^&\s"]+`)

// clean makes a text of others fit to store and to show.
func (c channel) clean(text string) string {
	text = models.CleanLine(text)
	for _, secret := range c.secrets { // longest first
		text = strings.ReplaceAll(text, secret, "…")
	}
	text = anySecret.ReplaceAllString(anyURL.ReplaceAllString(text, "…"), "$1…")
	return models.Truncate(text, maxSaid)
}

// plain is what an answer says: the message of a JSON error, the title or the text of a page, or the body as it is.
func plain(body []byte) string {
	if isHTML(body) {
		return pageText(body)
	}
	var object map[string]any
	if json.Unmarshal(body, &object) != nil {
		return string(body)
	}
	for _, key := range []string{"errorDescription", "description", "message", "error", "detail"} {
		if text, ok := object[key].(string); ok && text != "" {
			return text
		}
	}
	return string(body)
}

func isHTML(body []byte) bool {
	start := bytes.ToLower(bytes.TrimLeft(body[:min(len(body), 512)], " \t\r\n\uFEFF"))
	return bytes.HasPrefix(start, []byte("<!doctype html")) || bytes.HasPrefix(start, []byte("<html")) || bytes.HasPrefix(start, []byte("<head"))
}

// pageText is the title of a page, or its text if it has none.
func pageText(body []byte) string {
	var title, text strings.Builder
	in := ""
	for t := html.NewTokenizer(bytes.NewReader(body)); ; {
		switch t.Next() {
		case html.ErrorToken:
			if s := strings.TrimSpace(title.String()); s != "" {
				return s
			}
			return text.String()
		case html.StartTagToken:
			name, _ := t.TagName()
			in = string(name)
		case html.EndTagToken:
			in = ""
		case html.TextToken:
			switch in {
			case "title":
				title.Write(t.Text())
			case "script", "style":
			default:
				text.Write(t.Text())
				text.WriteByte(' ')
			}
		}
	}
}

// secrets are the parts of a channel's URL that no answer may show, in every form in which a service may repeat them:
// all but the scheme, the host of a server, the port and the names of parameters.
func secrets(u *url.URL, more ...string) []string {
	parts := append(strings.Split(u.Path, "/"), more...)
	if u.User != nil {
		name := u.User.Username()
		password, _ := u.User.Password()
		parts = append(parts, name, password, name+":"+password, base64.StdEncoding.EncodeToString([]byte(name+":"+password)))
	}
	for _, values := range u.Query() {
		parts = append(parts, values...)
	}
	if !strings.Contains(u.Host, ".") {
		parts = append(parts, u.Host) // a key or an id, and no server
	}
	for _, part := range parts[:len(parts):len(parts)] {
		parts = append(parts, strings.FieldsFunc(part, func(r rune) bool { return strings.ContainsRune("/-:,", r) })...)
		parts = append(parts, strings.ReplaceAll(part, "-", "/")) // as Slack's webhooks
	}
	for _, part := range parts[:len(parts):len(parts)] {
		quoted, _ := json.Marshal(part) // a string always has a JSON
		parts = append(parts, models.CleanLine(part), url.QueryEscape(part), url.PathEscape(part), html.EscapeString(part), strings.Trim(string(quoted), `"`))
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return len(s) < minSecret })
	slices.SortFunc(parts, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(parts)
}
