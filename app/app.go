package app

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/redis/go-redis/v9"

	"linkwatch/config"
	"linkwatch/handlers"
	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	"linkwatch/jobs"
	"linkwatch/jobs/reaper"
	"linkwatch/models"
	"linkwatch/models/audit"
	"linkwatch/models/disk"
	"linkwatch/models/lease"
	"linkwatch/models/links"
	"linkwatch/models/secret"
	"linkwatch/outbound"
)

// Options configure the program.
type Options struct {
	Config config.Config
	DB     *models.DB
	Log    *slog.Logger

	// For tests:

	Version string        // "": the version of the build
	Clock   models.Clock  // nil: time.Now
	Fetcher links.Fetcher // fetches the pages of links; nil: over HTTP
	Redis   *redis.Client // nil: the one of REDIS_URL, if set. App.Close closes it
	Disks   disk.Look     // returns the space on disks; nil: those of the database and BACKUP_DIR
	Secrets *secret.Box   // encrypts stored credentials; nil: with a random key
}

// core holds what all systems share.
type core struct {
	Options
	registry *prometheus.Registry
	outbound *outbound.Client
	lease    *lease.Lease // of this instance, kept by App.heartbeat
	frame    *pages.Frame
	health   *middleware.Health
}

func newCore(o Options) (*core, error) {
	if o.Redis == nil && o.Config.RedisURL != "" {
		var err error
		if o.Redis, err = models.OpenRedis(string(o.Config.RedisURL)); err != nil {
			return nil, err
		}
	}
	if o.Secrets == nil {
		var err error
		if o.Secrets, err = secret.FromText(rand.Text()); err != nil {
			return nil, err
		}
	}
	if o.Disks == nil {
		o.Disks = disk.On(databaseFolder(o.Config), o.Config.BackupDir)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	o.Version = cmp.Or(o.Version, version())
	errs := &middleware.Errors{Log: o.Log}
	return &core{
		Options: o, registry: registry, lease: lease.New(o.DB, o.Clock),
		outbound: outbound.New(outbound.Options{
			UserAgent: o.Config.UserAgent(o.Version), AllowCIDRs: o.Config.OutboundAllowCIDRs, Timeout: o.Config.HTTPTimeout,
			MaxConcurrent: o.Config.MaxConcurrency, // for checks; rechecks and requests have their own budgets
		}),
		frame:  pages.New(errs, o.Version, o.Config.PublicURL, o.Clock),
		health: middleware.NewHealth(errs, o.DB, o.Version),
	}, nil
}

// close releases what newCore opened. Call it after all services have stopped.
func (c *core) close() {
	c.outbound.Close()
	if c.Redis != nil {
		_ = c.Redis.Close()
	}
}

// App is the program, wired together.
type App struct {
	Systems *Systems
	Router  *handlers.Router
	Health  *middleware.Health

	core      *core
	runner    *jobs.Runner
	heartbeat jobs.Service // starts before all services and stops after them
	services  jobs.Services
	last      jobs.Services // stop after the listener has drained
}

// Close releases what New opened. Call it after all services have stopped.
func (a *App) Close() {
	a.Systems.Close()
	a.core.close()
}

// longBatch is the longest time that a transaction of the reaper may block other writers.
const longBatch = 100 * time.Millisecond

// New wires the program over an open database and starts nothing. Before the program serves requests, call
// accounts.Store.Look, which finds out whether accounts exist.
func New(o Options) (*App, error) { return newApp(o) }

// newApp is New with additional systems, for tests.
func newApp(o Options, more ...func(*core) System) (*App, error) {
	c, err := newCore(o)
	if err != nil {
		return nil, err
	}
	systems, err := newSystems(c, more...)
	if err != nil {
		return nil, err
	}
	a := &App{Systems: systems, Health: c.health, core: c, heartbeat: jobs.NewHeartbeat(c.lease, o.Log)}
	cfg := o.Config
	reap, err := reaper.Reaper(systems.Admin.Cleanup, reaper.Options{
		Interval: cfg.CleanupInterval, BatchSize: cfg.CleanupBatchSize, MaxDuration: cfg.CleanupMaxDuration, LongBatch: longBatch,
	}, c.registry)
	if err != nil {
		return nil, err
	}
	scheduled := []jobs.Job{reap}
	items := map[string]audit.Item{}
	for _, s := range systems.All() {
		maps.Copy(items, s.Items)
		scheduled = append(scheduled, s.Jobs...)
		a.services = append(a.services, s.Services...)
		a.last = append(a.last, s.Last...)
	}
	systems.Accounts.Store.RecordReadsOf(items)
	a.runner, err = jobs.NewRunner(systems.Admin.Jobs, c.lease, o.Log, c.registry, scheduled...)
	if err != nil {
		return nil, err
	}
	a.services = append(a.services, a.runner)
	a.Router = handlers.New(handlers.Deps{
		Systems: systems.served(), Frame: c.frame, Health: c.health, Log: o.Log, Registry: c.registry,
		TrustedProxies: cfg.TrustedProxies, Host: cfg.HTTPHost, PublicURL: cfg.PublicURL, Access: systems.Accounts.Access,
	})
	if path := middleware.SubpathOf(cfg.PublicURL); path != "" && a.Router.Serves(path) {
		return nil, fmt.Errorf("PUBLIC_URL=%q: Linkwatch itself has a path that starts like %s. "+
			"Choose another one, such as /linkwatch", cfg.PublicURL, path)
	}
	for _, s := range systems.All() {
		if s.Serve != nil {
			s.Serve(a.Router.Routes())
		}
	}
	return a, nil
}
