package targets

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/gorilla/feeds"

	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/models/targets"
	views "linkwatch/views/targets"
	"linkwatch/views/ui"
)

const (
	pageOutages = 100 // outages on a status page
	feedOutages = 50  // outages in its feed
)

// Caching of public pages and feeds.
const (
	statusCacheControl = "public, max-age=10"
	feedCacheControl   = "public, max-age=60"
)

// StatusPage shows the public page of a group of targets.
func (p Pages) StatusPage(c *gin.Context) {
	ctx := c.Request.Context()
	page, err := p.Targets.PublicPage(ctx, c.Param("slug"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	v := views.StatusPage{StatusPage: page, Now: p.Targets.Now().Time}
	if v.Days, err = p.Targets.PageDays(ctx, page); err == nil {
		v.Outages, err = p.Targets.PageOutages(ctx, page, pageOutages+1)
	}
	if err == nil {
		v.InMaintenance, err = p.Targets.InMaintenance(ctx, page.Targets)
	}
	if err != nil {
		p.Fail(c, err)
		return
	}
	if v.More = len(v.Outages) > pageOutages; v.More {
		v.Outages = v.Outages[:pageOutages]
	}
	whole := views.StatusPagePage(v)
	if pages.WantsPart(c.Request) {
		whole = views.StatusNow(v)
	}
	p.ShowCached(c, http.StatusOK, statusCacheControl, whole)
}

var feedOperation = middleware.Operation{
	Methods: []string{http.MethodGet}, Path: "/status/:slug/feed", ID: "get-status-feed", Tag: groupStatusPages, Public: true,
	Summary: "Get the feed of a status page", Description: "An Atom feed of the outages of its targets.",
	Params: []middleware.Param{{Name: "slug", In: "path", Example: "shop", Description: "Slug of the status page"}},
	Responses: []middleware.Response{
		{
			Status: http.StatusOK, Description: "Feed", Headers: map[string]string{"ETag": "Version of the feed, for If-None-Match"},
			Content: map[string]any{"application/atom+xml": nil},
		},
		{Status: http.StatusNotModified, Description: "The feed has not changed"},
	},
	Problems: []models.Code{models.CodeNotFound, models.CodeUnavailable},
}

// StatusFeed returns the Atom feed of a status page. Each outage has an entry for its
// start and, if it has ended, one for its end.
func (p Pages) StatusFeed(c *gin.Context) {
	ctx := c.Request.Context()
	page, err := p.Targets.PublicPage(ctx, c.Param("slug"))
	if err != nil {
		p.Fail(c, err)
		return
	}
	outages, err := p.Targets.PageOutages(ctx, page, feedOutages)
	if err != nil {
		p.Fail(c, err)
		return
	}
	f := newOutageFeed(p.Base(c), page, outages)
	text, err := feeds.ToXML(f)
	if err != nil {
		p.Fail(c, err)
		return
	}
	sum := sha256.Sum256([]byte(text))
	c.Header("ETag", `W/"`+hex.EncodeToString(sum[:12])+`"`)
	c.Header("Cache-Control", feedCacheControl)
	c.Header("Content-Type", "application/atom+xml; charset=utf-8")
	http.ServeContent(c.Writer, c.Request, "", f.at, bytes.NewReader([]byte(text)))
}

// outageFeed is an Atom feed (RFC 4287) with several links.
type outageFeed struct {
	feeds.AtomFeed
	Links []feeds.AtomLink `xml:"link"`
	at    time.Time        // of the newest entry
}

// FeedXml implements feeds.XmlFeed.
func (f *outageFeed) FeedXml() any { return f } //nolint:revive // the interface's name

func newOutageFeed(base string, page targets.StatusPage, outages []targets.Outage) *outageFeed {
	here, self := base+views.StatusPath(page.Slug), base+views.StatusFeedPath(page.Slug)
	f := &outageFeed{
		AtomFeed: feeds.AtomFeed{
			Xmlns: "http://www.w3.org/2005/Atom", Id: feedID(page.ID), Title: page.Title + ": outages",
			Author: &feeds.AtomAuthor{AtomPerson: feeds.AtomPerson{Name: page.Title}},
		},
		Links: []feeds.AtomLink{{Href: here, Rel: "alternate", Type: "text/html"}, {Href: self, Rel: "self", Type: "application/atom+xml"}},
		at:    page.UpdatedAt.Time,
	}
	add := func(o targets.Outage, at time.Time, id, title string) {
		f.Entries = append(f.Entries, &feeds.AtomEntry{
			Id: feedID(id), Title: title, Updated: feedTime(at), Published: feedTime(at),
			Links: []feeds.AtomLink{{Href: here + "#" + views.StatusDay(o.StartedAt.Time), Rel: "alternate", Type: "text/html"}},
		})
		if at.After(f.at) {
			f.at = at
		}
	}
	for _, o := range outages {
		if !o.EndedAt.IsZero() {
			add(o, o.EndedAt.Time, o.ID+" ended", o.TargetTitle()+": the outage ended after "+ui.LongDuration(o.Duration(o.EndedAt.Time)))
		}
		add(o, o.StartedAt.Time, o.ID, o.TargetTitle()+" is down")
	}
	f.Updated = feedTime(f.at)
	return f
}

// feedID returns the id of a feed or entry. It does not depend on the host name and does
// not reveal ids of the store.
func feedID(name string) string { return uuid.NewSHA1(uuid.NameSpaceOID, []byte(name)).URN() }

func feedTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// publicProblem shows an error to a visitor.
func (p Pages) publicProblem(c *gin.Context, problem *middleware.Problem) {
	p.PublicProblem(c, problem, views.StatusProblemPage)
}
