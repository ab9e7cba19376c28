// Package useragent classifies devices by their User-Agent header.
package useragent

import (
	"strings"

	"github.com/mileusna/useragent"
)

// Family is a kind of device.
type Family uint8

// The families. Bot is every client that identifies itself as one. Other is unknown
// clients and tools such as curl.
const (
	Other Family = iota
	Desktop
	Mobile
	Tablet
	Bot
)

// bots are parts of the names of bots, in lower case, for bots whose User-Agent has no URL.
// Programs that fetch a preview for a chat are bots too, because no person sees the page.
var bots = []string{
	"bot", "crawl", "spider", "slurp", "preview", "externalhit", "facebookcatalog", "meta-external", "whatsapp/",
	"embedly", "quora link", "lighthouse", "headless", "uptime", "monitoring", "feedfetcher", "google-read-aloud",
	"mastodon", "chatgpt-user", "perplexity-user", "claude-user", "linkwatch/",
}

// Parse returns the family of a User-Agent header. It accepts any text. The time depends
// on the length, which the caller must limit.
func Parse(userAgent string) Family {
	ua := useragent.Parse(userAgent)
	folded := strings.ReplaceAll(strings.ToLower(userAgent), "cubot", "") // a brand of phones
	if ua.Bot {
		return Bot
	}
	for _, part := range bots {
		if strings.Contains(folded, part) {
			return Bot
		}
	}
	switch {
	case ua.Tablet, androidTablet(folded):
		return Tablet
	case ua.Mobile:
		return Mobile
	case ua.Desktop:
		return Desktop
	}
	return Other
}

// androidTablet reports whether a lower-case User-Agent is that of a browser on an Android
// tablet. Browsers on phones have "mobile" in it.
func androidTablet(folded string) bool {
	return strings.Contains(folded, "android") && strings.HasPrefix(folded, "mozilla/") && !strings.Contains(folded, "mobile")
}
