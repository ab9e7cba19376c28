//go:build e2e

package bench

import (
	"bytes"
	"strconv"
	"testing"
	"time"

	"linkwatch/e2e"
)

// katanaFigures compares a crawl by katana with one by Linkwatch. katana prints URLs and stores no pages. Its time ends with the
// last URL, because it then waits for -timeout.
func katanaFigures(t *testing.T) {
	urls := crawlSite(t, 40, crawlPages)
	var c comparison
	for range peerRounds {
		cmd := peerCommand(t, "-u", urls[0]+"/p0", "-depth", "100", "-concurrency", strconv.Itoa(crawlHosts), "-rate-limit", "1000000",
			"-timeout", "5", "-no-scope", "-disable-update-check", "-silent", "-no-color")
		printed := urlLog{seen: map[string]bool{}}
		cmd.Stdout = &printed
		started := time.Now()
		peer := runToEnd(t, cmd)
		if len(printed.seen) < crawlPages {
			t.Fatalf("katana: got %d pages", len(printed.seen))
		}
		seconds := printed.last.Sub(started).Seconds()

		s := e2e.Start(t, "CRAWLER_POLL_INTERVAL=100ms")
		linkwatch := crawlOnce(t, s, urls)
		memory := float64(s.PeakMemory()) / 1e6
		s.Stop()

		started = time.Now()
		if n := bareCrawl(t, urls); n != crawlPages {
			t.Fatalf("net/http: got %d pages", n)
		}
		c.add("crawl 10,000 pages: pages per second", "%.0f", crawlPages/seconds, linkwatch.perSecond, crawlPages/time.Since(started).Seconds())
		c.add("crawl 10,000 pages: CPU time per page", "%.2f ms", peer.cpu*1000/crawlPages, linkwatch.cpu)
		c.add("crawl 10,000 pages: memory at most", "%.0f MB", peer.memory, memory)
	}
	c.print()
}

// urlLog counts the lines written to it.
type urlLog struct {
	seen map[string]bool
	rest []byte // the start of a line
	last time.Time
}

func (l *urlLog) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, ok := bytes.Cut(l.rest, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		l.seen[string(line)] = true
		l.rest, l.last = rest, time.Now()
	}
}
