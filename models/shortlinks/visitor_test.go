package shortlinks

import (
	"fmt"
	"strings"
	"testing"
)

// User-Agents as they are sent in the wild.
func TestDeviceOf(t *testing.T) {
	const chrome = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0"
	for userAgent, want := range map[string]device{
		// Search engines, chats that fetch a preview, and the crawlers of language models.
		"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)":                                                                                   bot,
		"Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) " + chrome + " Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)": bot,
		"Googlebot-Image/1.0": bot,
		"Mozilla/5.0 " + chrome + " Safari/537.36 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)": bot,
		"Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)":                                     bot,
		"Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)":                  bot,
		"DuckDuckBot/1.1; (+http://duckduckgo.com/duckduckbot.html)":                                           bot,
		"Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)":                  bot,
		"Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)":                                           bot,
		"Slackbot 1.0 (+https://api.slack.com/robots)":                                                         bot,
		"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)":                            bot,
		"facebookexternalhit/1.1": bot,
		"meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)": bot,
		"Twitterbot/1.0":                bot,
		"WhatsApp/2.24.10.79 A":         bot,
		"TelegramBot (like TwitterBot)": bot,
		"LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)":                                                                                     bot,
		"Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)":                                                                                                         bot,
		"Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com":                                                                           bot,
		"Pinterest/0.2 (+https://www.pinterest.com/bot.html)":                                                                                                                       bot,
		"http.rb/5.1.1 (Mastodon/4.2.1; +https://mastodon.example/)":                                                                                                                bot,
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.1.1 Safari/605.1.15 (Applebot/0.1; +http://www.apple.com/go/applebot)": bot,
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)":                                                                    bot,
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot":                                                                 bot,
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)":                                                                   bot,
		"Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)":                                                                                                        bot,
		"Mozilla/5.0 (Linux; Android 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36 (compatible; Bytespider; spider-feedback@bytedance.com)":                      bot,
		"CCBot/2.0 (https://commoncrawl.org/faq/)":                                                                                                                                  bot,
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/140.0.0.0 Safari/537.36":                                                             bot,
		"Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)":                                                                                                    bot,
		"Linkwatch/v1.2.3":                          bot,
		"Linkwatch/v1.2.3 (+https://links.example)": bot,

		// People.
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1":                                  mobile,
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0.7339.39 Mobile/15E148 Safari/604.1":                           mobile,
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram 300.0.0.29.110 (iPhone14,5; iOS 17_0; de_DE; de)": mobile,
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBAV/430.0.0.33.107;FBDV/iPhone14,5]":           mobile,
		"Mozilla/5.0 (Linux; Android 10; K) " + chrome + " Mobile Safari/537.36":                                                                                                   mobile,
		"Mozilla/5.0 (Linux; Android 13; SM-S901B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/23.0 Chrome/115.0.0.0 Mobile Safari/537.36":                               mobile,
		"Mozilla/5.0 (Android 14; Mobile; rv:130.0) Gecko/130.0 Firefox/130.0":                                                                                                     mobile,
		"Mozilla/5.0 (Linux; Android 9; CUBOT_X19) " + chrome + " Mobile Safari/537.36":                                                                                            mobile,
		"Mozilla/5.0 (iPad; CPU OS 12_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/12.1.2 Mobile/15E148 Safari/604.1":                                         tablet,
		"Mozilla/5.0 (Linux; Android 13; SM-X906C) " + chrome + " Safari/537.36":                                                                                                   tablet,
		"Mozilla/5.0 (Android 14; Tablet; rv:130.0) Gecko/130.0 Firefox/130.0":                                                                                                     tablet,
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) " + chrome + " Safari/537.36":                                                                                                   desktop,
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) " + chrome + " Safari/537.36 Edg/140.0.0.0":                                                                                     desktop,
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) " + chrome + " Safari/537.36 OPR/120.0.0.0":                                                                                     desktop,
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0":                                                                                         desktop,
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15":                                                    desktop, // newer iPads too: they do not say what they are
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) " + chrome + " Safari/537.36":                                                                                             desktop,
		"Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0":                                                                                                   desktop,
		"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) " + chrome + " Safari/537.36":                                                                                                    desktop,

		// Nobody knows what these are used for.
		"":                       other,
		"curl/8.5.0":             other,
		"Wget/1.21.4":            other,
		"Go-http-client/1.1":     other,
		"Go-http-client/2.0":     other,
		"python-requests/2.32.3": other,
		"okhttp/4.12.0":          other,
		"Mozilla/5.0":            other,
		"()":                     other,
		"\x00\xff/ ; (":          other,
		"-":                      other,
	} {
		if got := deviceOf(userAgent); got != want {
			t.Errorf("%s is of family %d, want %d", userAgent, got, want)
		}
	}
}

func FuzzVisitor(f *testing.F) {
	f.Add("Mozilla/5.0 (Linux; Android 10; K) Chrome/1 (+https://example.com) [x]", "https://www.example.com:8080/a?b#c")
	f.Add("(;:/[", "://")
	f.Fuzz(func(t *testing.T, userAgent, referrer string) {
		v := Visitor{Referrer: referrer, UserAgent: userAgent}.cut()
		if len(v.Referrer) > maxHeader || len(v.UserAgent) > maxHeader {
			t.Errorf("cut to %d and %d bytes", len(v.Referrer), len(v.UserAgent))
		}
		deviceOf(v.UserAgent)
		if h := hostOf(v.Referrer); len(h) > 253 || strings.Trim(h, "abcdefghijklmnopqrstuvwxyz0123456789-._:") != "" {
			t.Errorf("%q comes from the host %q", referrer, h)
		}
	})
}

func TestReferrers(t *testing.T) {
	long := "https://" + strings.Repeat("a.", 200) + "example"
	for referrer, want := range map[string]string{
		"":                                     "",
		"https://news.example/a/b?secret=1#c":  "news.example",
		"http://news.example:8080/":            "news.example",
		"https://WWW.News.Example":             "news.example",
		"https://news.example?q=1":             "news.example",
		"https://bücher.example/":              "xn--bcher-kva.example",
		"https://www.example":                  "www.example", // www is its name
		"https://localhost/":                   "localhost",
		"https://127.0.0.1:99/x":               "127.0.0.1",
		"https://[2001:DB8::1]/":               "2001:db8::1",
		"https://user:secret@news.example/":    "",
		"android-app://com.google.android.gm/": "",
		"about:client":                         "",
		"news.example":                         "",
		"https://":                             "",
		"https://a b/":                         "",
		"https://<script>/":                    "",
		"*":                                    "",
		"https://*/":                           "",
		long:                                   "",
		"https://news.example/" + strings.Repeat("x", 10_000): "news.example",
	} {
		if got := hostOf(Visitor{Referrer: referrer}.cut().Referrer); got != want {
			t.Errorf("%.80q comes from %q, want %q", referrer, got, want)
		}
	}
}

func TestKnownVisitorsAreBounded(t *testing.T) {
	v := newVisitors()
	for i := range 3 * maxVisitors {
		v.device(fmt.Sprintf("curl/%d", i))
		v.referrer(fmt.Sprintf("https://host%d.example", i))
	}
	if len(v.devices) > maxVisitors || len(v.hosts) > maxVisitors {
		t.Errorf("%d and %d are known", len(v.devices), len(v.hosts))
	}
	if v.device("Twitterbot/1.0") != bot || v.referrer("https://a.example") != "a.example" {
		t.Error("what is known is not what it is")
	}
}
