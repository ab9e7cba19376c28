// Package useragent classifies clients by their User-Agent header.
package useragent

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mileusna/useragent"
)

// Family is a kind of client.
type Family uint8

// The families. Other is unknown clients and tools such as curl, which people use.
const (
	Other Family = iota
	Desktop
	Mobile
	Tablet
	Bot     // a crawler, monitor or other robot that identifies itself
	Preview // fetches the preview of a link for a chat, an email or a document
)

// Automatic reports whether no person sees the response.
func (f Family) Automatic() bool { return f == Bot || f == Preview }

// previews are parts of the User-Agents of link previews, in lower case.
var previews = []string{
	"preview", // SkypeUriPreview (also Teams), BingPreview, Google Web Preview, ZulipURLPreview, Snap URL Preview, …
	"unfurl", "onebox", "embedly", "iframely", "opengraph", "flipboardproxy",
	// Social networks and chats. Facebook's is also used by iMessage, LINE and KakaoTalk.
	"facebookexternalhit", "meta-externalhit", "meta-externalfetcher", "facebot", "twitterbot", "linkedinbot", "redditbot",
	"pinterestbot", "vkshare", "odklbot", "cardyb", "mastodon/", "lemmy/", "misskey/", "summalybot",
	"slackbot", "slack-imgproxy", "discordbot", "telegrambot", "mattermost-bot", "groupmebot", "keybasebot", "dingtalkbot",
	"line-poker", "linespider", "kakaotalk-scrap", "steamchaturllookup",
	"linux x86_64) applewebkit/537.36 (khtml, like gecko) chrome/41.0.2227.0 safari", // Rocket.Chat
	// Mail proxies and scanners, and Office, which requests a link before it opens the browser.
	"googleimageproxy", "google-pagerenderer", "yahoomailproxy", "fastmailua", "barracuda sentinel",
	"ms-office", "msoffice", "microsoft office",
}

// previewStarts are the starts of the User-Agents of more link previews. Elsewhere in a User-Agent, they name a browser
// in an app, which people use. Signal sends "WhatsApp/2".
var previewStarts = []string{
	"whatsapp", "viber", "googlemessages/", "pinterest/", "tumblr/", "notion/", "asana/", "synapse", "bluesky",
}

// bots are parts of the User-Agents of bots that have neither a URL nor a word that ends with "bot", in lower case.
var bots = []string{
	"crawl", "spider", "slurp", "scrapy", "archiver", "facebookcatalog", "meta-external",
	"google-", "googleother", "-google", "feedfetcher", "lighthouse", "headless",
	"uptime", "monitoring", "pingdom", "statuscake", "synthetics",
	"chatgpt-user", "perplexity-user", "claude-user", "anthropic-ai", "cohere-ai", "linkwatch/",
}

// botWord matches a word that ends with "bot", but not "FuboTV".
var botWord = regexp.MustCompile(`bots?([^a-z]|$)`)

// Parse returns the family of a User-Agent header. It accepts any text. The time depends
// on the length, which the caller must limit.
func Parse(userAgent string) Family {
	ua := useragent.Parse(userAgent)
	folded := strings.ReplaceAll(strings.ToLower(userAgent), "cubot", "") // a brand of phones
	in := func(part string) bool { return strings.Contains(folded, part) }
	starts := func(start string) bool { return strings.HasPrefix(folded, start) }
	switch {
	case slices.ContainsFunc(previews, in), slices.ContainsFunc(previewStarts, starts):
		return Preview
	case botWord.MatchString(folded), slices.ContainsFunc(bots, in), ua.URL != "" && !library(folded):
		return Bot
	case ua.Tablet, androidTablet(folded):
		return Tablet
	case ua.Mobile:
		return Mobile
	case ua.Desktop:
		return Desktop
	}
	return Other
}

// library reports whether the URL in a lower-case User-Agent is that of the source code of a library, as in
// "node-fetch/1.0 (+https://github.com/bitinn/node-fetch)". Many tools send the User-Agent of a library.
func library(folded string) bool {
	return strings.Contains(folded, "github.com/") && !strings.HasPrefix(folded, "mozilla/")
}

// androidTablet reports whether a lower-case User-Agent is that of a browser on an Android
// tablet. Browsers on phones have "mobile" in it.
func androidTablet(folded string) bool {
	return strings.Contains(folded, "android") && strings.HasPrefix(folded, "mozilla/") && !strings.Contains(folded, "mobile")
}
