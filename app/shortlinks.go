package app

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"linkwatch/demo"
	"linkwatch/handlers"
	"linkwatch/handlers/middleware"
	shortlinkhandlers "linkwatch/handlers/shortlinks"
	"linkwatch/jobs"
	shortlinkjobs "linkwatch/jobs/shortlinks"
	"linkwatch/models"
	"linkwatch/models/cleanup"
	"linkwatch/models/shortlinks"
)

// ShortLinks is the system of short links.
type ShortLinks struct {
	System
	Store  *shortlinks.Store
	Shared *shortlinks.Shared // the cache that instances share; nil: there is no Redis
	deps   *shortlinkhandlers.Deps
	pages  shortlinkhandlers.Pages
	cache  *shortlinks.Memory
	redis  *redis.Client // nil: there is none
}

func newShortLinks(c *core) (*ShortLinks, error) {
	cfg := c.Config
	s := &ShortLinks{cache: shortlinks.NewMemory(cfg.ShortCacheSize, c.Clock), redis: c.Redis}
	opts := shortlinks.Options{
		TombstoneTTL: cfg.ShortTombstoneTTL, BufferTime: cfg.CleanupBufferTime, Keep: !cfg.CleanupEnabled, BlockedHosts: cfg.ShortBlockedHosts,
		Own: cfg.Authorities(), ShortHost: cfg.ShortHost,
	}
	var cache shortlinks.Cache = s.cache
	var redisUp func() bool
	if s.redis == nil && cfg.RedisURL != "" {
		var err error
		if s.redis, err = models.OpenRedis(string(cfg.RedisURL)); err != nil {
			return nil, err
		}
	}
	if s.redis != nil {
		s.Shared = shortlinks.NewShared(s.cache, s.redis, opts, c.Log)
		cache, redisUp = s.Shared, s.Shared.Up
	}
	s.Store = shortlinks.NewStore(c.DB, c.Clock, cache, opts)
	counting, err := shortlinkjobs.New(s.Store, s.cache, s.Shared, c.Log, c.registry)
	if err != nil {
		return nil, err
	}
	s.deps = &shortlinkhandlers.Deps{
		Frame: c.frame, ShortLinks: s.Store, ShortHost: cfg.ShortHost, Limit: middleware.NewLimiter("short links", cfg.ShortCreateLimit),
	}
	s.pages = shortlinkhandlers.Pages{Deps: s.deps}
	s.System = System{
		System: handlers.System{
			Nav: shortlinkhandlers.Nav(), Overview: s.pages.Overview, Flash: s.pages.Flashes(), Routes: s.pages.Routes(),
			Described: shortlinkhandlers.Described(), Groups: shortlinkhandlers.Groups(), Operations: shortlinkhandlers.API{Deps: s.deps}.Register,
			Health: []middleware.HealthCheck{shortlinkhandlers.RedisCheck(redisUp)},
			Host:   handlers.Host{Name: cfg.ShortHost, Routes: s.pages.HostRoutes(), Problem: s.pages.RedirectProblem},
		},
		Last: []jobs.Service{counting},
		Deletes: []cleanup.Kind{
			{
				Name: "short_links", Label: "Short links", Remove: s.Store.Reap, Waiting: s.Store.Waiting,
				Note:        "Short links stop working the moment they expire, whenever they are deleted.",
				Description: "with their visits, CLEANUP_BUFFER_TIME after they ended or a day after they were deleted",
			},
			{
				Name: "visit_days", Label: "Visits by day", Remove: s.Store.ReapDays,
				Description: fmt.Sprintf("of short links, older than %d days", shortlinks.KeepDays),
			},
		},
		Demo: func(ctx context.Context, r *demo.Run) (string, error) { return demo.ShortLinks(ctx, r) },
	}
	if !cfg.CleanupEnabled {
		s.System.Deletes[0].Kept = "CLEANUP_ENABLED is false"
	}
	return s, nil
}

// Close lets go of the cache and of Redis.
func (s *ShortLinks) Close() {
	s.cache.Close()
	if s.redis != nil {
		_ = s.redis.Close()
	}
}
