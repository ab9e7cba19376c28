package crawl

import "linkwatch/models"

// Orders of lists.
var (
	SourceOrders = models.Orders[Source]{
		Field: "created_at", Time: "created_at", ID: "id", Kind: models.KindSource,
		At: func(s Source) models.Cursor { return models.Cursor{CreatedAt: s.CreatedAt, ID: s.ID} },
	}
	JobOrders = models.Orders[Job]{
		Field: "created_at", Time: "jobs.created_at", ID: "jobs.id", Kind: models.KindJob,
		At: func(j Job) models.Cursor { return models.Cursor{CreatedAt: j.CreatedAt, ID: j.ID} },
		More: []models.Order[Job]{{
			Field: "updated_at", Columns: []string{"jobs.updated_at", "jobs.seq"}, Desc: true,
			Values: func(j Job) []any { return []any{j.UpdatedAt.UnixMicro(), j.Seq} },
		}},
	}
	ExecutionOrders = models.Orders[Execution]{
		Field: "started_at", Desc: true, Time: "job_executions.started_at", ID: "job_executions.id", Kind: models.KindExecution,
		At: func(e Execution) models.Cursor { return models.Cursor{CreatedAt: e.StartedAt, ID: e.ID} },
	}
	FrontierOrders = models.Orders[FrontierEntry]{
		Field: "created_at", Time: "f.created_at", ID: "f.seq", Key: models.ByNumber, Kind: models.KindFrontier,
		At: func(e FrontierEntry) models.Cursor { return models.Cursor{CreatedAt: e.CreatedAt, ID: e.ID()} },
	}
	DiscoveredOrders = models.Orders[DiscoveredLink]{
		Field: "created_at", Time: "discovered_links.created_at", ID: "discovered_links.seq", Key: models.ByNumber, Kind: models.KindDiscovered,
		At: func(d DiscoveredLink) models.Cursor { return models.Cursor{CreatedAt: d.CreatedAt, ID: d.ID()} },
	}
	PageOrders = models.Orders[FoundPage]{ // without a search
		Field: "created_at", Time: "crawled_pages.created_at", ID: "crawled_pages.seq", Key: models.ByNumber, Kind: models.KindCrawled, At: cursorOf,
	}
	FeedOrders = models.Orders[Feed]{
		Field: "created_at", Time: "f.created_at", ID: "f.seq", Key: models.ByNumber, Kind: models.KindFeed,
		At: func(f Feed) models.Cursor { return models.Cursor{CreatedAt: f.CreatedAt, ID: f.ID()} },
	}
	BrokenOrders = models.Orders[BrokenLink]{
		Field: "created_at", Time: "b.created_at", ID: "b.seq", Key: models.ByNumber, Kind: models.KindBroken,
		At: func(b BrokenLink) models.Cursor {
			return models.Cursor{CreatedAt: b.CreatedAt, ID: models.TimedID(models.KindBroken, b.CreatedAt, b.Seq)}
		},
	}
)
