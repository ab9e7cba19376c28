package crawl

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/crawl"
	views "linkwatch/views/crawl"
	"linkwatch/views/ui"
)

// maxCopies is the maximum number of listed archived copies of a page.
const maxCopies = 20

// CrawledPage shows a crawled page.
func (p Pages) CrawledPage(c *gin.Context) {
	ctx := c.Request.Context()
	var v views.CrawledPage
	var flash ui.Flash
	if !p.Read(c,
		func() (err error) { v.Crawled, err = p.Crawl.CrawledPage(ctx, c.Param("id")); return },
		func() (err error) { flash, err = p.Flash(c, views.PagePath(v.Crawled.ID())); return },
		func() (err error) { v.Source, err = p.Crawl.Source(ctx, v.Crawled.SourceID); return },
		func() (err error) { v.Versions, err = p.Crawl.PageVersions(ctx, v.Crawled); return },
		func() (err error) { v.Copies, err = p.Crawl.Copies(ctx, v.Crawled, maxCopies); return },
		func() error {
			text, err := v.Crawled.Text.Decompress()
			if text != "" {
				v.Text = strings.Split(text, "\n")
			}
			return err
		},
		func() error {
			kept, err := p.Saver.Existing(ctx, []string{v.Crawled.URL})
			v.Saved = kept[v.Crawled.URL]
			return err
		},
	) {
		return
	}
	v.Page = p.Page(title(v.Crawled), "crawl", flash)
	v.ArchiveEnabled = p.Archive != nil
	p.Show(c, http.StatusOK, views.CrawledPagePage(v))
}

// title returns the title of a page, or its URL if it has none.
func title(p crawl.Page) string {
	if p.Title == "" {
		return p.URL
	}
	return p.Title
}

// PageChanges compares two versions of a crawled page.
func (p Pages) PageChanges(c *gin.Context) {
	ctx := c.Request.Context()
	v := views.PageDiff{ShowAll: c.Query("all") != ""}
	var from, to int
	if !p.Read(c,
		func() (err error) { from, err = versionNumber(c, "from"); return },
		func() (err error) { to, err = versionNumber(c, "to"); return },
		func() (err error) { v.Crawled, err = p.Crawl.CrawledPage(ctx, c.Param("id")); return },
		func() (err error) { v.Versions, err = p.Crawl.PageVersions(ctx, v.Crawled); return },
		func() error {
			compared, err := p.compare(ctx, v.Crawled, from, to)
			v.From, v.To, v.Diff = compared.From, compared.To, compared.Diff
			return err
		},
	) {
		return
	}
	v.Page = p.Page("Changes of "+title(v.Crawled), "crawl", ui.Flash{})
	p.Show(c, http.StatusOK, views.PageDiffPage(v))
}

// versionNumber parses a version number from the query; 0 if it is not set.
func versionNumber(c *gin.Context, name string) (int, error) {
	typed := c.Query(name)
	if typed == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(typed)
	if err != nil || n < 1 {
		return 0, models.Invalid("query."+name, "must be the number of a version")
	}
	return n, nil
}

// Report shows the changed pages and broken links of an execution.
func (p Pages) Report(c *gin.Context) {
	ctx := c.Request.Context()
	v := views.Report{Place: views.ReportPlace{ID: c.Param("id"), Token: c.Query("page_token"), BrokenToken: c.Query("broken_token")}}
	var after, afterBroken models.Cursor
	if !p.Read(c,
		func() (err error) {
			v.Place.Change, err = parseEnum("change", c.Query("change"), []crawl.Change{crawl.PageNew, crawl.PageChanged, crawl.PageGone, crawl.PageBack})
			return
		},
		func() (err error) { after, err = models.ParseToken(v.Place.Token); return },
		func() (err error) { afterBroken, err = models.ParseToken(v.Place.BrokenToken); return },
		func() (err error) { v.Run, err = p.Crawl.Execution(ctx, v.Place.ID); return },
		func() (err error) { v.Job, err = p.Crawl.Job(ctx, v.Run.JobID); return },
		func() (err error) {
			v.Changes, err = p.Crawl.PageChanges(ctx, v.Run, v.Place.Change, after, listSize)
			return
		},
		func() (err error) { v.Broken, err = p.Crawl.BrokenLinks(ctx, v.Run, afterBroken, listSize); return },
	) {
		return
	}
	v.Page = p.Page("Run "+strconv.Itoa(v.Run.ExecutionNumber)+" of "+v.Job.Title(), "crawl", ui.Flash{})
	if v.Run.ReportedPage != nil || v.Run.Status == crawl.ExecutionRunning {
		v.Refresh = refresh
	}
	p.Show(c, http.StatusOK, views.ReportPage(v))
}

// DownloadBroken returns the broken links of an execution as a CSV file.
func (p Pages) DownloadBroken(c *gin.Context) {
	ctx := c.Request.Context()
	e, err := p.Crawl.Execution(ctx, c.Param("id"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	rows := [][]string{{"url", "error", "text", "found_on"}}
	var after models.Cursor
	for {
		list, err := p.Crawl.BrokenLinks(ctx, e, after, models.MaxLimit)
		if err != nil {
			p.Fail(c, err)
			return
		}
		for _, b := range list.Items {
			rows = append(rows, []string{b.URL, b.Error, b.Text, b.FoundOn})
		}
		if after = list.Next; !list.More() {
			break
		}
	}
	pages.CSV(c, e.JobID+"-"+strconv.Itoa(e.ExecutionNumber)+"-broken-links.csv", rows)
}
