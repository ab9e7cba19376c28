package crawl

import (
	"context"
	"net/http"
	"time"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/crawl"
)

func (a API) registerFeeds(r *api.API) {
	api.Register(r, api.Operation(groupFeeds, middleware.Viewer, "GET", "/v1/feeds", "list-feeds", "List feeds",
		"Oldest first. Feeds are polled only with CRAWLER_FEED_POLL_ENABLED=true, and only those of enabled sources."), a.listFeeds)
	api.Register(r, api.Creates(api.Operation(groupFeeds, middleware.Editor, "POST", "/v1/feeds", "add-feed", "Add a feed",
		"What is new in it is fetched once, if it is in the allowed domains of the source. If the source has the feed already, the answer is 200 with it.",
		models.CodeConflict), "Feed"), a.addFeed)
	api.Register(r, api.Operation(groupFeeds, middleware.Editor, "DELETE", "/v1/feeds/{id}", "delete-feed", "Delete a feed",
		"It comes back when a crawl finds it again.", models.CodeNotFound), a.deleteFeed)
}

// Feed is a feed of a source on the wire.
type Feed struct {
	ID           string     `json:"id" example:"h_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the feed"`
	SourceID     string     `json:"source_id" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the source"`
	URL          string     `json:"url" example:"https://example.com/feed.xml" doc:"URL. After a permanent redirect, the one that it leads to"`
	Title        *string    `json:"title" example:"Example news" doc:"Title. null if it is not known"`
	CreatedAt    time.Time  `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"When it was added"`
	LastPolledAt *time.Time `json:"last_polled_at" example:"2025-03-24T12:15:00Z" doc:"When it was last polled. null if it never was"`
	NextPollAt   *time.Time `json:"next_poll_at" example:"2025-03-24T12:30:00Z" doc:"When it is due. null if it is not polled any more, because its server said that it is gone or that it is another feed of the source"`
	Failures     int        `json:"failures" example:"0" doc:"Number of polls that failed in a row"`
	LastError    *string    `json:"last_error" example:"status 500" doc:"Why the last poll failed. null if it did not"`
	EntriesFound int        `json:"entries_found" example:"12" doc:"Number of entries that were new when they were seen, within the allowed domains"`
}

func toFeed(f crawl.Feed) Feed {
	return Feed{
		ID: f.ID(), SourceID: f.SourceID, URL: f.URL, Title: api.OrNull(f.Title), CreatedAt: f.CreatedAt.Time, LastPolledAt: api.Time(f.LastPolledAt),
		NextPollAt: api.Time(f.NextPollAt), Failures: f.Failures, LastError: api.OrNull(f.LastError), EntriesFound: f.EntriesFound,
	}
}

type listFeedsInput struct {
	api.SliceParams
	SourceID string `query:"source_id" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the source"`
}

func (a API) listFeeds(ctx context.Context, in *listFeedsInput) (*api.Output[api.Slice[Feed]], error) {
	after, limit, err := in.Parse()
	if err != nil {
		return nil, err
	}
	l, err := a.Crawl.Feeds(ctx, in.SourceID, after, limit)
	return api.AnswerSlice(l, toFeed, err)
}

type addFeedInput struct {
	Body struct {
		URL      string `json:"url" example:"https://example.com/feed.xml" doc:"URL of an RSS, Atom or JSON feed, http or https, at most 2048 bytes"`
		SourceID string `json:"source_id,omitempty" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the source. If left out, a source of the URL's host, which is made if there is none"`
	}
}

type addFeedOutput struct {
	Status   int
	Location string `header:"Location" doc:"Path of the feeds in this API"`
	Body     Feed
}

func (a API) addFeed(ctx context.Context, in *addFeedInput) (*addFeedOutput, error) {
	f, created, err := a.Crawl.AddFeed(ctx, in.Body.URL, in.Body.SourceID)
	if err != nil {
		return nil, err
	}
	out := &addFeedOutput{http.StatusOK, "/v1/feeds", toFeed(f)}
	if created {
		out.Status = http.StatusCreated
	}
	return out, nil
}

type feedPath struct {
	ID string `path:"id" example:"h_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the feed"`
}

func (a API) deleteFeed(ctx context.Context, in *feedPath) (*struct{}, error) {
	return nil, a.Crawl.DeleteFeed(ctx, in.ID)
}
