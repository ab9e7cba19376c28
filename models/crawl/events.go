package crawl

import (
	"cmp"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/event"
)

// Kinds of crawl events.
const (
	EventFailed  event.Kind = "job.failed"
	EventChanged event.Kind = "page.changed"
)

// Events returns the kinds of crawl events.
func Events() []event.Type {
	return []event.Type{
		{
			Kind: EventFailed, Severity: event.Warning, Label: "Crawl job failed",
			Help:    "A crawl and all its retries failed. Each further failure is sent too, until the alert is acknowledged.",
			Subject: "job", Noun: "crawl job",
			Verb: "failed", PluralVerb: "failed", Over: "completed again", Repeats: true, Default: true,
		},
		{
			Kind: EventChanged, Severity: event.Info, Label: "Page changed", Help: "A crawl found that the text of a page changed, or that the page is gone.", Subject: "page", Noun: "page",
			Verb: "changed", PluralVerb: "changed", Once: true,
		},
	}
}

// storeFailed stores events about failed jobs. They name a job as lists do, or by its URL if only its host would name it.
func storeFailed(tx *gorm.DB, p event.Phase, now models.Time, js ...Job) error {
	all := make([]sourceEvent, len(js))
	for i, j := range js {
		e := event.Event{
			Kind: EventFailed, Phase: p, Severity: event.Warning, SubjectKind: "job", SubjectID: j.ID, Name: j.Name,
			At: now, Detail: j.LastError,
		}
		if u, err := models.ParseURL("url", j.URL); err == nil {
			e.URL, e.Host = u.Canonical, models.HostPort(u.Canonical)
		}
		if e.Detail != "" && j.ConsecutiveFailures > 1 {
			e.Detail = fmt.Sprintf("%s (failed %d times in a row)", e.Detail, j.ConsecutiveFailures)
		}
		all[i] = sourceEvent{j.SourceSeq, e}
	}
	sources, err := sourcesOfEvents(tx, all)
	if err != nil {
		return err
	}
	for i, j := range js {
		src, e := sources[j.SourceSeq], &all[i].event
		if e.Name == "" && src.Name != src.Authority() {
			e.Name = src.Name
		}
		e.Name = "Crawl of " + cmp.Or(e.Name, j.URL)
	}
	return addEvents(tx, sources, all)
}

// closeFailed closes the failure events of jobs that are being deleted.
func closeFailed(tx *gorm.DB, now models.Time, where string, args ...any) error {
	var js []Job
	if err := tx.Where("last_error <> '' AND "+where, args...).Find(&js).Error; err != nil {
		return fmt.Errorf("load failed jobs: %w", err)
	}
	return storeFailed(tx, event.Closed, now, js...)
}

// changes stores events about pages whose text changed or that are gone, except duplicates.
func (b *batch) changes(all map[pageKey]newVersion, stored map[pageKey]Page) error {
	var events []sourceEvent
	for k, v := range all {
		if v.Duplicate || v.change != PageChanged && v.change != PageGone {
			continue
		}
		e := event.Event{Kind: EventChanged, Phase: event.Once, SubjectKind: "page", SubjectID: stored[k].ID(), Name: v.Title, At: v.FetchedAt}
		if u, err := models.ParseURL("url", v.URL); err == nil {
			e.URL, e.Host = u.Canonical, models.HostPort(u.Canonical)
		}
		if e.Name == "" {
			e.Name = v.URL
		}
		if v.change == PageGone {
			e.Detail = fmt.Sprintf("page is gone (status %d)", v.StatusCode)
		}
		events = append(events, sourceEvent{k.source, e})
	}
	sources, err := sourcesOfEvents(b.tx, events)
	if err != nil {
		return err
	}
	return addEvents(b.tx, sources, events)
}

type sourceEvent struct {
	sourceSeq int64
	event     event.Event
}

// sourcesOfEvents returns the sources of events by seq, with name, URL and visibility.
func sourcesOfEvents(tx *gorm.DB, all []sourceEvent) (map[int64]Source, error) {
	rows, sources := models.NewRows("seq bigint"), map[int64]Source{}
	for _, t := range all {
		rows.Add(t.sourceSeq)
	}
	var found []Source
	const query = "SELECT seq, name, host, port, private_to FROM sources WHERE seq IN (SELECT seq FROM {rows} AS r)"
	if err := rows.Raw(tx, query).Scan(&found).Error; err != nil {
		return nil, fmt.Errorf("load sources of events: %w", err)
	}
	for _, src := range found {
		sources[src.Seq] = src
	}
	return sources, nil
}

// addEvents stores events. Those of private sources are visible to their owners only.
func addEvents(tx *gorm.DB, sources map[int64]Source, all []sourceEvent) error {
	events := make([]event.Event, len(all))
	for i, t := range all {
		events[i] = t.event
		events[i].PrivateTo = sources[t.sourceSeq].PrivateTo
	}
	return event.Add(tx, events...)
}
