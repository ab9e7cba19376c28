package outbound

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/jimsmart/grobotstxt"
)

const maxRobotsSitemaps = 100

// Sitemaps requests the robots.txt of a URL's host and returns its sitemaps as SitemapsIn does. A 4xx or too many redirects
// mean that there are none. The error is an *Error, with KindProtocol for a status of 429 or 5xx.
func (c *Client) Sitemaps(ctx context.Context, rawURL string) ([]string, error) {
	u, ok := parseURL(rawURL)
	if !ok {
		return nil, &Error{Kind: KindInvalid, text: "invalid URL"}
	}
	res, err := c.Fetch(ctx, Request{
		URL: u.Scheme + "://" + u.Host + "/robots.txt", MaxRedirects: robotsRedirects, MaxBytes: robotsLimit,
	})
	if err != nil {
		if classify(err).Kind == KindRedirects {
			return nil, nil
		}
		return nil, err
	}
	switch status := res.StatusCode; {
	case status >= 200 && status < 300:
		return SitemapsIn(wholeLines(res), res.URL), nil
	case status == http.StatusTooManyRequests || status >= 500:
		return nil, &Error{Kind: KindProtocol, RetryAfter: res.RetryAfter, text: unavailableText + "status " + strconv.Itoa(status)}
	}
	return nil, nil
}

// SitemapsIn returns the distinct URLs of the Sitemap lines of a robots.txt in order, at most 100. The lines apply to all
// crawlers, whatever their group. Relative URLs are resolved against base, the URL of the robots.txt. URLs that are not http
// or https are left out, and words, which are not a URL.
func SitemapsIn(robots, base string) []string {
	var urls []string
	from := newResolver(base, "")
	for _, value := range grobotstxt.Sitemaps(robots) {
		if _, absolute := parseURL(value); !absolute && (value == "" || strings.ContainsAny(value, " \t")) {
			continue
		}
		if s := from.resolve(value); s != "" && !slices.Contains(urls, s) {
			urls = append(urls, s)
		}
		if len(urls) == maxRobotsSitemaps {
			break
		}
	}
	return urls
}
