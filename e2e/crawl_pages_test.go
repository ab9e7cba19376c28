//go:build e2e

package e2e

import (
	"testing"
	"time"
)

// A site is crawled from its URL. The page shows the log and the progress during the
// crawl, and then the report. The job is cancelled, deleted and restored.
func TestCrawlPages(t *testing.T) {
	t.Parallel() // waits for pages that refresh themselves
	inBoth(t, func(t *testing.T, in size) {
		s := Start(t, "CRAWLER_POLL_INTERVAL=100ms")
		b := browse(t, s, in, "/crawl")
		b.expect("status of 4")
		b.see("No crawls yet")
		b.fits(in, "/crawl, empty")
		m := newMaze(t, 1, 25, 300*time.Millisecond)
		b.press("n")
		b.fill("#url", "ftp://nothing")
		b.click("#add .field-row button.primary")
		b.has("#url-error")
		b.fits(in, "/crawl, with an error")
		b.fill("#url", m.urls[0]+"/")
		b.click("#add summary")
		b.fill("#add input[name=rate_limit_ms]", "0")
		b.click("#add .field-row button.primary")
		b.see("1 job")
		b.has("#jobs tbody .running")
		b.fits(in, "/crawl")
		b.click("#jobs a.title")
		b.has("#log")
		eval[bool](b, `window.stays = true`) // lost on a reload
		b.see("crawl started")
		b.fits(in, "/crawl/jobs/{id}, running")
		b.see("crawl completed pages=25")
		b.see("25 of 25 URLs done")
		b.wait(`window.stays && document.querySelectorAll("#log > div").length === 27`)
		b.fits(in, "/crawl/jobs/{id}")
		b.open("/crawl/frontier")
		b.see("/24")
		b.fits(in, "/crawl/frontier")
		b.press("j")
		b.press("x")
		b.has("#entries #bulk")
		b.see("1 selected")
		b.fits(in, "/crawl/frontier, with a selection")
		b.click("#bulk button[value=delete]")
		b.see("Delete 1 URL?")
		b.fits(in, "/crawl/frontier/bulk")
		b.open("/crawl/discovered")
		b.fits(in, "/crawl/discovered")
		b.open("/crawl/schedule")
		b.fits(in, "/crawl/schedule")
		b.open("/crawl/feeds")
		b.fits(in, "/crawl/feeds")
		b.open("/crawl")
		b.click("#jobs a.title")
		b.click(".actions button.danger")
		b.see("Undo")
		b.see("No crawls yet")
		b.click("[data-undo]")
		b.see("25 of 25 URLs done")
	})
}
