package targets

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/targets"
	views "linkwatch/views/targets"
	"linkwatch/views/ui"
)

const (
	feedOutages      = 50 // outages in the feed of a status page
	feedCacheControl = "public, max-age=60"
)

var feedOperation = middleware.Operation{
	Methods: []string{http.MethodGet}, Path: "/status/:slug/feed", ID: "get-status-feed", Tag: groupStatusPages,
	Public: true, Summary: "Get the feed of a status page", Description: "An Atom feed of the outages of its targets.",
	Params: []middleware.Param{{Name: "slug", In: "path", Example: "shop", Description: "Slug of the status page"}},
	Responses: []middleware.Response{
		{
			Status: http.StatusOK, Description: "Feed",
			Headers: map[string]string{"ETag": "Version of the feed, for If-None-Match"},
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
	text, err := xml.MarshalIndent(f, "", "  ")
	if err != nil {
		p.Fail(c, err)
		return
	}
	text = append([]byte(strings.TrimSpace(xml.Header)), text...)
	sum := sha256.Sum256(text)
	c.Header("ETag", `W/"`+hex.EncodeToString(sum[:12])+`"`)
	c.Header("Cache-Control", feedCacheControl)
	c.Header("Content-Type", "application/atom+xml; charset=utf-8")
	http.ServeContent(c.Writer, c.Request, "", f.at, bytes.NewReader(text))
}

// outageFeed is an Atom feed (RFC 4287).
type outageFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	Title   string      `xml:"title"`
	ID      string      `xml:"id"`
	Updated string      `xml:"updated"`
	Author  string      `xml:"author>name"`
	Entries []feedEntry `xml:"entry"`
	Links   []feedLink  `xml:"link"`

	at time.Time // of the newest entry
}

type feedEntry struct {
	Title     string   `xml:"title"`
	Updated   string   `xml:"updated"`
	ID        string   `xml:"id"`
	Published string   `xml:"published"`
	Link      feedLink `xml:"link"`
}

type feedLink struct {
	Href string `xml:"href,attr"`
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr"`
}

func newOutageFeed(base string, page targets.StatusPage, outages []targets.Outage) *outageFeed {
	here, self := base+views.StatusPath(page.Slug), base+views.StatusFeedPath(page.Slug)
	f := &outageFeed{
		Title: page.Title + ": outages", ID: feedID(page.ID), Author: page.Title, at: page.UpdatedAt.Time,
		Links: []feedLink{{here, "alternate", "text/html"}, {self, "self", "application/atom+xml"}},
	}
	add := func(o targets.Outage, at time.Time, id, title string) {
		f.Entries = append(f.Entries, feedEntry{
			ID: feedID(id), Title: title, Updated: feedTime(at), Published: feedTime(at),
			Link: feedLink{here + "#" + views.StatusDay(o.StartedAt.Time), "alternate", "text/html"},
		})
		if at.After(f.at) {
			f.at = at
		}
	}
	for _, o := range outages {
		if end := o.EndedAt.Time; !end.IsZero() {
			add(o, end, o.ID+" ended", o.TargetTitle()+": the outage ended after "+ui.LongDuration(o.Duration(end)))
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
