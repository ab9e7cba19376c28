package shortlinks

import (
	"strings"

	"github.com/mileusna/useragent"

	"linkwatch/models"
)

// device is the family of a visitor's device.
type device uint8

// The families. A bot is whatever says that it is one; tools that can do
// anything, such as curl, and what nobody knows are other.
const (
	other device = iota
	desktop
	mobile
	tablet
	bot
)

// bots are parts of the names that bots give themselves, in lower case, beyond
// those that have an address in their User-Agent. Those that only fetch a
// preview for a chat are bots too: nobody has seen the page yet.
var bots = []string{
	"bot", "crawl", "spider", "slurp", "preview", "externalhit", "facebookcatalog", "meta-external", "whatsapp/",
	"embedly", "quora link", "lighthouse", "headless", "uptime", "monitoring", "feedfetcher", "google-read-aloud",
	"mastodon", "chatgpt-user", "perplexity-user", "claude-user", "linkwatch/",
}

// deviceOf is the device of a User-Agent.
func deviceOf(userAgent string) device {
	ua := useragent.Parse(userAgent)
	folded := strings.ReplaceAll(strings.ToLower(userAgent), "cubot", "") // a maker of phones
	if ua.Bot {
		return bot
	}
	for _, part := range bots {
		if strings.Contains(folded, part) {
			return bot
		}
	}
	switch {
	case ua.Tablet, androidTablet(folded):
		return tablet
	case ua.Mobile:
		return mobile
	case ua.Desktop:
		return desktop
	}
	return other
}

// androidTablet says whether a browser on Android is on a tablet: those on
// phones say that they are mobile.
func androidTablet(folded string) bool {
	return strings.Contains(folded, "android") && strings.HasPrefix(folded, "mozilla/") && !strings.Contains(folded, "mobile")
}

// hostOf returns the canonical host of a Referer, without the "www." that many
// sites have as well as not; "" if it has none.
func hostOf(referrer string) string {
	u, err := models.ParseURL("", referrer)
	if err != nil {
		return ""
	}
	host, ok := models.CanonicalHost(u.Host)
	if !ok || strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789-._:") != "" { // no host of a real site, as "*" is
		return ""
	}
	if bare := strings.TrimPrefix(host, "www."); strings.Contains(bare, ".") {
		return bare
	}
	return host
}

// visitors knows the visitors' headers of late, for most come again and again.
type visitors struct {
	devices map[string]device
	hosts   map[string]string
}

// maxVisitors is how many headers of either kind are known, each of maxHeader at most.
const maxVisitors = 4096

func newVisitors() visitors {
	return visitors{devices: map[string]device{}, hosts: map[string]string{}}
}

func (v visitors) device(userAgent string) device { return known(v.devices, userAgent, deviceOf) }

func (v visitors) referrer(referrer string) string {
	if referrer == "" {
		return ""
	}
	return known(v.hosts, referrer, hostOf)
}

// known is what find makes of s. A full map starts anew: the headers that come
// often are soon there again.
func known[T any](m map[string]T, s string, find func(string) T) T {
	if t, ok := m[s]; ok {
		return t
	}
	if len(m) >= maxVisitors {
		clear(m)
	}
	s = strings.Clone(s) // it may be a piece of a long header
	t := find(s)
	m[s] = t
	return t
}
