package crawl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// KeepDeleted is the time during which deleted sources, jobs, pages and links can be restored.
const KeepDeleted = models.Day

// AddSource adds a source. Errors are CodeInvalid ("url", "name", "max_depth", "allowed_domains", "rate_limit_ms",
// "interval_minutes", "interval_type").
func (s *Store) AddSource(ctx context.Context, n NewSource) (src Source, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		src, err = s.addSource(tx, n)
		return err
	})
	return src, err
}

func (s *Store) addSource(tx *gorm.DB, n NewSource) (Source, error) {
	src, err := s.newSource(tx, n)
	if err != nil {
		return src, err
	}
	if err := tx.Create(&src).Error; err != nil {
		return src, fmt.Errorf("store source: %w", err)
	}
	return src, audit.Add(tx, src.CreatedAt, audit.Change{Action: "source.add", Subject: src.subject(), After: src.values()})
}

// newSource returns a valid source that is not stored yet. Its owner is the actor of tx.
func (s *Store) newSource(tx *gorm.DB, n NewSource) (Source, error) {
	now := s.clock.Now()
	src := Source{
		ID: models.NewID(models.KindSource), ExternalID: n.ExternalID, Name: n.Name, URL: n.URL, Enabled: n.Enabled, MaxDepth: n.MaxDepth,
		AllowedDomains: n.AllowedDomains, RateLimitMS: DefaultRateLimit, IntervalCount: n.Interval.Count, IntervalType: n.Interval.Type,
		CreatedAt: now, UpdatedAt: now, Owner: models.Owner(tx.Statement.Context),
	}
	src.PrivateTo = models.PrivateTo(src.Owner, n.Private)
	models.Set(&src.RateLimitMS, n.RateLimitMS)
	return src, src.check()
}

func (s Source) subject() audit.Subject { return audit.Subject{Kind: "source", ID: s.ID, Name: s.Name} }

// values returns the settings of the source for the audit log.
func (s Source) values() audit.Values {
	return audit.Values{
		"name": s.Name, "url": s.URL, "enabled": s.Enabled, "max_depth": s.MaxDepth, "allowed_domains": strings.Join(s.AllowedDomains, " "),
		"rate_limit_ms": s.RateLimitMS, "interval_minutes": s.IntervalCount, "interval_type": string(s.IntervalType), "private": s.Private(),
	}
}

// Source returns a source by id. The error is CodeNotFound if there is none.
func (s *Store) Source(ctx context.Context, id string) (Source, error) {
	return source(s.db.Read(ctx), id, false)
}

func source(tx *gorm.DB, id string, deleted bool) (src Source, err error) {
	if models.CheckID(models.KindSource, id) != nil {
		return src, models.NotFound("source")
	}
	visible, args := models.Visible(tx, "sources")
	err = tx.Where("id = ?", id).Where(visible, args...).Take(&src).Error
	if errors.Is(err, gorm.ErrRecordNotFound) || err == nil && src.DeletedAt.IsZero() == deleted {
		return src, models.NotFound("source")
	}
	if err != nil {
		return src, fmt.Errorf("load source: %w", err)
	}
	return src, nil
}

// Sources returns one page of sources, the oldest first. text is a part of the name or URL; "" selects all. A search for a
// text reads models.MaxSearched sources. limit comes from models.NewLimit.
func (s *Store) Sources(ctx context.Context, text string, after models.Cursor, limit int) (models.Slice[Source], error) {
	var page models.Slice[Source]
	if err := models.CheckFilter("query.q", text); err != nil {
		return page, err
	}
	tx := s.db.Read(ctx)
	visible, args := models.Visible(tx, "sources")
	q := models.ListQuery{Table: "sources", Where: visible + " AND deleted_at IS NULL", Args: args}
	if folded := models.Fold(text); folded != "" {
		q.Search(`search_text LIKE ? ESCAPE '\'`, "%"+models.EscapeLike(folded)+"%")
	}
	return SourceOrders.List(tx, q, after, limit, func(p models.ListPart) (found []Source, err error) {
		if err = p.Of(tx).Find(&found).Error; err != nil {
			err = fmt.Errorf("load sources: %w", err)
		}
		return found, err
	})
}

