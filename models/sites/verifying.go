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
	// verifyInterval is the minimum time between verifications of a page, unless it was submitted since or a verification was
	// requested.
	verifyInterval = models.Day
	// verifyRetryInterval is the same after a failed attempt, for submitted pages.
	verifyRetryInterval = time.Hour
)

// PagesToVerify returns up to n pages to verify. Requested pages come first, then pages submitted since their last
// verification (latest first), then pages never verified. Last come those verified longest ago.
func (s *Store) PagesToVerify(ctx context.Context, w Website, n int) (ps []Page, err error) {
	tx, now := s.db.Read(ctx), s.clock.Now()
	defer func() { loadedAt(ps, now) }()
	added := map[int64]bool{}
	for _, part := range []struct {
		where, order string
		args         []any
		never        bool
	}{
		{where: "p.verify_requested_at IS NOT NULL", order: "p.verify_requested_at"},
		{
			where: "p.unverified AND p.gone_at IS NULL AND (p.verify_attempted_at IS NULL OR p.verify_attempted_at <= p.last_submitted_at OR p.verify_attempted_at <= ?)",
			order: "p.last_submitted_at DESC", args: []any{now.Add(-verifyRetryInterval)},
		},
		{never: true},
		{where: "p.verify_attempted_at IS NOT NULL AND p.gone_at IS NULL AND p.verify_attempted_at <= ?", order: "p.verify_attempted_at", args: []any{now.Add(-verifyInterval)}},
	} {
		if len(ps) == n {
			break
		}
		var found []Page
		args := append(append([]any{w.Seq}, part.args...), n) // n, since earlier parts may include the same pages
		sql := "SELECT p.* FROM pages AS p WHERE p.website_seq = ? AND " + part.where + " ORDER BY " + part.order + " LIMIT ?"
		if part.never {
			sql, args = neverVerifiedQuery(w).sql(-1, 0, n)
		}
		err := tx.Raw(sql, args...).Scan(&found).Error
		if err != nil {
			return nil, fmt.Errorf("find pages to verify: %w", err)
		}
		for _, p := range found {
			if !added[p.Seq] && len(ps) < n {
				added[p.Seq] = true
				ps = append(ps, p)
			}
		}
	}
	return ps, nil
}

// neverVerifiedQuery is the query of the pages that were never verified, in queue order. It omits the few pages about which
// Google gave no clear answer.
func neverVerifiedQuery(w Website) (q query) {
	for _, status := range []Status{Pending, Submitted, Failed} {
		q.parts = append(q.parts, "p.website_seq = ? AND p.status = ? AND p.gone_at IS NULL AND p.verify_attempted_at IS NULL")
		q.args = append(q.args, []any{w.Seq, status})
	}
	return q
}

// Verification is the result of verifying a page.
type Verification struct {
	Page       Page
	Inspection Inspection
	Cause      string      // slug of a Cause; "" = indexed
	NotifiedAt models.Time // latest notification of the Indexing API; zero = none or unknown
	Problem    *Outcome    // why the request failed; nil = it succeeded. Sitewide and RateLimited problems leave the page unchanged
}

// RecordVerification stores the result of verifying a page. A page keeps its status if Google reports an unknown state.
func (s *Store) RecordVerification(ctx context.Context, v Verification) error {
	now := s.clock.Now()
	const keepLater = "CASE WHEN verify_requested_at > ? THEN verify_requested_at END" // keep a request made after the page was loaded
	if v.Page.LoadedAt.IsZero() {
		v.Page.LoadedAt = now
	}
	b := pagesBySeq(v.Page.WebsiteSeq, []int64{v.Page.Seq})
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if a := v.Problem; a != nil {
			problem := models.Truncate(models.CleanLine(a.Error), maxError)
			if a.Sitewide || a.RateLimited {
				if err := s.storeServiceState(tx, v.Page.WebsiteSeq, SearchConsole, *a); err != nil {
					return err
				}
				return tx.Exec("UPDATE pages SET last_error = ? WHERE seq = ?", problem, v.Page.Seq).Error
			}
			return tx.Exec("UPDATE pages SET last_error = ?, verify_attempted_at = ?, unverified = (unverified OR verify_requested_at IS NOT NULL) AND ?, verify_requested_at = "+keepLater+" WHERE seq = ?",
				problem, now, a.Status != Refused, v.Page.LoadedAt, v.Page.Seq).Error
		}
		if err := s.storeServiceState(tx, v.Page.WebsiteSeq, SearchConsole, Outcome{Status: Accepted}); err != nil {
			return err
		}
		return withCounts(tx, b, func() error {
			i := v.Inspection
			set := map[string]any{
				"verdict": models.Truncate(models.CleanLine(i.Verdict), maxState), "coverage_state": models.Truncate(models.CleanLine(i.CoverageState), maxState),
				"robots_state": models.Truncate(models.CleanLine(i.RobotsState), maxState), "indexing_state": models.Truncate(models.CleanLine(i.IndexingState), maxState),
				"fetch_state": models.Truncate(models.CleanLine(i.FetchState), maxState), "google_canonical": storableURL(i.GoogleCanonical), "user_canonical": storableURL(i.UserCanonical),
				"last_crawled_at": i.LastCrawledAt, "last_verified_at": now, "verify_attempted_at": now, "verify_requested_at": gorm.Expr(keepLater, v.Page.LoadedAt), "last_error": "", "cause": v.Cause,
				// A submission during the verification is still to be verified.
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
		return fmt.Errorf("record verification: %w", err)
	}
	return nil
}

// Published reports whether the page was submitted to the Indexing API after its latest known notification.
func (s *Store) Published(ctx context.Context, p Page) (published bool, err error) {
	err = s.db.Read(ctx).Raw("SELECT EXISTS (SELECT 1 FROM submissions WHERE page_seq = ? AND method = ? AND status IN (?, ?) AND created_at > ?)",
		p.Seq, ByIndexingAPI, Accepted, Sent, p.NotifiedAt.UnixMicro()).Scan(&published).Error
	if err != nil {
		return false, fmt.Errorf("find submissions of page: %w", err)
	}
	return published, nil
}

const maxState = 100 // runes of a state from Google

// storableURL returns a URL from Google; "" if it is too long.
func storableURL(url string) string {
	if url = models.CleanLine(url); len(url) > models.MaxURL {
		return ""
	}
	return url
}
