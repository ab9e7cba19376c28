package useragent

import "testing"

// TestParse uses User-Agent headers of real clients.
func TestParse(t *testing.T) {
	const chrome = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0"
	for userAgent, want := range map[string]Family{
		// Link previews of chats, social networks, mail services and Office.
		"Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)":                Preview,
		"Slackbot 1.0 (+https://api.slack.com/robots)":                              Preview,
		"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)": Preview,
		"facebookexternalhit/1.1":                                                   Preview,
		"Twitterbot/1.0":                                                            Preview,
		"WhatsApp/2.24.10.79 A":                                                     Preview,
		"TelegramBot (like TwitterBot)":                                             Preview,
		"LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)":                                                                               Preview,
		"Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)":                                                                                                   Preview,
		"Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com":                                                                     Preview,
		"Pinterest/0.2 (+https://www.pinterest.com/bot.html)":                                                                                                                 Preview,
		"http.rb/5.1.1 (Mastodon/4.2.1; +https://mastodon.example/)":                                                                                                          Preview,
		"Slack-ImgProxy 149 (+https://api.slack.com/robots)":                                                                                                                  Preview,
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0": Preview,
		"meta-externalfetcher/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)":                                                                         Preview,
		"facebookexternalhit/1.1;line-poker/1.0":                                                                                                                              Preview,
		"facebookexternalhit/1.1; kakaotalk-scrap/1.0; +https://devtalk.kakao.com/t/scrap/33984":                                                                              Preview,
		"WhatsApp/2": Preview,
		"WhatsApp":   Preview,
		"Viber/12.8.0.1 CFNetwork/1121.2.2 Darwin/19.3.0": Preview,
		"GoogleMessages/20": Preview,
		"Mozilla/5.0 (compatible; Pinterestbot/1.0; +https://www.pinterest.com/bot.html)": Preview,
		"Mozilla/5.0 (compatible; redditbot/1.0; +http://www.reddit.com/feedback)":        Preview,
		"Mozilla/5.0 (compatible; vkShare; +http://vk.com/dev/Share)":                     Preview,
		"Mozilla/5.0 (compatible; Bluesky Cardyb/1.1; +mailto:support@bsky.app)":          Preview,
		"Mastodon/4.3.0 (http.rb/5.2.0; +https://mastodon.example/)":                      Preview,
		"SummalyBot/5.1.0": Preview,
		"Mozilla/5.0 (compatible; Snap URL Preview Service; bot; snapchat; https://developers.snap.com/robots)": Preview,
		"Mattermost-Bot/1.1": Preview,
		"Mozilla/5.0 (compatible; ZulipURLPreview/9.0; +https://zulip.com)":                                       Preview,
		"Synapse (bot; +https://github.com/matrix-org/synapse)":                                                   Preview,
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/41.0.2227.0 Safari/537.36": Preview,
		"Valve/Steam HTTP Client 1.0 (SteamChatURLLookup)":                                                        Preview,
		"Mozilla/5.0 (compatible; Embedly/0.2; +http://support.embed.ly/)":                                        Preview,
		"Iframely/1.3.1 (+https://iframely.com/docs/about)":                                                       Preview,
		"Discourse Forum Onebox v3.3.0.beta1-dev":                                                                 Preview,
		"Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/534+ (KHTML, like Gecko) BingPreview/1.0b":               Preview,
		"MicrosoftPreview/2.0; +https://aka.ms/MicrosoftPreview":                                                  Preview,
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/56.0.2924.87 Safari/537.36 Google-PageRenderer Google (+https://developers.google.com/+/web/snippet/)": Preview,
		"Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)":                                                                                           Preview,
		"YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html":                                                                                                            Preview,
		"Barracuda Sentinel (EE)":                                                                       Preview,
		"Microsoft Office Existence Discovery":                                                          Preview,
		"Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17328; Pro)":                    Preview,
		"Mozilla/4.0 (compatible; ms-office; MSOffice 16)":                                              Preview,
		"Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 6.1; WOW64; Trident/7.0; InfoPath.3; ms-office)": Preview,

		// Search engines, monitors, and crawlers for language models.
		"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)":                                                                                   Bot,
		"Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) " + chrome + " Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)": Bot,
		"Googlebot-Image/1.0": Bot,
		"Mozilla/5.0 " + chrome + " Safari/537.36 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)":                                                                      Bot,
		"Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)":                                                                                                          Bot,
		"Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)":                                                                                       Bot,
		"DuckDuckBot/1.1; (+http://duckduckgo.com/duckduckbot.html)":                                                                                                                Bot,
		"Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)":                                                                                       Bot,
		"meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)":                                                                                 Bot,
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.1.1 Safari/605.1.15 (Applebot/0.1; +http://www.apple.com/go/applebot)": Bot,
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)":                                                                    Bot,
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot":                                                                 Bot,
		"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)":                                                                   Bot,
		"Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)":                                                                                                        Bot,
		"Mozilla/5.0 (Linux; Android 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36 (compatible; Bytespider; spider-feedback@bytedance.com)":                      Bot,
		"CCBot/2.0 (https://commoncrawl.org/faq/)":                                                                                                                                  Bot,
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/140.0.0.0 Safari/537.36":                                                             Bot,
		"Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)":                                                                                                    Bot,
		"Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36 (compatible; GoogleOther)":          Bot,
		"Mozilla/5.0 (compatible; Google-InspectionTool/1.0)":                                                                                                                       Bot,
		"Mediapartners-Google": Bot,
		"facebookcatalog/1.0":  Bot,
		"Pingdom.com_bot_version_1.4_(http://www.pingdom.com/)":                        Bot,
		"Scrapy/2.11 (+https://scrapy.org)":                                            Bot,
		"Mozilla/5.0 (compatible; Wappalyzer; +https://github.com/AliasIO/Wappalyzer)": Bot,
		"Example/1.0 (+https://example.com/about)":                                     Bot,
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

		// Browsers in apps, whose link previews have other headers.
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1 Line/13.16.0":                                                                   Mobile,
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [LinkedInApp]/9.28.7586":                                                                                  Mobile,
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 WhatsApp/2.23.20":                                                                                         Mobile,
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Twitter for iPhone/10.33":                                                                                 Mobile,
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [Pinterest/iOS]":                                                                                          Mobile,
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Snapchat/12.60.0.37 (like Safari/8616.1.27)":                                                              Mobile,
		"Mozilla/5.0 (Linux; Android 13; SM-S901B Build/TP1A; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/140.0.0.0 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/430.0.0.23.113;]":                                   Mobile,
		"Mozilla/5.0 (Linux; Android 13; SM-S901B Build/TP1A; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/140.0.0.0 Mobile Safari/537.36 MetaIAB Facebook":                                                     Mobile,
		"Mozilla/5.0 (Linux; Android 13; SM-S901B Build/TP1A; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/140.0.0.0 Mobile Safari/537.36 KAKAOTALK 10.4.2":                                                     Mobile,
		"Mozilla/5.0 (Linux; Android 13; SM-S901B Build/TP1A; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/140.0.0.0 Mobile Safari/537.36 Viber/20.9.1":                                                         Mobile,
		"Mozilla/5.0 (Linux; Android 13; SM-S901B Build/TP1A; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/140.0.0.0 Mobile Safari/537.36 Telegram-Android/10.9.1 (Samsung SM-S901B; Android 13; SDK 33; HIGH)": Mobile,
		"Mozilla/5.0 (Linux; Android 13; SM-S901B Build/TP1A; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/140.0.0.0 Mobile Safari/537.36 MicroMessenger/8.0.40":                                                Mobile,
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Slack/4.36.140 Chrome/120.0.6099.276 Electron/28.2.1 Safari/537.36":                                                                    Desktop,
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Teams/1.6.00.1381 Chrome/85.0.4183.121 Electron/10.4.7 Safari/537.36":                                                                  Desktop,
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) discord/1.0.9030 Chrome/108.0.5359.215 Electron/22.3.26 Safari/537.36":                                                                 Desktop,

		// Names with "bot" in them.
		"fuboTV/4.75.0 (Linux;Android 9; AFTDCT31 Build/PS7664.3772N) FuboPlayer/v1.34.0":             Mobile,
		"Opera/9.70 (Linux armv7l ; U; turbotabbee/TSV2.0/1.02Q; fr) Presto/2.2":                      Desktop,
		"Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; WOW64; Trident/5.0; Banca Caboto s.p.a.)": Desktop,

		// Unknown clients and tools.
		"":                       Other,
		"curl/8.5.0":             Other,
		"Wget/1.21.4":            Other,
		"Go-http-client/1.1":     Other,
		"Go-http-client/2.0":     Other,
		"python-requests/2.32.3": Other,
		"curl/8.5.0 (x86_64-pc-linux-gnu) libcurl/8.5.0": Other,
		"libwww-perl/6.68": Other,
		"Java/17.0.1":      Other,
		"Apache-HttpClient/4.5.13 (Java/11.0.12)": Other,
		"node-fetch":            Other,
		"axios/1.7.2":           Other,
		"PostmanRuntime/7.39.0": Other,
		"HTTPie/3.2.2":          Other,
		"Ruby":                  Other,
		"aria2/1.37.0":          Other,
		"node-fetch/1.0 (+https://github.com/bitinn/node-fetch)":                                           Other,
		"got (https://github.com/sindresorhus/got)":                                                        Other,
		"colly - https://github.com/gocolly/colly":                                                         Other,
		"PHP-Curl-Class/4.13.0 (+https://github.com/php-curl-class/php-curl-class) PHP/7.4.11 curl/7.69.1": Other,
		"SomeApp/1.0":   Other,
		"okhttp/4.12.0": Other,
		"Mozilla/5.0":   Other,
		"()":            Other,
		"\x00\xff/ ; (": Other,
		"-":             Other,
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
		if family := Parse(userAgent); family > Preview {
			t.Errorf("%q: got unknown family %d", userAgent, family)
		}
	})
}
