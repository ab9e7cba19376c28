package crawl

import (
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	views "linkwatch/views/crawl"
	"linkwatch/views/ui"
)

func feedPlaceOf(c *gin.Context) views.FeedPlace {
	return views.FeedPlace{SourceID: c.Query("source"), Token: c.Query("page_token")}
}

// FeedsPage shows the feeds.
func (p Pages) FeedsPage(c *gin.Context) {
	p.showFeeds(c, http.StatusOK, views.EntryForm{URL: models.CleanLine(c.Query("url"))})
}

// showFeeds shows the feeds with a filled-in form.
func (p Pages) showFeeds(c *gin.Context, status int, typed views.EntryForm) {
	ctx := c.Request.Context()
	v := views.Feeds{Place: feedPlaceOf(c), Add: typed, Discovery: p.FeedDiscovery, Polling: p.FeedPolling}
	var after models.Cursor
	var flash ui.Flash
	if !p.Read(c,
		func() (err error) { after, err = models.ParseToken(v.Place.Token); return },
		func() (err error) { flash, err = p.Flash(c, v.Place.Path()); return },
		func() (err error) { v.Source, err = p.sourceName(ctx, v.Place.SourceID); return },
		func() (err error) { v.Feeds, err = p.Crawl.Feeds(ctx, v.Place.SourceID, after, listSize); return },
	) {
		return
	}
	v.Page = p.Page("Feeds", "crawl", flash)
	p.Show(c, status, views.FeedsPage(v))
}

// AddFeed adds the feed in the form to the source in the filter.
func (p Pages) AddFeed(c *gin.Context) {
	form, at := views.EntryForm{URL: c.PostForm("url")}, feedPlaceOf(c)
	_, created, err := p.Crawl.AddFeed(c.Request.Context(), models.RepairURL(form.URL), at.SourceID)
	errs, ok := pages.FormErrors(err, "url", views.Labels)
	if m, is := errors.AsType[*models.Error](err); is && m.Code == models.CodeConflict { // the source has the maximum number of feeds
		errs, ok = ui.Errors{"url": m.Detail}, true
	}
	if ok {
		form.Errors = errs
		p.showFeeds(c, p.FormStatus(c, err), form)
		return
	}
	notice := "feed_known"
	if created {
		notice = "feed_added"
	}
	at.Token = ""
	p.Done(c, err, at.Path(), notice)
}

// PollFeed schedules a poll of a feed for now.
func (p Pages) PollFeed(c *gin.Context) {
	p.Done(c, p.pollNow(c.Request.Context(), c.Param("id")), p.Back(c, views.FeedPlace{}.Path()), "feed_polled")
}

// AskDeleteFeed asks for confirmation before a feed is deleted.
func (p Pages) AskDeleteFeed(c *gin.Context) {
	f, err := p.Crawl.Feed(c.Request.Context(), c.Param("id"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	p.Show(c, http.StatusOK, views.FeedDeletePage(views.FeedDelete{Page: p.Page("Delete a feed", "crawl", ui.Flash{}), Feed: f}))
}

// DeleteFeed deletes a feed.
func (p Pages) DeleteFeed(c *gin.Context) {
	p.Done(c, p.Crawl.DeleteFeed(c.Request.Context(), c.Param("id")), views.FeedPlace{}.Path(), "feed_deleted")
}
