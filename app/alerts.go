package app

import (
	"context"
	"fmt"

	"linkwatch/demo"
	"linkwatch/handlers"
	alerthandlers "linkwatch/handlers/alerts"
	"linkwatch/jobs"
	alertjobs "linkwatch/jobs/alerts"
	"linkwatch/jobs/alerts/send"
	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/audit"
	"linkwatch/models/cleanup"
	"linkwatch/models/crawl"
	"linkwatch/models/event"
	"linkwatch/models/links"
	"linkwatch/models/shortlinks"
	"linkwatch/models/sites"
	"linkwatch/models/targets"
	"linkwatch/outbound"
	alertviews "linkwatch/views/alerts"
)

// Alerts is the alerts system: channels, rules, maintenance windows and the delivery of messages.
type Alerts struct {
	System
	Store *alerts.Store
	Deps  *alerthandlers.Deps // tests replace its fields
	pages alerthandlers.Pages
}

// newAlerts creates the alerts system. types are the event types of all systems. Rules can select items of the systems of other.
func newAlerts(c *core, types []event.Type, other facts) (*Alerts, error) {
	cfg := c.Config
	opts := alerts.Options{Types: types, Seal: c.Secrets.Seal, Open: c.Secrets.Open, Sign: c.Secrets.Sign, Base: cfg.PublicURL, StormSize: cfg.AlertStormSize}
	store := alerts.NewStore(c.DB, c.Clock, opts)
	store.SetLookup(other)
	relay := outbound.NewRelay(outbound.RelayOptions{AllowCIDRs: cfg.OutboundAllowCIDRs, UserAgent: cfg.UserAgent(c.Version)})
	sender, err := send.New(send.Options{Relay: relay, Clock: c.Clock, Log: c.Log})
	if err != nil {
		return nil, fmt.Errorf("create alert sender: %w", err)
	}
	worker, err := alertjobs.New(alertjobs.Options{
		Store: store, Lease: c.lease, Sender: sender, Log: c.Log, HTML: alertviews.MailHTML,
	}, c.registry)
	if err != nil {
		return nil, err
	}
	deps := &alerthandlers.Deps{Frame: c.frame, Alerts: store, Sender: worker, Subjects: alertSubjects{other}}
	pages := alerthandlers.Pages{Deps: deps}
	return &Alerts{Store: store, Deps: deps, pages: pages, System: System{
		Items: map[string]audit.Item{
			string(models.KindAlert):   audit.ItemOf("alert", store.Alert, func(a alerts.Alert) string { return string(a.Event) }),
			string(models.KindChannel): audit.ItemOf("channel", store.Channel, func(c alerts.Channel) string { return c.Name }),
			string(models.KindRule):    audit.ItemOf("alert_rule", store.Rule, func(r alerts.Rule) string { return r.Name }),
		},
		System: handlers.System{
			Name: "alerts",
			Nav:  alerthandlers.Nav(), Overview: pages.Overview, Finders: pages.Finders(), Flash: pages.Flashes(), Routes: pages.Routes(),
			Groups: alerthandlers.Groups(), Operations: alerthandlers.API{Deps: deps}.Register,
		},
		Services: []jobs.Service{worker},
		Close:    relay.Close,
		Demo:     func(ctx context.Context, r *demo.Run) (string, error) { return demo.Alerts(ctx, r, opts) },
		Deletes: []cleanup.Kind{
			{
				Kind: "alerts", Label: "Alerts", Remove: store.ReapAlerts,
				Description: fmt.Sprintf("resolved more than %d days ago, with their messages", alerts.KeepAlerts/models.Day),
			},
			{Kind: "alert_settings", Label: "Alert settings", Description: "(channels, rules, maintenance windows) deleted more than a day ago", Remove: store.ReapSettings},
		},
	}}, nil
}

func (a *Alerts) inMaintenance(ctx context.Context, ts []targets.Target) (map[string]bool, error) {
	all := make([]alerts.Target, len(ts))
	for i, t := range ts {
		all[i] = alerts.Target{ID: t.ID, CanonicalURL: t.CanonicalURL, PrivateTo: t.PrivateTo}
	}
	return a.Store.InMaintenance(ctx, all)
}

// facts implements alerts.Lookup with the stores of the other systems.
type facts struct {
	links      *links.Store
	targets    *targets.Store
	shortlinks *shortlinks.Store
	crawl      *crawl.Store
	sites      *sites.Store
}

// Tags implements alerts.Lookup.
func (f facts) Tags(ctx context.Context, urls []string) (map[string][]string, error) {
	return f.links.TagNames(ctx, urls)
}

// StatusPages implements alerts.Lookup.
func (f facts) StatusPages(ctx context.Context, ids []string) (map[string][]string, error) {
	return f.targets.StatusPagesOf(ctx, ids)
}

// Existing implements alerts.Lookup.
func (f facts) Existing(ctx context.Context, ids, statusPages []string) (map[string]bool, error) {
	found, err := f.targets.ByIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	existing := map[string]bool{}
	for _, t := range found {
		existing[t.ID] = true
	}
	if len(statusPages) == 0 {
		return existing, nil
	}
	pages, err := f.targets.PageTitles(ctx)
	for _, p := range pages {
		existing[p.ID] = true
	}
	return existing, err
}
