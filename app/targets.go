package app

import (
	"cmp"
	"context"
	"fmt"

	"linkwatch/demo"
	"linkwatch/handlers"
	targethandlers "linkwatch/handlers/targets"
	"linkwatch/jobs"
	targetjobs "linkwatch/jobs/targets"
	"linkwatch/models"
	"linkwatch/models/audit"
	"linkwatch/models/cleanup"
	"linkwatch/models/targets"
	"linkwatch/views/ui"
)

// Targets is the system of targets, checks and status pages.
type Targets struct {
	System
	Store *targets.Store
	deps  *targethandlers.Deps
	pages targethandlers.Pages
}

func newTargets(c *core) (*Targets, error) {
	cfg := c.Config
	store := targets.NewStore(c.DB, c.Clock, targets.Options{CheckInterval: cfg.CheckInterval, Retention: cfg.ResultRetention})
	checker, err := targetjobs.NewChecker(store, c.lease, c.outbound, cfg.MaxConcurrency, cfg.ChecksPerHost, c.Log, c.registry)
	if err != nil {
		return nil, err
	}
	deps := &targethandlers.Deps{Frame: c.frame, Targets: store, Stopping: c.health.WhenStopping()}
	pages := targethandlers.Pages{Deps: deps}
	return &Targets{Store: store, deps: deps, pages: pages, System: System{
		Items: map[string]audit.Item{
			string(models.KindTarget): audit.ItemOf("target", store.Get, func(t targets.Target) string { return cmp.Or(t.Name, t.URL) }),
		},
		System: handlers.System{
			Name: "targets",
			Nav:  targethandlers.Nav(), Overview: pages.Overview, Finders: pages.Finders(), Flash: pages.Flashes(), Routes: pages.Routes(),
			Samples:   targetjobs.Probes{Store: store, Log: c.Log},
			Described: targethandlers.Described(), Groups: targethandlers.Groups(), Operations: targethandlers.API{Deps: deps}.Register,
		},
		Services: []jobs.Service{checker},
		Events:   targets.Events(),
		Deletes: []cleanup.Kind{ // targets last: those with history cannot be deleted yet
			{
				Kind: "check_results", Label: "Check results", Remove: store.ReapResults,
				Description: fmt.Sprintf("older than %s, or of targets deleted more than a day ago", ui.WholeUnits(cfg.ResultRetention)),
			},
			{
				Kind: "outages", Label: "Outages", Remove: store.ReapOutages,
				Description: fmt.Sprintf("older than %d days, or of targets deleted more than a day ago", targets.KeepDays),
			},
			{Kind: "targets", Label: "Targets", Description: "deleted more than a day ago, with their history", Remove: store.ReapTargets},
		},
		Demo: func(ctx context.Context, r *demo.Run) (string, error) {
			return demo.Targets(ctx, r, cfg.ResultRetention)
		},
	}}, nil
}
