package app

import (
	"slices"

	"linkwatch/handlers"
	"linkwatch/handlers/pages"
	"linkwatch/models/cleanup"
	"linkwatch/models/event"
	"linkwatch/models/schedule"
)

// Systems are all systems of the program.
type Systems struct {
	Links      *Links
	Targets    *Targets
	ShortLinks *ShortLinks
	Crawl      *Crawl
	Sites      *Sites
	Alerts     *Alerts
	Accounts   *Accounts
	Admin      *Admin
	Help       System
	more       []System
}

// newSystems wires all systems and the links between their pages. more creates additional systems, for tests. It starts nothing.
func newSystems(c *core, more ...func(*core) System) (s *Systems, err error) {
	s = &Systems{Links: newLinks(c)}
	if s.Targets, err = newTargets(c); err != nil {
		return nil, err
	}
	if s.ShortLinks, err = newShortLinks(c); err != nil {
		return nil, err
	}
	if s.Crawl, err = newCrawl(c); err != nil {
		return nil, err
	}
	if s.Sites, err = newSites(c); err != nil {
		return nil, err
	}
	for _, create := range more {
		s.more = append(s.more, create(c))
	}
	if s.Alerts, err = newAlerts(c, s.events(), facts{s.Links.Store, s.Targets.Store, s.ShortLinks.Store, s.Crawl.Store, s.Sites.Store}); err != nil {
		return nil, err
	}
	s.Accounts, s.Help = newAccounts(c), newHelp(c)
	if s.Admin, err = newAdmin(c, s.deletes()...); err != nil {
		return nil, err
	}

	s.Links.deps.Others = []pages.Related{s.Targets.pages.Related, s.ShortLinks.pages.Related, s.Crawl.pages.Related, s.Sites.pages.Related}
	s.Targets.deps.Others = []pages.Related{s.Alerts.pages.Related, s.Links.pages.Related, s.Crawl.pages.Related, s.Sites.pages.Related}
	s.ShortLinks.deps.Others = []pages.Related{s.Links.pages.Related}
	s.Crawl.deps.Others = []pages.Related{s.Links.pages.Related, s.Targets.pages.Related, s.Sites.pages.Related}
	s.Sites.Deps.Others = []pages.Related{s.Links.pages.Related, s.Targets.pages.Related, s.Crawl.pages.Related}
	s.Crawl.deps.Saver = crawlSaver{s.Links.Store, s.Targets.Store}
	s.Sites.Deps.OtherSystems = otherSystems{crawlSaver{s.Links.Store, s.Targets.Store}, s.Crawl.Store}
	s.ShortLinks.deps.Source = s.Links.pages.SubjectOf
	s.Crawl.deps.Link = s.Links.pages.SubjectOf
	s.Targets.Store.UseMaintenance(s.Alerts.inMaintenance)
	return s, nil
}

// All returns all systems in the order of the navigation.
func (s *Systems) All() []System {
	all := append([]System{s.Links.System, s.Targets.System, s.ShortLinks.System, s.Crawl.System, s.Sites.System}, s.more...)
	if s.Alerts != nil { // nil while newAlerts and newAdmin need the other systems
		all = append(all, s.Alerts.System)
	}
	if s.Admin != nil {
		all = append(all, s.Admin.System)
	}
	if s.Accounts != nil {
		all = append(all, s.Accounts.System)
	}
	return append(all, s.Help)
}

// events returns the event types of all systems, in the order of the navigation.
func (s *Systems) events() []event.Type {
	var types []event.Type
	for _, one := range s.All() {
		types = append(types, one.Events...)
	}
	return append(types, schedule.Events()...)
}

// deletes returns what the reaper deletes, in the order of a run. Short links come first: their keys become free.
func (s *Systems) deletes() []cleanup.Kind {
	var kinds []cleanup.Kind
	for _, one := range slices.Concat(s.more, []System{s.Accounts.System, s.Alerts.System, s.Sites.System, s.Crawl.System, s.Targets.System, s.Links.System}) {
		kinds = append(kinds, one.Deletes...)
	}
	return append(slices.Clone(s.ShortLinks.Deletes), kinds...)
}

// Close releases the resources of all systems. Call it after all services have stopped.
func (s *Systems) Close() {
	for _, one := range s.All() {
		if one.Close != nil {
			one.Close()
		}
	}
}

// served returns what the server needs of each system.
func (s *Systems) served() []handlers.System {
	var all []handlers.System
	for _, one := range s.All() {
		all = append(all, one.System)
	}
	return all
}
