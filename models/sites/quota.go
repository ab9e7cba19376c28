package sites

import (
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Limits are the quotas of Google's APIs. 0 allows nothing. Each instance applies its own limits to the uses of all
// instances.
type Limits struct {
	PublishPerDay        int // per Google project
	MetadataPerMinute    int // per Google project
	RequestsPerMinute    int // per Google project: notifications and metadata
	InspectionsPerDay    int // per property
	InspectionsPerMinute int // per property
	Concurrency          int // requests in flight per website, on all instances together
}

// Call is a kind of request to Google that counts against quotas.
type Call string

// The calls.
const (
	CallPublish  Call = "publish"    // a notification to the Indexing API
	CallMetadata Call = "metadata"   // a metadata request to the Indexing API
	CallInspect  Call = "inspection" // the URL Inspection API
)

// scope identifies the project or property whose quotas a call counts against; "" = the website has no Google project.
func (c Call) scope(w Website) string {
	switch {
	case c == CallInspect:
		return "property:" + w.SiteURL
	case w.ProjectID == "":
		return ""
	default:
		return "project:" + w.ProjectID
	}
}

type minuteLimit struct {
	kind  LimitKind
	call  Call // "" = all calls of the scope
	limit int
}

// forCall returns the limits of a call; day is nil if it has none.
func (l Limits) forCall(c Call) (day *int, minute []minuteLimit) {
	requests := minuteLimit{LimitRequests, "", l.RequestsPerMinute}
	switch c {
	case CallPublish:
		return &l.PublishPerDay, []minuteLimit{requests}
	case CallMetadata:
		return nil, []minuteLimit{{LimitMinute, CallMetadata, l.MetadataPerMinute}, requests}
	case CallInspect:
		return &l.InspectionsPerDay, []minuteLimit{{LimitMinute, "", l.InspectionsPerMinute}}
	}
	panic("sites: unknown call")
}

// Meter is the use of a quota. Used may exceed Limit after the limit was lowered.
type Meter struct {
	Used, Limit int
	ResetsAt    models.Time // when the full quota is available again
}

// Quota is the use of Google's quotas by a website. The first three are shared by all websites of its Google project.
type Quota struct {
	Publish     Meter // today
	Metadata    Meter // last minute
	Requests    Meter // last minute: notifications and metadata
	Inspections Meter // today
}

// Quota returns the quotas of a website. Without a Google project, the use of project quotas is 0.
func (s *Store) Quota(ctx context.Context, w Website) (Quota, error) {
	all, err := s.Quotas(ctx, []Website{w})
	if err != nil {
		return Quota{}, err
	}
	return all[0], nil
}

// visibleUsage returns the websites whose usage the actor can see: all for admins, else those with credentials. Otherwise an
// account could learn the usage of a property by adding it as a website.
func visibleUsage(tx *gorm.DB, ws []Website) []Website {
	if _, args := models.Visible(tx, "websites"); len(args) == 0 {
		return ws
	}
	return slices.DeleteFunc(slices.Clone(ws), func(w Website) bool { return !w.UsesGoogle() })
}

// Quotas is Quota for several websites, in the same order, with two queries.
func (s *Store) Quotas(ctx context.Context, ws []Website) ([]Quota, error) {
	tx := s.db.Read(ctx)
	scopes, err := s.scopeUsages(tx, visibleUsage(tx, ws))
	if err != nil {
		return nil, fmt.Errorf("load quotas: %w", err)
	}
	l, now := s.opts.Limits, s.clock.Now()
	all := make([]Quota, len(ws))
	for i, w := range ws {
		project, property := scopes[CallPublish.scope(w)], scopes[CallInspect.scope(w)]
		if project.NowAt.IsZero() {
			project.NowAt = now
		}
		if property.NowAt.IsZero() {
			property.NowAt = now
		}
		all[i] = Quota{
			Publish:     Meter{project.used, l.PublishPerDay, dayEnd(project.NowAt)},
			Metadata:    Meter{project.Metadata, l.MetadataPerMinute, project.freeAt(project.MetadataAt)},
			Requests:    Meter{project.Requests, l.RequestsPerMinute, project.freeAt(project.RequestsAt)},
			Inspections: Meter{property.used, l.InspectionsPerDay, dayEnd(property.NowAt)},
		}
	}
	return all, nil
}

type scopeUsage struct {
	Scope      string
	NowAt      models.Time // see Store.ledgerTime
	Requests   int         // in the last minute
	RequestsAt models.Time // latest of these
	Metadata   int
	MetadataAt models.Time
	used       int // today
}

// freeAt returns when the uses of the last minute have expired; latest is the time of the latest one.
func (u scopeUsage) freeAt(latest models.Time) models.Time {
	if latest.IsZero() {
		return u.NowAt
	}
	if latest.After(u.NowAt.Time) {
		latest = u.NowAt
	}
	return latest.Add(window)
}

func (s *Store) scopeUsages(tx *gorm.DB, ws []Website) (map[string]scopeUsage, error) {
	calls := map[string]Call{} // calls with a daily quota
	names := models.NewRows("scope text")
	for _, w := range ws {
		for _, c := range []Call{CallPublish, CallInspect} {
			scope := c.scope(w)
			if _, seen := calls[scope]; scope != "" && !seen {
				calls[scope] = c
				names.Add(scope)
			}
		}
	}
	now := s.clock.Now()
	var uses []scopeUsage
	// now_at is Store.ledgerTime.
	err := names.Raw(tx, `WITH latest AS MATERIALIZED (SELECT r.scope, (SELECT max(used_at) FROM quota_uses WHERE scope = r.scope) AS used_at FROM {rows} AS r),
			present AS MATERIALIZED (SELECT scope, CASE WHEN used_at > ? AND used_at <= ? THEN used_at ELSE ? END AS now_at FROM latest)
		SELECT scope, now_at,
			(SELECT count(*) FROM quota_uses AS u WHERE u.scope = p.scope AND u.used_at > p.now_at - ?) AS requests,
			(SELECT max(used_at) FROM quota_uses AS u WHERE u.scope = p.scope AND u.used_at > p.now_at - ?) AS requests_at,
			(SELECT count(*) FROM quota_uses AS u WHERE u.scope = p.scope AND u.used_at > p.now_at - ? AND u.kind = 'metadata') AS metadata,
			(SELECT max(used_at) FROM quota_uses AS u WHERE u.scope = p.scope AND u.used_at > p.now_at - ? AND u.kind = 'metadata') AS metadata_at
		FROM present AS p`, now, now.Add(maxClockSetback), now, windowUS, windowUS, windowUS, windowUS).Scan(&uses).Error
	if err != nil {
		return nil, err
	}
	found := make(map[string]scopeUsage, len(uses))
	days := models.NewRows("scope text, kind text, ends_at bigint")
	for _, u := range uses {
		found[u.Scope] = u
		days.Add(u.Scope, calls[u.Scope], dayEnd(u.NowAt))
	}
	var used []struct {
		Scope string
		Used  int
	}
	err = days.Raw(tx, `SELECT r.scope, coalesce((SELECT used FROM quota_days AS d
		WHERE d.scope = r.scope AND d.kind = r.kind AND d.ends_at = r.ends_at), 0) AS used FROM {rows} AS r`).Scan(&used).Error
	for _, d := range used {
		u := found[d.Scope]
		u.used = d.Used
		found[d.Scope] = u
	}
	return found, err
}
