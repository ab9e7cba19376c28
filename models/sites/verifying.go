package sites

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/event"
)

const (
	// verifyAgain is how long a page is left alone after Google was asked of it, unless it
	// was submitted since or somebody waits.
	verifyAgain = models.Day
	// askAgain is the same after a failure, for pages that were submitted.
	askAgain = time.Hour
)

// ToVerify are up to n pages of a website of which Google is to be asked: those that
// somebody waits for, then those that were submitted since they were verified, the last
// ones first, those that never were, and those that were longest ago.
func (s *Store) ToVerify(ctx context.Context, w Website, n int) (ps []Page, err error) {
	tx, now := s.db.Read(ctx), s.clock.Now()
	defer func() { loadedAt(ps, now) }()
	seen := map[int64]bool{}
	for _, part := range []struct {
		where, order string
		args         []any
		never        bool
	}{
		{where: "p.verify_wanted_at IS NOT NULL", order: "p.verify_wanted_at"},
		{
			where: "p.unverified AND p.gone_at IS NULL AND (p.asked_at IS NULL OR p.asked_at <= p.last_submitted_at OR p.asked_at <= ?)",
			order: "p.last_submitted_at DESC", args: []any{now.Add(-askAgain)},
		},
		{never: true},
		{where: "p.asked_at IS NOT NULL AND p.gone_at IS NULL AND p.asked_at <= ?", order: "p.asked_at", args: []any{now.Add(-verifyAgain)}},
	} {
		if len(ps) == n {
			break
		}
		var some []Page
		args := append(append([]any{w.Seq}, part.args...), n) // n, since some may be among those before
		sql := "SELECT p.* FROM pages AS p WHERE p.website_seq = ? AND " + part.where + " ORDER BY " + part.order + " LIMIT ?"
		if part.never {
			sql, args = neverAsked(w).sql(-1, 0, n)
		}
		err := tx.Raw(sql, args...).Scan(&some).Error
		if err != nil {
			return nil, fmt.Errorf("looking for pages to verify: %w", err)
		}
		for _, p := range some {
			if !seen[p.Seq] && len(ps) < n {
				seen[p.Seq] = true
				ps = append(ps, p)
			}
		}
	}
	return ps, nil
}

// neverAsked is the query of pages of which Google never was asked, in the order of the
// queue. It passes over those that Google gave no clear answer about, which are few.
func neverAsked(w Website) (q query) {
	for _, status := range []Status{Pending, Submitted, Failed} {
		q.parts = append(q.parts, "p.website_seq = ? AND p.status = ? AND p.gone_at IS NULL AND p.asked_at IS NULL")
		q.args = append(q.args, []any{w.Seq, status})
	}
	return q
}

// Verified is what Google said when it was asked of a page.
type Verified struct {
	Page       Page
	Inspection Inspection
	Cause      string      // by which unindexed pages are grouped; "" = it is indexed
	NotifiedAt models.Time // of the latest notification that the Indexing API has; zero = not asked, or none
	Problem    *Answer     // why there is no answer; nil = there is one. Sitewide and Limited ones leave the page as it is
}

// RecordVerified stores what Google said of a page.
func (s *Store) RecordVerified(ctx context.Context, v Verified) error {
	now := s.clock.Now()
	const later = "CASE WHEN verify_wanted_at > ? THEN verify_wanted_at END" // of who asked since the page was loaded
	if v.Page.LoadedAt.IsZero() {
		v.Page.LoadedAt = now
	}
	b := pagesBySeq(v.Page.WebsiteSeq, []int64{v.Page.Seq})
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if a := v.Problem; a != nil {
			problem := models.Truncate(models.CleanLine(a.Error), maxError)
			if a.Sitewide || a.Limited {
				if err := s.noteWebsite(tx, v.Page.WebsiteSeq, SearchConsole, *a); err != nil {
					return err
				}
				return tx.Exec("UPDATE pages SET last_error = ? WHERE seq = ?", problem, v.Page.Seq).Error
			}
			return tx.Exec("UPDATE pages SET last_error = ?, asked_at = ?, unverified = (unverified OR verify_wanted_at IS NOT NULL) AND ?, verify_wanted_at = "+later+" WHERE seq = ?",
				problem, now, a.Status != Refused, v.Page.LoadedAt, v.Page.Seq).Error
		}
		if err := s.noteWebsite(tx, v.Page.WebsiteSeq, SearchConsole, Answer{Status: Accepted}); err != nil {
			return err
		}
		return counted(tx, b, func() error {
			i := v.Inspection
			set := map[string]any{
				"verdict": models.Truncate(models.CleanLine(i.Verdict), maxState), "coverage_state": models.Truncate(models.CleanLine(i.CoverageState), maxState),
				"robots_state": models.Truncate(models.CleanLine(i.RobotsState), maxState), "indexing_state": models.Truncate(models.CleanLine(i.IndexingState), maxState),
				"fetch_state": models.Truncate(models.CleanLine(i.FetchState), maxState), "google_canonical": cutURL(i.GoogleCanonical), "user_canonical": cutURL(i.UserCanonical),
				"last_crawled_at": i.LastCrawledAt, "last_verified_at": now, "asked_at": now, "verify_wanted_at": gorm.Expr(later, v.Page.LoadedAt), "last_error": "", "cause": v.Cause,
				// A submission that came meanwhile is still to be verified.
				"unverified": gorm.Expr("unverified AND COALESCE(last_submitted_at, 0) > ?", v.Page.LastSubmittedAt.UnixMicro()),
			}
			if !v.NotifiedAt.IsZero() {
				set["notified_at"] = v.NotifiedAt
			}
			if status := i.Status(); status != "" {
				set["status"] = status
				if status == NotIndexed && v.Page.Status == Indexed {
					e := droppedEvent(v.Page, i, now)
					if err := tx.Raw("SELECT private_to FROM websites WHERE seq = ?", v.Page.WebsiteSeq).Scan(&e.PrivateTo).Error; err != nil {
						return err
					}
					if err := event.Add(tx, e); err != nil {
						return err
					}
				}
			}
			return tx.Model(&Page{}).Where("seq = ?", v.Page.Seq).Updates(set).Error
		})
	})
	if err != nil {
		return fmt.Errorf("recording a verification: %w", err)
	}
	return nil
}

// Published reports whether the Indexing API was told of a page since the latest
// notification that it is known to have.
func (s *Store) Published(ctx context.Context, p Page) (published bool, err error) {
	err = s.db.Read(ctx).Raw("SELECT EXISTS (SELECT 1 FROM submissions WHERE page_seq = ? AND method = ? AND status IN (?, ?) AND created_at > ?)",
		p.Seq, ByIndexingAPI, Accepted, Sent, p.NotifiedAt.UnixMicro()).Scan(&published).Error
	if err != nil {
		return false, fmt.Errorf("looking for submissions of a page: %w", err)
	}
	return published, nil
}

const maxState = 100 // runes of a state that Google names

// cutURL is a URL of Google's that can be stored; "" if it is too long to be one.
func cutURL(url string) string {
	if url = models.CleanLine(url); len(url) > models.MaxURL {
		return ""
	}
	return url
}

// Status is what an inspection means; "" = it does not say.
func (i Inspection) Status() Status {
	switch i.Verdict {
	case "PASS":
		return Indexed
	case "PARTIAL", "FAIL", "NEUTRAL":
		return NotIndexed
	}
	return ""
}
