package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/redis/go-redis/v9"

	"linkwatch/config"
	"linkwatch/handlers"
	"linkwatch/handlers/middleware"
	"linkwatch/jobs"
	linkjobs "linkwatch/jobs/links"
	"linkwatch/jobs/reaper"
	shortlinkjobs "linkwatch/jobs/shortlinks"
	targetjobs "linkwatch/jobs/targets"
	"linkwatch/models"
	"linkwatch/models/cleanup"
	"linkwatch/models/links"
	"linkwatch/models/schedule"
	"linkwatch/models/shortlinks"
	"linkwatch/models/shortlinks/cache"
	"linkwatch/models/shortlinks/visits"
	"linkwatch/models/targets"
	"linkwatch/outbound"
)

// app is what serves, wired together.
type app struct {
	outbound *outbound.Client
	cache    *cache.Memory
	visits   *visits.Counter
	redis    *redis.Client // nil: there is none
	router   *handlers.Router
	services jobs.Services
	last     jobs.Service // to be stopped when no request can come any more: it writes down what they left
}

// Close lets go of what newApp opened. Nothing may run any more.
func (a *app) Close() {
	a.outbound.Close()
	a.cache.Close()
	if a.redis != nil {
		_ = a.redis.Close()
	}
}

// maxRequestFetches is how many pages are fetched at once for requests: saves,
// previews and refreshes. Each may take some megabytes while it is read. Further
// ones wait for requestFetchWait, then fail with 503.
const (
	maxRequestFetches = 16
	requestFetchWait  = 5 * time.Second
)

// longBatch is how long others may have to wait for a transaction of the reaper.
const longBatch = 100 * time.Millisecond

// newApp wires the program over an open store. Nothing runs yet, but the
// scheduled jobs are known.
func newApp(ctx context.Context, cfg config.Config, db *models.DB, log *slog.Logger) (*app, error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))

	client := outbound.New(outbound.Options{
		UserAgent: cfg.UserAgent(version()), AllowCIDRs: cfg.OutboundAllowCIDRs, Timeout: cfg.HTTPTimeout,
		MaxConcurrent: cfg.MaxConcurrency, // for checks; rechecks and requests have budgets of their own
	})
	rechecks := client.Budget(2*cfg.MaxConcurrency, 0) // the workers of revalidation and of the refresher
	requests := client.Budget(maxRequestFetches, requestFetchWait)
	store := links.NewStore(db, nil, linkjobs.NewFetcher(requests), links.Options{
		CheckInterval: cfg.LinkCheckInterval, Background: linkjobs.NewFetcher(rechecks),
	})
	watched := targets.NewStore(db, nil, targets.Options{CheckInterval: cfg.CheckInterval, Retention: cfg.ResultRetention})
	a := &app{outbound: client, cache: cache.NewMemory(cfg.ShortCacheSize, nil), visits: visits.New()}
	shortened, shared, err := a.shorten(cfg, db, log)
	if err != nil {
		return nil, err
	}
	cleaned := cleanup.NewStore(db, nil)
	scheduled := schedule.NewStore(db, nil)
	remove := map[string]cleanup.Remove{
		cleanup.VisitDays: shortened.ReapDays, cleanup.IdempotencyKeys: db.ReapKeys(nil),
		cleanup.CheckResults: watched.ReapResults, cleanup.Tags: store.ReapTags,
	}
	if cfg.CleanupEnabled {
		remove[cleanup.ShortLinks] = shortened.ReapEnded
	}
	reap, err := reaper.Reaper(cleaned, reaper.Options{
		Interval: cfg.CleanupInterval, BatchSize: cfg.CleanupBatchSize, MaxDuration: cfg.CleanupMaxDuration, LongBatch: longBatch,
	}, registry, remove)
	if err != nil {
		return nil, err
	}
	a.last, err = shortlinkjobs.New(shortened, a.visits, a.cache, shared, log, registry)
	if err != nil {
		return nil, err
	}
	runner, err := jobs.NewRunner(scheduled, log, registry,
		linkjobs.Revalidation(store, cfg.MaxConcurrency), jobs.Retention(store.Purge, watched.Purge), reap)
	if err != nil {
		return nil, err
	}
	if err := runner.Declare(ctx); err != nil {
		return nil, err
	}
	checker, err := targetjobs.New(watched, client, cfg.MaxConcurrency, log, registry)
	if err != nil {
		return nil, err
	}
	password := string(cfg.AdminPassword)
	if cfg.AuthDisabled {
		password = ""
	}
	var redisUp func() bool
	if shared != nil {
		redisUp = shared.Up
	}
	a.router, err = handlers.New(handlers.Deps{
		DB: db, Redis: redisUp, Links: store, Targets: watched, ShortLinks: shortened, Cleanup: cleaned, Jobs: scheduled, Log: log, Registry: registry,
		Version: version(), Settings: config.Describe(cfg),
		Host: cfg.HTTPHost, Password: password, ShortCreateLimit: cfg.ShortCreateLimit,
		Addresses: middleware.Addresses{PublicURL: cfg.PublicURL, ShortHost: cfg.ShortHost},
	})
	if err != nil {
		return nil, err
	}
	a.services = jobs.Services{runner, checker, linkjobs.NewRefresher(store, cfg.MaxConcurrency, log)}
	return a, nil
}