// EditSource changes a source. Errors are those of AddSource, CodeNotFound, and CodeForbidden if a user other than its owner
// or an admin changes its visibility. Disabling a source interrupts its running crawls, and its jobs do not start. Enabling it
// continues them. Other changes affect the next pages, also of running crawls.
func (s *Store) EditSource(ctx context.Context, id string, e SourceEdit) (src Source, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if src, err = source(tx.Clauses(clause.Locking{Strength: "UPDATE"}), id, false); err != nil {
			return err
		}
		before := src
		models.Set(&src.Name, e.Name)
		models.Set(&src.URL, e.URL)
		models.Set(&src.Enabled, e.Enabled)
		models.Set(&src.MaxDepth, e.MaxDepth)
		models.Set(&src.RateLimitMS, e.RateLimitMS)
		models.Set((*[]string)(&src.AllowedDomains), e.AllowedDomains)
		if e.Interval != nil {
			src.IntervalCount, src.IntervalType = e.Interval.Count, e.Interval.Type
		}
		if err := src.check(); err != nil {
			return err
		}
		if e.Private != nil {
			src.PrivateTo = models.PrivateTo(src.Owner, *e.Private)
		}
		src.UpdatedAt = s.clock.Now()
		if src.PrivateTo != before.PrivateTo {
			if err := s.applyVisibility(ctx, tx, src); err != nil {
				return err
			}
		}
		if err := tx.Save(&src).Error; err != nil {
			return fmt.Errorf("store source: %w", err)
		}
		err = audit.Add(tx, src.UpdatedAt, audit.Change{Action: "source.edit", Subject: src.subject(), Before: before.values(), After: src.values()})
		if err != nil || src.Enabled == before.Enabled {
			return err
		}
		return s.updateJobsOfSource(tx, src, s.clock.Now())
	})
	if err == nil {
		signal(s.jobsChanged)
		signal(s.urls)
	}
	return src, err
}

// applyVisibility updates the data of a source that became private or shared. Its manual entries move to another scope, and a search
// engine only has pages of shared sources.
func (s *Store) applyVisibility(ctx context.Context, tx *gorm.DB, src Source) error {
	if err := models.MayShare(ctx, src.Owner); err != nil {
		return err
	}
	if err := s.db.OneAtATime(tx, lockRecord); err != nil {
		return err
	}
	from, to := src.Seq, int64(0)
	if src.Private() {
		from, to = to, from
	}
	// URLs that are already waiting in that scope are fetched once.
	err := tx.Exec(`DELETE FROM frontier WHERE crawl_seq = 0 AND scope_seq = ? AND source_seq = ?
		AND EXISTS (SELECT 1 FROM frontier AS f WHERE f.crawl_seq = 0 AND f.url_hash = frontier.url_hash AND f.scope_seq = ?)`, from, src.Seq, to).Error
	if err == nil {
		err = tx.Exec("UPDATE frontier SET scope_seq = ? WHERE crawl_seq = 0 AND scope_seq = ? AND source_seq = ?", to, from, src.Seq).Error
	}
	if err == nil && s.opts.Elasticsearch {
		err = tx.Exec("UPDATE crawled_pages SET revision = revision + 1, unsent = true WHERE source_seq = ?", src.Seq).Error
	}
	if err != nil {
		return fmt.Errorf("change source visibility: %w", err)
	}
	return nil
}

// updateJobsOfSource disables the jobs of a disabled source, and enables those of an enabled one.
func (s *Store) updateJobsOfSource(tx *gorm.DB, src Source, now models.Time) error {
	err := tx.Exec("UPDATE jobs SET source_disabled = ?, updated_at = ? WHERE source_seq = ? AND source_disabled <> ?", !src.Enabled, now, src.Seq, !src.Enabled).Error
	if err != nil {
		return fmt.Errorf("update jobs of disabled or enabled source: %w", err)
	}
	if !src.Enabled {
		return nil
	}
	return s.resumeSource(tx, src, now)
}

// resumeSource reschedules the missed runs of an enabled or restored source, and makes the hosts of its manual entries due.
func (s *Store) resumeSource(tx *gorm.DB, src Source, now models.Time) error {
	if err := s.db.OneAtATime(tx, lockRecord); err != nil { // so that no host becomes idle meanwhile
		return err
	}
	err := tx.Exec(`UPDATE crawl_hosts SET next_at = ? WHERE next_at IS NULL AND seq IN (
		SELECT host_seq FROM frontier WHERE crawl_seq = 0 AND source_seq = ? AND `+openEntries+`)`, now, src.Seq).Error
	if err != nil {
		return fmt.Errorf("make hosts of source due: %w", err)
	}
	return catchUp(tx, now, "source_seq = ?", src.Seq)
}

