package targets

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// Limits of a status page.
const (
	MaxSlug        = 64   // bytes of lower-case letters, digits and "-"
	MaxPageTitle   = 200  // runes
	MaxPageText    = 2000 // runes of the description
	MaxPageTargets = 100  // on one page
	MaxStatusPages = 500
)

// PageDays is the number of days that a status page shows.
const PageDays = 90

// reservedSlugs cannot be slugs because they are routes.
var reservedSlugs = []string{"new"}

// StatusPage is the public page of a group of targets. All accounts can edit it. An edit
// keeps private targets that are not visible to the actor.
type StatusPage struct {
	ID          string
	Slug        string // of its path, /status/{slug}; unique
	Title       string
	Description string
	CreatedAt   models.Time
	UpdatedAt   models.Time

	Targets []Target `gorm:"-"`  // visible to the actor, in the page's order; not set in lists
	Size    int      `gorm:"->"` // number of targets visible to the actor
}

// PageSettings is the settings of a status page.
type PageSettings struct {
	Slug        string
	Title       string
	Description string
	TargetIDs   []string // in the page's order
}

// DayShare is one day of a target on a status page.
type DayShare struct {
	At models.Time // start of the day in UTC
	Share
}

// validate checks the settings and converts them to their stored form.
func (e *PageSettings) validate() error {
	e.Title, e.Description = models.CleanLine(e.Title), models.CleanText(e.Description)
	var errs []error
	switch {
	case e.Title == "":
		errs = append(errs, models.Invalid("title", "is missing"))
	case models.Runes(e.Title) > MaxPageTitle:
		errs = append(errs, models.TooLong("title", MaxPageTitle, "characters"))
	}
	switch {
	case e.Slug == "" || len(e.Slug) > MaxSlug || strings.Trim(e.Slug, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		errs = append(errs, models.Invalid("slug", "must be 1 to %d lower-case letters, digits and hyphens", MaxSlug))
	case slices.Contains(reservedSlugs, e.Slug):
		errs = append(errs, models.Invalid("slug", "is reserved. Choose another"))
	}
	if models.Runes(e.Description) > MaxPageText {
		errs = append(errs, models.TooLong("description", MaxPageText, "characters"))
	}
	if len(e.TargetIDs) > MaxPageTargets {
		errs = append(errs, models.TooLong("targets", MaxPageTargets, "targets"))
	}
	return models.Invalids(errs...)
}

// settings returns the settings, named as in the API.
func (p StatusPage) settings(targetIDs []string) audit.Values {
	return audit.Values{"slug": p.Slug, "title": p.Title, "description": p.Description, "targets": targetIDs}
}

func (p StatusPage) auditSubject() audit.Subject {
	return audit.Subject{Kind: "status_page", ID: p.ID, Name: p.Title}
}

// AddPage adds a status page. Errors are CodeInvalid ("slug", "title",
// "description", "targets[2]") and CodeConflict if the slug is taken or there
// are MaxStatusPages already.
func (s *Store) AddPage(ctx context.Context, e PageSettings) (StatusPage, error) {
	now := s.clock.Now()
	p := StatusPage{ID: models.NewID(models.KindStatusPage), CreatedAt: now}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		var n int64
		if err := tx.Model(&StatusPage{}).Count(&n).Error; err != nil {
			return fmt.Errorf("count status pages: %w", err)
		}
		if n >= MaxStatusPages {
			return models.Conflict(fmt.Sprintf("There are already %d status pages. Delete one first.", n))
		}
		after, err := s.savePage(tx, &p, e, nil)
		if err != nil {
			return err
		}
		return audit.Add(tx, now, audit.Change{Action: "status_page.add", Subject: p.auditSubject(), After: after})
	})
	if err != nil {
		return StatusPage{}, err
	}
	return s.Page(ctx, p.ID)
}

