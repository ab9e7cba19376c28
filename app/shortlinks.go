package app

import (
	"fmt"
	"strings"

	"linkwatch/demo"
	"linkwatch/handlers"
	"linkwatch/handlers/middleware"
	shortlinkhandlers "linkwatch/handlers/shortlinks"
	"linkwatch/jobs"
	shortlinkjobs "linkwatch/jobs/shortlinks"
	"linkwatch/models/audit"
	"linkwatch/models/cleanup"
	"linkwatch/models/shortlinks"
	"linkwatch/models/shortlinks/cache"
	"linkwatch/models/shortlinks/visits"
	"linkwatch/views/ui"
)

// ShortLinks is the system of short links.
type ShortLinks struct {
	System
	Store  *shortlinks.Store
	Visits *visits.Counter
	Shared *cache.Shared // the Redis behind the cache; nil: there is none
	deps   *shortlinkhandlers.Deps
	pages  shortlinkhandlers.Pages
	cache  *cache.Memory
}

func newShortLinks(c *core) (*ShortLinks, error) {
	cfg := c.Config
	s := &ShortLinks{Visits: visits.New(), cache: cache.NewMemory(cfg.ShortCacheSize, c.Clock)}
	opts := shortlinks.Options{
		TombstoneTTL: cfg.ShortTombstoneTTL, BufferTime: cfg.CleanupBufferTime, KeepExpired: cfg.ShortKeepExpired, NoCleanup: !cfg.CleanupEnabled, BlockedHosts: cfg.ShortBlockedHosts,
		Own: cfg.Bases(), ShortHost: cfg.ShortHost,
	}
	var redisState func() (up bool, reason string)
	if c.Redis != nil {
		s.Shared = cache.NewShared(s.cache, c.Redis, opts, c.Log)
		redisState = s.Shared.State
	}
	s.Store = shortlinks.NewStore(c.DB, c.Clock, s.cache, s.Visits, opts)
	counting, err := shortlinkjobs.NewService(s.Store, s.Visits, s.cache, s.Shared, c.Log, c.registry)
	if err != nil {
		return nil, err
	}
	s.deps = &shortlinkhandlers.Deps{
		Frame: c.frame, ShortLinks: s.Store, ShortHost: cfg.ShortHost, Limit: middleware.NewLimiter("short links", cfg.ShortCreateLimit),
	}
	s.pages = shortlinkhandlers.Pages{Deps: s.deps}
	s.System = System{
		Items: map[string]audit.Item{
			"key": audit.ItemOf("short_link", s.Store.Get, shortlinks.ShortLink.DisplayTitle),
		},
		System: handlers.System{
			Name: "shortlinks",
			Nav:  shortlinkhandlers.Nav(), Overview: s.pages.Overview, Finders: s.pages.Finders(), Flash: s.pages.Flashes(), Routes: s.pages.Routes(),
			Described: shortlinkhandlers.Described(), Groups: shortlinkhandlers.Groups(), Operations: shortlinkhandlers.API{Deps: s.deps}.Register,
			Health: []middleware.HealthCheck{shortlinkhandlers.RedisCheck(redisState)},
			Host:   handlers.Host{Name: cfg.ShortHost, Routes: s.pages.HostRoutes(), Problem: s.pages.RedirectProblem},
		},
		Last: []jobs.Service{counting},
		Deletes: []cleanup.Kind{
			{
				Kind: "short_links", Label: "Short links", Remove: s.Store.ReapExpired, Waiting: s.Store.Waiting,
				Note:        "Short links stop working the moment they expire, before cleanup archives them.",
				Description: fmt.Sprintf("that expired more than %s ago, which move to the archive, or were deleted more than a day ago", ui.WholeUnits(cfg.CleanupBufferTime)),
			},
			{
				Kind: "archived_short_links", Label: "Archived short links", Remove: s.Store.ReapArchived,
				Description: fmt.Sprintf("that expired more than %s ago or were deleted more than a day ago, with their visits", ui.WholeUnits(cfg.ShortKeepExpired)),
			},
			{
				Kind: "visit_days", Label: "Visits by day", Remove: s.Store.ReapDays,
				Description: fmt.Sprintf("of short links, older than %d days", shortlinks.KeepDays),
			},
		},
		Demo: demo.ShortLinks, Serve: s.reserve, Close: s.cache.Close,
	}
	if !cfg.CleanupEnabled {
		s.System.Deletes[0].Kept = "CLEANUP_ENABLED is false"
		s.System.Deletes[1].Kept = s.System.Deletes[0].Kept
	}
	return s, nil
}

// reserve keeps keys free that are the first part of a path of the server.
func (s *ShortLinks) reserve(routes []middleware.Route) {
	for _, r := range routes {
		first, _, _ := strings.Cut(strings.TrimPrefix(r.Path, "/"), "/")
		s.Store.Reserve(first)
	}
}
