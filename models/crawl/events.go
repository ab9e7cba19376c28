package crawl

import (
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
			Kind: EventFailed, Severity: event.Warning, Label: "Crawl job failed", Help: "A crawl and all its retries failed.", Subject: "job", Noun: "crawl job",
			Verb: "failed", PluralVerb: "failed", Over: "completed again", Default: true,
		},
		{
			Kind: EventChanged, Severity: event.Info, Label: "Page changed", Help: "A crawl found that the text of a page changed, or that the page is gone.", Subject: "page", Noun: "page",
			Verb: "changed", PluralVerb: "changed", Once: true,
		},
	}
}

func (j Job) event(p event.Phase, now models.Time) event.Event {
	name, url, host := j.URL, "", ""
	if u, err := models.ParseURL("url", j.URL); err == nil {
		url, host = u.Canonical, models.HostPort(u.Canonical)
	}
	return event.Event{
		Kind: EventFailed, Phase: p, Severity: event.Warning, SubjectKind: "job", SubjectID: j.ID, Name: "Crawl of " + name, URL: url, Host: host, At: now, Detail: j.LastError,
	}
}

// closeFailed closes the failure events of jobs that are being deleted.
func closeFailed(tx *gorm.DB, now models.Time, where string, args ...any) error {
	var js []Job
	if err := tx.Where("last_error <> '' AND "+where, args...).Find(&js).Error; err != nil {
		return fmt.Errorf("load failed jobs: %w", err)
	}
	all := make([]sourceEvent, len(js))
	for i, j := range js {
		all[i] = sourceEvent{j.SourceSeq, j.event(event.Closed, now)}
	}
	return storeEvents(tx, all...)
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
	return storeEvents(b.tx, events...)
}

type sourceEvent struct {
	sourceSeq int64
	event     event.Event
}

// storeEvents stores events. Those of private sources are visible to their owners only.
func storeEvents(tx *gorm.DB, all ...sourceEvent) error {
	if len(all) == 0 {
		return nil
	}
	rows := models.NewRows("seq bigint")
	for _, t := range all {
		rows.Add(t.sourceSeq)
	}
	var private []struct {
		Seq       int64
		PrivateTo string
	}
	err := rows.Raw(tx, "SELECT seq, private_to FROM sources WHERE seq IN (SELECT seq FROM {rows} AS r) AND private_to <> ''").Scan(&private).Error
	if err != nil {
		return fmt.Errorf("find private sources: %w", err)
	}
	owners := map[int64]string{}
	for _, s := range private {
		owners[s.Seq] = s.PrivateTo
	}
	events := make([]event.Event, len(all))
	for i, t := range all {
		events[i] = t.event
		events[i].PrivateTo = owners[t.sourceSeq]
	}
	return event.Add(tx, events...)
}