// EditPage replaces the settings of a status page. Targets that are not visible to the
// actor keep their position. Errors are those of AddPage, and CodeNotFound.
func (s *Store) EditPage(ctx context.Context, id string, e PageSettings) (StatusPage, error) {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		p, err := onePage(tx.Clauses(clause.Locking{Strength: "UPDATE"}), "id", id) // prevents a concurrent deletion
		if err != nil {
			return err
		}
		on, err := pageTargets(tx, id)
		if err != nil {
			return err
		}
		var ids []string
		for _, t := range on {
			if t.Visible {
				ids = append(ids, t.ID)
			}
		}
		before := p.settings(ids)
		after, err := s.savePage(tx, &p, e, on)
		if err != nil {
			return err
		}
		return audit.Add(tx, p.UpdatedAt, audit.Change{Action: "status_page.edit", Subject: p.auditSubject(), Before: before, After: after})
	})
	if err != nil {
		return StatusPage{}, err
	}
	return s.Page(ctx, id)
}

// savePage stores a status page and returns its new settings. on is the targets that
// were on the page.
func (s *Store) savePage(tx *gorm.DB, p *StatusPage, e PageSettings, on []pageTarget) (set audit.Values, err error) {
	if err := e.validate(); err != nil {
		return nil, err
	}
	p.Slug, p.Title, p.Description, p.UpdatedAt = e.Slug, e.Title, e.Description, s.clock.Now()
	if err := tx.Save(p).Error; errors.Is(err, gorm.ErrDuplicatedKey) {
		return nil, models.Conflict("Another status page has this slug. Choose another one.")
	} else if err != nil {
		return nil, fmt.Errorf("store status page: %w", err)
	}
	if err := tx.Exec("DELETE FROM status_page_targets WHERE page_id = ?", p.ID).Error; err != nil {
		return nil, fmt.Errorf("clear status page: %w", err)
	}
	ts, unknown, err := byIDs(tx.Select("seq, id"), e.TargetIDs)
	if err != nil {
		return nil, err
	}
	if unknown >= 0 {
		return nil, models.Invalid(fmt.Sprintf("targets[%d]", unknown), "is not an existing target")
	}
	var ids []string
	var seqs []int64
	for _, t := range ts {
		ids, seqs = append(ids, t.ID), append(seqs, t.Seq)
	}
	for at, t := range on {
		if !t.Visible {
			seqs = slices.Insert(seqs, min(at, len(seqs)), t.Seq)
		}
	}
	if len(seqs) > MaxPageTargets { // including those that are not visible to the actor
		return nil, models.Invalid("targets", "must have at most %d targets, including private ones on the page", MaxPageTargets)
	}
	for i, seq := range seqs {
		err := tx.Exec("INSERT INTO status_page_targets (page_id, target_seq, position) VALUES (?, ?, ?)", p.ID, seq, i).Error
		if err != nil {
			return nil, fmt.Errorf("add targets to status page: %w", err)
		}
	}
	return p.settings(ids), nil
}

type pageTarget struct {
	Seq     int64
	ID      string
	Visible bool // by the actor
}

// pageTargets returns all targets on a status page, in its order.
func pageTargets(tx *gorm.DB, pageID string) (on []pageTarget, err error) {
	visible, args := models.Visible(tx, "t")
	err = tx.Raw("SELECT t.seq, t.id, "+visible+` AS visible FROM status_page_targets AS x JOIN targets AS t ON t.seq = x.target_seq
		WHERE x.page_id = ? AND t.deleted_at IS NULL ORDER BY x.position`, append(args, pageID)...).Scan(&on).Error
	if err != nil {
		return nil, fmt.Errorf("read targets of status page: %w", err)
	}
	return on, nil
}

// byIDs loads targets by id, in the order of ids, without duplicates. unknown is the
// index of the first id without a target, or -1.
func byIDs(tx *gorm.DB, ids []string) (ts []Target, unknown int, err error) {
	unknown = -1
	valid := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return models.CheckID(models.KindTarget, id) != nil })
	var found []Target
	if len(valid) > 0 {
		if found, err = find(notDeleted(tx).Where("id IN ?", valid)); err != nil {
			return nil, unknown, err
		}
	}
	for i, id := range ids {
		hasID := func(t Target) bool { return t.ID == id }
		at := slices.IndexFunc(found, hasID)
		switch {
		case at < 0 && unknown < 0:
			unknown = i
		case at >= 0 && !slices.ContainsFunc(ts, hasID):
			ts = append(ts, found[at])
		}
	}
	return ts, unknown, nil
}

// ByIDs returns targets by id, in the order of ids, without duplicates and unknown ids.
// Their Uptime is not set.
func (s *Store) ByIDs(ctx context.Context, ids []string) ([]Target, error) {
	ts, _, err := byIDs(s.db.Read(ctx), ids)
	return ts, err
}

