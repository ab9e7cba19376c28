package bench

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"linkwatch/e2e"
)

// katanaFigures compares a crawl by katana with one by Linkwatch. katana writes URLs to a file and stores no pages.
func katanaFigures(t *testing.T) {
	urls := crawlSite(t, 40, crawlPages)
	var c comparison
	for range peerRounds {
		cmd := peerCommand(t, "-u", urls[0]+"/p0", "-depth", "100", "-concurrency", strconv.Itoa(crawlHosts), "-rate-limit", "1000000",
			"-no-scope", "-disable-update-check", "-silent", "-no-color", "-output", "urls")
		peer := runToEnd(t, cmd)
		found, err := os.ReadFile(cmd.Dir + "/urls")
		if err != nil {
			t.Fatal(err)
		}
		pages := map[string]bool{}
		for line := range strings.Lines(string(found)) {
			pages[strings.TrimSpace(line)] = true
		}
		if len(pages) < crawlPages { // it also lists the hosts without a path
			t.Fatalf("got %d pages, such as %v", len(pages), slices.Sorted(maps.Keys(pages))[:20])
		}

		s := e2e.Start(t, "CRAWLER_POLL_INTERVAL=100ms")
		linkwatch := crawlOnce(t, s, urls)
		memory := float64(s.PeakMemory()) / 1e6
		s.Stop()

		started := time.Now()
		if n := bareCrawl(t, urls); n != crawlPages {
			t.Fatalf("net/http: got %d pages", n)
		}
		c.add("crawl 10,000 pages: pages per second", "%.0f", crawlPages/peer.seconds, linkwatch.perSecond, crawlPages/time.Since(started).Seconds())
		c.add("crawl 10,000 pages: CPU time per page", "%.2f ms", peer.cpu*1000/crawlPages, linkwatch.cpu)
		c.add("crawl 10,000 pages: memory at most", "%.0f MB", peer.memory, memory)
	}
	c.print()
}
