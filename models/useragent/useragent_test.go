package useragent

import "testing"

// TestParse uses User-Agent headers of real clients.
func TestParse(t *testing.T) {
	const chrome = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0"
	for userAgent, want := range map[string]Family{
		// Search engines, chat previews, and crawlers for language models.
		"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)":                                                                                   Bot,
		"Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) " + chrome + " Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)": Bot,
		"Googlebot-Image/1.0": Bot,
		"Mozilla/5.0 " + chrome + " Safari/537.36 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)": Bot,
		"Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)":                                     Bot,
		"Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)":                  Bot,
		"DuckDuckBot/1.1; (+http://duckduckgo.com/duckduckbot.html)":                                           Bot,
		"Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)":                  Bot,
		"Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)":                                           Bot,
		"Slackbot 1.0 (+https://api.slack.com/robots)":                                                         Bot,
		"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)":                            Bot,
		"facebookexternalhit/1.1": Bot,
		"meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)": Bot,
		"Twitterbot/1.0":                Bot,
		"WhatsApp/2.24.10.79 A":         Bot,
		"TelegramBot (like TwitterBot)": Bot,
		"LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)":                                                                                     Bot,
		"Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)":                                                                                                         Bot,
		"Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com":                                                                           Bot,
		"Pinterest/0.2 (+https://www.pinterest.com/bot.html)":                                                                                                                       Bot,
		"http.rb/5.1.1 (Mastodon/4.2.1; +https://mastodon.example/)":                                                                                                                Bot,
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.1.1 Safari/605.1.15 (Applebot/0.1; +http://www.apple.com/go/applebot)": Bot,
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)":                                                                    Bot,
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot":                                                                 Bot,
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)":                                                                   Bot,
		"Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)":                                                                                                        Bot,
		"Mozilla/5.0 (Linux; Android 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36 (compatible; Bytespider; spider-feedback@bytedance.com)":                      Bot,
		"CCBot/2.0 (https://commoncrawl.org/faq/)":                                                                                                                                  Bot,
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/140.0.0.0 Safari/537.36":                                                             Bot,
		"Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)":                                                                                                    Bot,
		"Linkwatch/v1.2.3":                          Bot,
		"Linkwatch/v1.2.3 (+https://links.example)": Bot,

		// People.
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1":                                  Mobile,
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0.7339.39 Mobile/15E148 Safari/604.1":                           Mobile,
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram 300.0.0.29.110 (iPhone14,5; iOS 17_0; de_DE; de)": Mobile,
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBAV/430.0.0.33.107;FBDV/iPhone14,5]":           Mobile,
		"Mozilla/5.0 (Linux; Android 10; K) " + chrome + " Mobile Safari/537.36":                                                                                                   Mobile,
		"Mozilla/5.0 (Linux; Android 13; SM-S901B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/23.0 Chrome/115.0.0.0 Mobile Safari/537.36":                               Mobile,
		"Mozilla/5.0 (Android 14; Mobile; rv:130.0) Gecko/130.0 Firefox/130.0":                                                                                                     Mobile,
		"Mozilla/5.0 (Linux; Android 9; CUBOT_X19) " + chrome + " Mobile Safari/537.36":                                                                                            Mobile,
		"Mozilla/5.0 (iPad; CPU OS 12_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/12.1.2 Mobile/15E148 Safari/604.1":                                         Tablet,
		"Mozilla/5.0 (Linux; Android 13; SM-X906C) " + chrome + " Safari/537.36":                                                                                                   Tablet,
		"Mozilla/5.0 (Android 14; Tablet; rv:130.0) Gecko/130.0 Firefox/130.0":                                                                                                     Tablet,
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) " + chrome + " Safari/537.36":                                                                                                   Desktop,
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) " + chrome + " Safari/537.36 Edg/140.0.0.0":                                                                                     Desktop,
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) " + chrome + " Safari/537.36 OPR/120.0.0.0":                                                                                     Desktop,
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0":                                                                                         Desktop,
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15":                                                    Desktop, // also newer iPads, which send the same header
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) " + chrome + " Safari/537.36":                                                                                             Desktop,
		"Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0":                                                                                                   Desktop,
		"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) " + chrome + " Safari/537.36":                                                                                                    Desktop,

		// Unknown clients.
		"":                       Other,
		"curl/8.5.0":             Other,
		"Wget/1.21.4":            Other,
		"Go-http-client/1.1":     Other,
		"Go-http-client/2.0":     Other,
		"python-requests/2.32.3": Other,
		"okhttp/4.12.0":          Other,
		"Mozilla/5.0":            Other,
		"()":                     Other,
		"\x00\xff/ ; (":          Other,
		"-":                      Other,
	} {
		if got := Parse(userAgent); got != want {
			t.Errorf("%s: got family %d, want %d", userAgent, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("Mozilla/5.0 (Linux; Android 10; K) Chrome/1 (+https://example.com) [x]")
	f.Add("(;:/[")
	f.Fuzz(func(t *testing.T, userAgent string) {
		if family := Parse(userAgent); family > Bot {
			t.Errorf("%q: got unknown family %d", userAgent, family)
		}
	})
}