// DeletePage deletes a status page but not its targets. CodeNotFound if there is none.
func (s *Store) DeletePage(ctx context.Context, id string) error {
	if models.CheckID(models.KindStatusPage, id) != nil {
		return models.NotFound("status page")
	}
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		var deleted []StatusPage
		if err := tx.Raw("DELETE FROM status_pages WHERE id = ? RETURNING *", id).Scan(&deleted).Error; err != nil {
			return fmt.Errorf("delete status page: %w", err)
		}
		if len(deleted) == 0 {
			return models.NotFound("status page")
		}
		p := deleted[0]
		return audit.Add(tx, s.clock.Now(), audit.Change{
			Action: "status_page.delete", Subject: p.auditSubject(), Before: audit.Values{"slug": p.Slug, "title": p.Title, "description": p.Description},
		})
	})
}

// public returns a context whose actor sees all targets, for public pages.
func public(ctx context.Context) context.Context {
	return models.WithActor(ctx, models.Actor{SeesAll: true})
}

// PublicPage is like PageBySlug but returns all targets of the page, also private ones.
func (s *Store) PublicPage(ctx context.Context, slug string) (StatusPage, error) {
	return s.page(public(ctx), "slug", slug)
}

// Page returns a status page by id, with the targets that are visible to the actor and
// their Uptime. CodeNotFound if there is none.
func (s *Store) Page(ctx context.Context, id string) (StatusPage, error) {
	return s.page(ctx, "id", id)
}

// PageBySlug is like Page, by slug.
func (s *Store) PageBySlug(ctx context.Context, slug string) (StatusPage, error) {
	return s.page(ctx, "slug", slug)
}

func (s *Store) page(ctx context.Context, column, value string) (StatusPage, error) {
	tx := s.db.Read(ctx)
	p, err := onePage(tx, column, value)
	if err != nil {
		return p, err
	}
	p.Targets, err = s.load(tx, notDeleted(tx).Joins("JOIN status_page_targets AS x ON x.target_seq = targets.seq").
		Where("x.page_id = ?", p.ID).Order("x.position"))
	p.Size = len(p.Targets)
	return p, err
}

func onePage(tx *gorm.DB, column, value string) (StatusPage, error) {
	var ps []StatusPage
	if len(value) <= MaxSlug && !strings.ContainsFunc(value, func(r rune) bool { return r < '!' || r > '~' }) {
		if err := tx.Where(column+" = ?", value).Find(&ps).Error; err != nil {
			return StatusPage{}, fmt.Errorf("load status page: %w", err)
		}
	}
	if len(ps) == 0 {
		return StatusPage{}, models.NotFound("status page")
	}
	return ps[0], nil
}

// Pages returns all status pages, sorted by title, without their targets.
func (s *Store) Pages(ctx context.Context) ([]StatusPage, error) {
	var ps []StatusPage
	tx := s.db.Read(ctx)
	visible, args := models.Visible(tx, "t")
	err := tx.Model(&StatusPage{}).Select(`status_pages.*, (SELECT count(*) FROM status_page_targets AS x
			JOIN targets AS t ON t.seq = x.target_seq AND t.deleted_at IS NULL AND `+visible+` WHERE x.page_id = status_pages.id) AS size`, args...).
		Order("title, id").Find(&ps).Error
	if err != nil {
		return nil, fmt.Errorf("list status pages: %w", err)
	}
	return ps, nil
}

// PageTitles returns all status pages with only their id and title, sorted by title.
func (s *Store) PageTitles(ctx context.Context) ([]StatusPage, error) {
	var ps []StatusPage
	if err := s.db.Read(ctx).Model(&StatusPage{}).Select("id, title").Order("title, id").Find(&ps).Error; err != nil {
		return nil, fmt.Errorf("list titles of status pages: %w", err)
	}
	return ps, nil
}

