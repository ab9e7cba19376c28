package crawl

import (
	"context"
	"fmt"

	"linkwatch/models"
)

// SyncReport is the result of a sync.
type SyncReport struct{ Created, Updated, Skipped int }

// ExternalSource is a source in an external source manager.
type ExternalSource struct {
	ID             string
	Name, URL      string
	Enabled        bool
	MaxDepth       int
	AllowedDomains []string
	RateLimitMS    *int
	Interval       Interval
}

// ImportSources adds and updates sources of a source manager, by their id there. It returns the numbers of created, updated and
// skipped sources. It skips invalid sources.
func (s *Store) ImportSources(ctx context.Context, all []ExternalSource) (r SyncReport, err error) {
	for _, x := range all {
		created, changed, err := s.putSource(ctx, x)
		switch {
		case models.CodeOf(err) == models.CodeInvalid:
			r.Skipped++
		case err != nil:
			return r, err
		case created:
			r.Created++
		case changed:
			r.Updated++
		default:
			r.Skipped++
		}
	}
	return r, nil
}

func (s *Store) putSource(ctx context.Context, x ExternalSource) (created, changed bool, err error) {
	var known []Source
	if err := s.db.Read(ctx).Where("external_id = ? AND deleted_at IS NULL", x.ID).Find(&known).Error; err != nil {
		return false, false, fmt.Errorf("find synced source: %w", err)
	}
	if len(known) == 0 {
		_, err := s.AddSource(ctx, NewSource{
			ExternalID: x.ID, Name: x.Name, URL: x.URL, Enabled: x.Enabled, MaxDepth: x.MaxDepth, AllowedDomains: x.AllowedDomains,
			RateLimitMS: x.RateLimitMS, Interval: x.Interval,
		})
		return err == nil, false, err
	}
	before := known[0]
	e := SourceEdit{Name: &x.Name, URL: &x.URL, Enabled: &x.Enabled, MaxDepth: &x.MaxDepth, AllowedDomains: &x.AllowedDomains, RateLimitMS: x.RateLimitMS}
	if x.Interval.Recurring() {
		e.Interval = &x.Interval
	}
	after, err := s.EditSource(ctx, before.ID, e)
	if err != nil {
		return false, false, err
	}
	after.UpdatedAt = before.UpdatedAt
	return false, fmt.Sprint(before) != fmt.Sprint(after), nil
}

// SetSourceEnabled enables or disables a source by its id, or by its id in the source manager. found is false if there is none.
func (s *Store) SetSourceEnabled(ctx context.Context, id string, enabled bool) (found bool, err error) {
	var known []Source
	if err := s.db.Read(ctx).Where("(external_id = ? OR id = ?) AND deleted_at IS NULL", id, id).Limit(1).Find(&known).Error; err != nil || id == "" || len(known) == 0 {
		return false, err
	}
	_, err = s.EditSource(ctx, known[0].ID, SourceEdit{Enabled: &enabled})
	return err == nil, err
}

// dailyInterval is the interval of jobs for sources without one.
var dailyInterval = Interval{Count: 1, Type: Days}

// SyncJobs creates a job for every enabled source without one. If a source has exactly one recurring job, SyncJobs updates
// the job's interval to that of the source.
func (s *Store) SyncJobs(ctx context.Context) (r SyncReport, err error) {
	for after := (models.Cursor{}); ; {
		page, err := s.Sources(ctx, "", after, models.MaxLimit)
		if err != nil {
			return r, err
		}
		for _, src := range page.Items {
			if !src.Enabled {
				continue
			}
			created, updated, err := s.syncJob(ctx, src)
			switch {
			case err != nil:
				return r, err
			case created:
				r.Created++
			case updated:
				r.Updated++
			default:
				r.Skipped++
			}
		}
		if after = page.Next; !page.More() {
			return r, nil
		}
	}
}

func (s *Store) syncJob(ctx context.Context, src Source) (created, updated bool, err error) {
	var known []Job
	if err := s.db.Read(ctx).Where("source_seq = ? AND deleted_at IS NULL AND status <> ?", src.Seq, Cancelled).Order("created_at").Find(&known).Error; err != nil {
		return false, false, fmt.Errorf("find jobs of source: %w", err)
	}
	every := src.Interval()
	if len(known) == 0 {
		if !every.Recurring() {
			every = dailyInterval
		}
		_, err := s.AddJob(ctx, NewJob{SourceID: src.ID, Interval: every, AdaptiveScheduling: true})
		return err == nil, false, err
	}
	if len(known) > 1 || !known[0].Recurring() || !every.Recurring() || known[0].Interval() == every {
		return false, false, nil
	}
	_, err = s.EditJob(ctx, known[0].ID, JobEdit{Interval: &every})
	return false, err == nil, err
}
