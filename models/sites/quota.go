package sites

import (
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Limits are the quotas of Google's APIs. A limit of 0 allows nothing. Each instance
// obeys its own: if they differ, an instance with a lower limit stops earlier, and
// counts what the others use.
type Limits struct {
	PublishPerDay        int // of a Google project
	MetadataPerMinute    int // of a Google project
	RequestsPerMinute    int // of a Google project: notifications and metadata
	InspectionsPerDay    int // of a property
	InspectionsPerMinute int // of a property
	Concurrency          int // requests under way of a website, on all instances together
}

// Call is a kind of request to Google that counts against quotas.
type Call string

// The calls.
const (
	CallPublish  Call = "publish"    // a notification to the Indexing API
	CallMetadata Call = "metadata"   // what the Indexing API has received of a page
	CallInspect  Call = "inspection" // the URL Inspection API
)

// scope is whose quotas a call of a website counts against; "" = none, since the
// website has no Google project.
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

// minuteLimit is a limit of a scope for the last minute.
type minuteLimit struct {
	bound Bound
	call  Call // "" = all calls of the scope
	limit int
}

// of returns the limits of a call; day is nil if it has none.
func (l Limits) of(c Call) (day *int, minute []minuteLimit) {
	requests := minuteLimit{BoundRequests, "", l.RequestsPerMinute}
	switch c {
	case CallPublish:
		return &l.PublishPerDay, []minuteLimit{requests}
	case CallMetadata:
		return nil, []minuteLimit{{BoundMinute, CallMetadata, l.MetadataPerMinute}, requests}
	case CallInspect:
		return &l.InspectionsPerDay, []minuteLimit{{BoundMinute, "", l.InspectionsPerMinute}}
	}
	panic("sites: an unknown call")
}

// Meter is how much of a quota is used. Used is above Limit after the limit was lowered.
type Meter struct {
	Used, Limit int
	ResetsAt    models.Time // when all of it is free again
}

// Quota is what a website has of Google's quotas. It shares the first three with the
// other websites of its Google project.
type Quota struct {
	Publish     Meter // of this day
	Metadata    Meter // of the last minute
	Requests    Meter // of the last minute: notifications and metadata
	Inspections Meter // of this day
}

// Quota returns the quotas of a website. A website without a Google project has used
// nothing of a project's quotas.
func (s *Store) Quota(ctx context.Context, w Website) (Quota, error) {
	all, err := s.Quotas(ctx, []Website{w})
	if err != nil {
		return Quota{}, err
	}
	return all[0], nil
}

// ownUses are websites without those that Google was not asked of. Without credentials a
// website has used nothing: what others have used of its property is nothing that an
// account may learn by adding a website.
func ownUses(tx *gorm.DB, ws []Website) []Website {
	if _, who := models.Visible(tx, "websites"); len(who) == 0 {
		return ws
	}
	return slices.DeleteFunc(slices.Clone(ws), func(w Website) bool { return !w.Google() })
}

// Quotas is Quota for many websites, in their order, with two queries.
func (s *Store) Quotas(ctx context.Context, ws []Website) ([]Quota, error) {
	tx := s.db.Read(ctx)
	scopes, err := s.scopes(tx, ownUses(tx, ws))
	if err != nil {
		return nil, fmt.Errorf("loading quotas: %w", err)
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
			Metadata:    Meter{project.Metadata, l.MetadataPerMinute, project.free(project.MetadataAt)},
			Requests:    Meter{project.Requests, l.RequestsPerMinute, project.free(project.RequestsAt)},
			Inspections: Meter{property.used, l.InspectionsPerDay, dayEnd(property.NowAt)},
		}
	}
	return all, nil
}

// scopeUse is what was used of the quotas of a scope.
type scopeUse struct {
	Scope      string
	NowAt      models.Time // the time of the ledger
	Requests   int         // of the last minute
	RequestsAt models.Time // the latest of them
	Metadata   int
	MetadataAt models.Time
	used       int // of this day
}

// free is when no use of the last minute is left, of which the latest is of a time.
func (u scopeUse) free(latest models.Time) models.Time {
	if latest.IsZero() {
		return u.NowAt
	}
	if latest.After(u.NowAt.Time) {
		latest = u.NowAt
	}
	return latest.Add(window)
}

// scopes returns what was used by the scopes of websites.
func (s *Store) scopes(tx *gorm.DB, ws []Website) (map[string]scopeUse, error) {
	calls := map[string]Call{} // that have a daily quota
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
	var uses []scopeUse
	// The time of the ledger is as Store.ledgerTime says.
	err := names.Raw(tx, `WITH latest AS MATERIALIZED (SELECT r.scope, (SELECT max(used_at) FROM quota_uses WHERE scope = r.scope) AS used_at FROM {rows} AS r),
			present AS MATERIALIZED (SELECT scope, CASE WHEN used_at > ? AND used_at <= ? THEN used_at ELSE ? END AS now_at FROM latest)
		SELECT scope, now_at,
			(SELECT count(*) FROM quota_uses AS u WHERE u.scope = p.scope AND u.used_at > p.now_at - ?) AS requests,
			(SELECT max(used_at) FROM quota_uses AS u WHERE u.scope = p.scope AND u.used_at > p.now_at - ?) AS requests_at,
			(SELECT count(*) FROM quota_uses AS u WHERE u.scope = p.scope AND u.used_at > p.now_at - ? AND u.kind = 'metadata') AS metadata,
			(SELECT max(used_at) FROM quota_uses AS u WHERE u.scope = p.scope AND u.used_at > p.now_at - ? AND u.kind = 'metadata') AS metadata_at
		FROM present AS p`, now, now.Add(maxBack), now, windowUS, windowUS, windowUS, windowUS).Scan(&uses).Error
	if err != nil {
		return nil, err
	}
	found := make(map[string]scopeUse, len(uses))
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