// PageDays returns the last PageDays days of each target of a page, by Target.Seq. Days
// are oldest first and without gaps. The last one is the day of Target.AsOf.
func (s *Store) PageDays(ctx context.Context, p StatusPage) (map[int64][]DayShare, error) {
	days := make(map[int64][]DayShare, len(p.Targets))
	if len(p.Targets) == 0 {
		return days, nil
	}
	now := p.Targets[0].AsOf // the same for all targets
	from := Last90d.From(now)
	seqs := make([]int64, len(p.Targets))
	for i, t := range p.Targets {
		seqs[i] = t.Seq
	}
	var rows []rollupRow
	query := s.db.Read(ctx).Table("target_days").Where("target_seq IN ? AND bucket_start >= ?", seqs, from).
		Select("target_seq, bucket_start, known_from, up_us, down_us")
	err := models.Each(query, func(r *models.Row) {
		row := rollupRow{TargetSeq: r.Int64()}
		r.Scan(&row.BucketStart)
		r.Scan(&row.KnownFrom)
		row.UpUS, row.DownUS = r.Int64(), r.Int64()
		rows = append(rows, row)
	})
	if err != nil {
		return nil, fmt.Errorf("read days of status page: %w", err)
	}
	for _, t := range p.Targets {
		days[t.Seq] = make([]DayShare, PageDays)
		for i := range days[t.Seq] {
			days[t.Seq][i].At = from.Add(time.Duration(i) * models.Day)
		}
		rows = appendRollups(rows, t.Seq, t.unstored(now).days)
	}
	for _, r := range rows {
		i := int(r.BucketStart.Sub(from.Time) / models.Day)
		if !r.BucketStart.Before(from.Time) && i < PageDays {
			day := &days[r.TargetSeq][i]
			day.Share = day.plus(r.share())
		}
	}
	return days, nil
}

// PageOutages returns up to limit outages of all targets of a page, newest first. They
// are ongoing, or have ended within the last PageDays days.
func (s *Store) PageOutages(ctx context.Context, p StatusPage, limit int) ([]Outage, error) {
	const recent = "(ended_at IS NULL OR ended_at >= ?)"
	tx, since := s.db.Read(public(ctx)), Last90d.From(s.clock.Now())
	q := withTarget(tx, "outages AS x").Joins("JOIN status_page_targets AS y ON y.target_seq = x.target_seq").Where("y.page_id = ? AND "+recent, p.ID, since)
	if s.db.Engine == models.Postgres { // it would read all outages of the targets
		q = withTarget(tx, `(SELECT o.* FROM status_page_targets AS y CROSS JOIN LATERAL (SELECT * FROM outages WHERE target_seq = y.target_seq AND `+recent+`
			ORDER BY started_at DESC, id DESC LIMIT ?) AS o WHERE y.page_id = ?) AS x`, since, limit, p.ID)
	}
	var os []Outage
	err := q.Order("x.started_at DESC, x.id DESC").Limit(limit).Find(&os).Error
	if err != nil {
		return nil, fmt.Errorf("read outages of status page: %w", err)
	}
	return os, nil
}

// PublicTarget returns a target that is on a status page, with its Uptime. It may be
// private. CodeNotFound if no status page has it.
func (s *Store) PublicTarget(ctx context.Context, id string) (Target, error) {
	if models.CheckID(models.KindTarget, id) != nil {
		return Target{}, models.NotFound("target")
	}
	tx := s.db.Read(public(ctx))
	ts, err := s.load(tx, notDeleted(tx).Where("id = ? AND EXISTS (SELECT 1 FROM status_page_targets AS x WHERE x.target_seq = targets.seq)", id))
	if err != nil {
		return Target{}, err
	}
	if len(ts) == 0 {
		return Target{}, models.NotFound("target")
	}
	return ts[0], nil
}

// StatusPagesOf returns the ids of the status pages of targets, by target id, with one
// query. Targets without a status page are missing.
func (s *Store) StatusPagesOf(ctx context.Context, targetIDs []string) (map[string][]string, error) {
	tx, rows := s.db.Read(ctx), models.RowsOf("id text", targetIDs)
	visible, args := models.Visible(tx, "t")
	var found []struct{ ID, PageID string }
	err := rows.Raw(tx, `SELECT DISTINCT t.id, p.page_id FROM {rows} AS r CROSS JOIN targets AS t JOIN status_page_targets AS p ON p.target_seq = t.seq
		WHERE t.id = r.id AND t.deleted_at IS NULL AND `+visible, args...).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("find status pages of targets: %w", err)
	}
	pages := map[string][]string{}
	for _, f := range found {
		pages[f.ID] = append(pages[f.ID], f.PageID)
	}
	return pages, nil
}
