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
	api.Register(r, api.Sorts(api.Operation(groupFeeds, middleware.Viewer, "GET", "/v1/feeds", "list-feeds", "List feeds",
		"Oldest first. Feeds are polled if CRAWLER_FEED_POLL_ENABLED=true and their source is enabled."), "created_at"), a.listFeeds)
	api.Register(r, api.Creates(api.Operation(groupFeeds, middleware.Editor, "POST", "/v1/feeds", "add-feed", "Add a feed",
		"New entries are fetched once if their URLs are in the allowed domains of the source. Returns 200 with the existing feed if the source already has it.",
		models.CodeConflict), "Feed"), a.addFeed)
	api.Register(r, api.Item(api.Operation(groupFeeds, middleware.Viewer, "GET", "/v1/feeds/{id}", "get-feed", "Get a feed", "Includes the result of its last poll.", models.CodeNotFound),
		"id", "url"), a.getFeed)
	api.Register(r, api.Operation(groupFeeds, middleware.Editor, "POST", "/v1/feeds/{id}/poll", "poll-feed", "Poll a feed now",
		"The feed is polled within a minute, even if its polling has stopped. Returns 409 if CRAWLER_FEED_POLL_ENABLED is not true, or its source is disabled.",
		models.CodeNotFound, models.CodeConflict), a.pollFeed)
	api.Register(r, api.Operation(groupFeeds, middleware.Editor, "DELETE", "/v1/feeds/{id}", "delete-feed", "Delete a feed",
		"A crawl that finds the feed again adds it again.", models.CodeNotFound), a.deleteFeed)
}

// Feed is a feed of a source in the API.
type Feed struct {
	ID           string     `json:"id" example:"h_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the feed"`
	SourceID     string     `json:"source_id" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the source"`
	URL          string     `json:"url" example:"https://example.com/feed.xml" doc:"URL. After a permanent redirect, the new URL"`
	Title        *string    `json:"title" example:"Example news" doc:"Title. null if unknown"`
	CreatedAt    time.Time  `json:"created_at" example:"2025-03-24T12:00:00Z" doc:"Creation time"`
	LastPolledAt *time.Time `json:"last_polled_at" example:"2025-03-24T12:15:00Z" doc:"Time of the last poll. null if it has not been polled"`
	NextPollAt   *time.Time `json:"next_poll_at" example:"2025-03-24T12:30:00Z" doc:"Time of the next poll. null if polling has stopped: the server answered 410, or the feed redirects to another feed of the source"`
	Failures     int        `json:"failures" example:"0" doc:"Number of consecutive failed polls"`
	LastError    *string    `json:"last_error" example:"status 500" doc:"Error of the last poll. null if it succeeded"`
	EntriesFound int        `json:"entries_found" example:"12" doc:"Total number of new entries within the allowed domains"`
	Truncated    bool       `json:"truncated" example:"false" doc:"Whether only the first 15 MiB or 500 entries were read when the feed was last read"`
}

func toFeed(f crawl.Feed) Feed {
	return Feed{
		ID: f.ID(), SourceID: f.SourceID, URL: f.URL, Title: api.OrNull(f.Title), CreatedAt: f.CreatedAt.Time, LastPolledAt: api.Time(f.LastPolledAt),
		NextPollAt: api.Time(f.NextPollAt), Failures: f.Failures, LastError: api.OrNull(f.LastError), EntriesFound: f.EntriesFound,
		Truncated: f.Truncated,
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
		SourceID string `json:"source_id,omitempty" example:"s_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the source. Default: a source for the host of the URL, which is created if needed"`
	}
}

type addFeedOutput struct {
	Status   int
	Location string `header:"Location" doc:"Path of the feed in this API"`
	Body     Feed
}

func (a API) addFeed(ctx context.Context, in *addFeedInput) (*addFeedOutput, error) {
	f, created, err := a.Crawl.AddFeed(ctx, in.Body.URL, in.Body.SourceID)
	if err != nil {
		return nil, err
	}
	out := &addFeedOutput{http.StatusOK, "/v1/feeds/" + f.ID(), toFeed(f)}
	if created {
		out.Status = http.StatusCreated
	}
	return out, nil
}

type feedPath struct {
	ID string `path:"id" example:"h_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the feed"`
}

func (a API) getFeed(ctx context.Context, in *feedPath) (*api.Output[Feed], error) {
	f, err := a.Crawl.Feed(ctx, in.ID)
	return api.Answer(toFeed(f), err)
}

func (a API) pollFeed(ctx context.Context, in *feedPath) (*api.Output[Feed], error) {
	if err := a.pollNow(ctx, in.ID); err != nil {
		return nil, err
	}
	return a.getFeed(ctx, in)
}

// pollNow makes a feed due. The error is CodeConflict if feeds are not polled.
func (d *Deps) pollNow(ctx context.Context, id string) error {
	if _, err := d.Crawl.Feed(ctx, id); err != nil {
		return err
	}
	if !d.FeedPolling {
		return models.Conflict("Polling is off. Set CRAWLER_FEED_POLL_ENABLED=true and restart Linkwatch.")
	}
	return d.Crawl.PollFeed(ctx, id)
}

func (a API) deleteFeed(ctx context.Context, in *feedPath) (*struct{}, error) {
	return nil, a.Crawl.DeleteFeed(ctx, in.ID)
}