// catchUp reschedules recurring jobs that missed a run while they could not start, in phase with their schedule. So they do
// not all run at once. Overdue retries, forced runs and interrupted crawls stay due.
func catchUp(tx *gorm.DB, now models.Time, where string, args ...any) error {
	var missed []Job
	err := tx.Where(`interval_count > 0 AND deleted_at IS NULL AND (next_run_at < ? AND next_run_at = planned_at AND crawl_seq IS NULL
		OR status = 'failed' AND retry_next_run AND planned_at < ?) AND `+where, append([]any{now, now}, args...)...).Find(&missed).Error
	if err != nil {
		return fmt.Errorf("find missed runs: %w", err)
	}
	rows := models.NewRows("seq bigint, next_run_at bigint")
	for _, j := range missed {
		j.reschedule(now, false)
		rows.Add(j.Seq, j.NextRunAt)
	}
	err = rows.Exec(tx, `UPDATE jobs SET next_run_at = CASE status WHEN 'failed' THEN NULL ELSE r.next_run_at END, planned_at = r.next_run_at
		FROM {rows} AS r WHERE jobs.seq = r.seq`).Error
	if err != nil {
		return fmt.Errorf("plan missed runs: %w", err)
	}
	return nil
}

// DeleteSource deletes a source with its jobs, and ends their crawls. It can be restored for KeepDeleted. The error is
// CodeNotFound if there is none.
func (s *Store) DeleteSource(ctx context.Context, id string) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		src, err := source(tx.Clauses(clause.Locking{Strength: "UPDATE"}), id, false)
		if err != nil {
			return err
		}
		now := s.clock.Now()
		if err := tx.Model(&src).Update("deleted_at", now).Error; err != nil {
			return fmt.Errorf("delete source: %w", err)
		}
		// RestoreSource finds the jobs by this time.
		if err := closeFailed(tx, now, "source_seq = ? AND deleted_at IS NULL", src.Seq); err != nil {
			return err
		}
		if err := tx.Exec("UPDATE jobs SET deleted_at = ?, updated_at = ? WHERE source_seq = ? AND deleted_at IS NULL", now, now, src.Seq).Error; err != nil {
			return fmt.Errorf("delete jobs of source: %w", err)
		}
		return audit.Add(tx, now, audit.Change{Action: "source.delete", Subject: src.subject()})
	})
	if err == nil {
		signal(s.jobsChanged)
		signal(s.urls)
	}
	return err
}

// RestoreSource restores a deleted source with the jobs that were deleted with it. Errors are CodeNotFound if it was not
// deleted or was deleted too long ago, and CodeConflict if a sync has added the source again.
func (s *Store) RestoreSource(ctx context.Context, id string) (src Source, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if src, err = source(tx.Clauses(clause.Locking{Strength: "UPDATE"}), id, true); err != nil {
			return err
		}
		now := s.clock.Now()
		if src.DeletedAt.Before(now.Add(-KeepDeleted).Time) { // the reaper may be deleting its data
			return models.NotFound("source")
		}
		deleted := src.DeletedAt
		src.DeletedAt, src.UpdatedAt = models.Time{}, now
		err := tx.Save(&src).Error
		if errors.Is(err, gorm.ErrDuplicatedKey) {
			return models.Conflict("A sync has added this source again. Use the new one.")
		}
		if err == nil {
			err = tx.Exec("UPDATE jobs SET deleted_at = NULL, updated_at = ? WHERE source_seq = ? AND deleted_at = ?", now, src.Seq, deleted).Error
		}
		if err == nil {
			err = s.resumeSource(tx, src, now)
		}
		if err != nil {
			return fmt.Errorf("restore source: %w", err)
		}
		return audit.Add(tx, now, audit.Change{Action: "source.restore", Subject: src.subject()})
	})
	if err == nil {
		signal(s.jobsChanged)
		signal(s.urls)
	}
	return src, err
}

// DeepSources returns up to n sources with a maximum depth greater than DeepCrawl.
func (s *Store) DeepSources(ctx context.Context, n int) (deep []Source, err error) {
	err = s.db.Read(ctx).Where("deleted_at IS NULL AND enabled AND max_depth > ?", DeepCrawl).Order("created_at, id").Limit(n).Find(&deep).Error
	if err != nil {
		return nil, fmt.Errorf("find deep sources: %w", err)
	}
	return deep, nil
}
