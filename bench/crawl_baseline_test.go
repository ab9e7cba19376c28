//go:build e2e

package bench

import (
	"io"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/gocolly/colly/v2"
	"golang.org/x/net/html"
)

// bareCrawl crawls a site with net/http, a tokenizer and a map, with one request per host at a time. It returns the number
// of pages. It is the baseline: it stores nothing and ignores robots.txt.
func bareCrawl(t *testing.T, urls []string) int {
	t.Helper()
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 2}}
	var mu sync.Mutex
	seen := map[string]bool{}
	queues := map[string]chan *url.URL{}
	for _, u := range urls {
		parsed, err := url.Parse(u)
		if err != nil {
			t.Fatal(err)
		}
		queues[parsed.Host] = make(chan *url.URL, crawlPages)
	}
	var left sync.WaitGroup
	enqueue := func(u *url.URL) {
		mu.Lock()
		defer mu.Unlock()
		if key := u.String(); !seen[key] && queues[u.Host] != nil {
			seen[key] = true
			left.Add(1)
			queues[u.Host] <- u
		}
	}
	start, err := url.Parse(urls[0] + "/p0")
	if err != nil {
		t.Fatal(err)
	}
	enqueue(start)
	for _, queue := range queues {
		go func() {
			for u := range queue {
				for _, link := range bareLinks(t, client, u) {
					enqueue(link)
				}
				left.Done()
			}
		}()
	}
	left.Wait()
	for _, queue := range queues {
		close(queue)
	}
	return len(seen)
}

// bareLinks fetches a page and returns its links.
func bareLinks(t *testing.T, client *http.Client, u *url.URL) (links []*url.URL) {
	res, err := client.Get(u.String())
	if err != nil {
		t.Error(err)
		return nil
	}
	defer res.Body.Close()
	for z := html.NewTokenizer(res.Body); ; {
		switch z.Next() {
		case html.ErrorToken:
			_, _ = io.Copy(io.Discard, res.Body)
			return links
		case html.StartTagToken:
			name, more := z.TagName()
			for more && string(name) == "a" {
				var key, value []byte
				key, value, more = z.TagAttr()
				if to, err := u.Parse(string(value)); string(key) == "href" && err == nil {
					links = append(links, to)
				}
			}
		}
	}
}

// bareColly crawls a site with Colly as in its examples, with one request per host at a time. It returns the number of
// pages.
func bareColly(t *testing.T, urls []string) int {
	t.Helper()
	c := colly.NewCollector(colly.Async(true))
	if err := c.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: crawlHosts}); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	pages := 0
	c.OnHTML("title", func(*colly.HTMLElement) {
		mu.Lock()
		pages++
		mu.Unlock()
	})
	c.OnHTML("a[href]", func(e *colly.HTMLElement) { _ = e.Request.Visit(e.Attr("href")) }) // the error is that it was visited
	if err := c.Visit(urls[0] + "/p0"); err != nil {
		t.Fatal(err)
	}
	c.Wait()
	return pages
}