// shorten makes the store of short links over the cache of this process, and
// the one shared with other instances if there is a Redis.
func (a *app) shorten(cfg config.Config, db *models.DB, log *slog.Logger) (*shortlinks.Store, *cache.Shared, error) {
	opts := shortlinks.Options{
		TombstoneTTL: cfg.ShortTombstoneTTL, BufferTime: cfg.CleanupBufferTime, KeepEnded: !cfg.CleanupEnabled, BlockedHosts: cfg.ShortBlockedHosts,
		Own: cfg.Authorities(), ShortHost: cfg.ShortHost,
	}
	if cfg.RedisURL == "" {
		return shortlinks.NewStore(db, nil, a.cache, a.visits, opts), nil, nil
	}
	client, err := models.OpenRedis(string(cfg.RedisURL))
	if err != nil {
		return nil, nil, err
	}
	a.redis = client
	shared := cache.NewShared(a.cache, client, opts, log)
	return shortlinks.NewStore(db, nil, shared, a.visits, opts), shared, nil
}

// openStore opens the store with the newest schema.
func openStore(ctx context.Context, cfg config.Config, log *slog.Logger) (*models.DB, error) {
	db, err := models.Open(ctx, cfg.DatabaseDriver, string(cfg.DatabaseURL), log)
	if err != nil {
		return nil, storeError(cfg, err)
	}
	if err := db.Migrate(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// storeError says which setting to look at when the store does not open.
func storeError(cfg config.Config, err error) error {
	if cfg.DatabaseDriver == models.Postgres {
		return fmt.Errorf("DATABASE_URL: the server has to run, and to know this user, password and database: %w", err)
	}
	const cannotOpen = 14 // SQLITE_CANTOPEN, which the driver words as "out of memory"
	var code interface{ Code() int }
	if errors.As(err, &code) && code.Code()&0xff == cannotOpen {
		return fmt.Errorf("DATABASE_URL=%q cannot be opened: its folder must be there, and this program must be allowed to write to it",
			cfg.DatabaseURL)
	}
	switch fault := models.FaultOf(err); {
	case models.Damaged(err):
		return fmt.Errorf("DATABASE_URL=%q is damaged and cannot be opened: restore a backup: %w", cfg.DatabaseURL, err)
	case fault != nil:
		return fmt.Errorf("DATABASE_URL=%q cannot be opened: %s (%w)", cfg.DatabaseURL, fault.Detail, err)
	}
	const unchanged = "and was not changed: name a new file or a database of Linkwatch"
	switch {
	case errors.Is(err, models.ErrNotSQLite):
		return fmt.Errorf("DATABASE_URL=%q is not an SQLite database, %s", cfg.DatabaseURL, unchanged)
	case errors.Is(err, models.ErrForeign):
		return fmt.Errorf("DATABASE_URL=%q is an SQLite database of another program, %s", cfg.DatabaseURL, unchanged)
	}
	return fmt.Errorf("DATABASE_URL=%q: %w", cfg.DatabaseURL, err)
}

// closeStore closes the store when its user is done, and adds what went wrong to *err.
func closeStore(db *models.DB, err *error) { *err = errors.Join(*err, db.Close()) }

// newLogger writes to stdout as LOG_LEVEL and LOG_FORMAT say; by way of w.
func newLogger(cfg config.Config, stdout, w io.Writer) *slog.Logger {
	opts := &slog.HandlerOptions{Level: cfg.LogLevel}
	if cfg.LogFormatFor(isTerminal(stdout)) == config.LogText {
		return slog.New(slog.NewTextHandler(w, opts))
	}
	return slog.New(slog.NewJSONHandler(w, opts))
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
