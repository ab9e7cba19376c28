package shortlinks

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Counter counts visits. Package visits implements it.
type Counter interface {
	// Count takes a visit to be counted later. It is called for every redirect, so
	// it does not block.
	Count(v Visit)
}

// Visit is one visit that was redirected.
type Visit struct {
	Link    int64 // the short link's Seq
	Visitor Visitor
	At      models.Time
	Claimed bool // it is counted in the short link's Visits already
}

// Visitor is what a visit tells about the visitor. Nothing by which visitors can
// be told apart is stored.
type Visitor struct {
	Referrer  string // header Referer
	UserAgent string // header User-Agent
}

// DayVisits are visits of one short link on one day that are not stored yet.
type DayVisits struct {
	Link int64 // the short link's Seq
	Day
	Claimed   int64       // of all of these, those that are counted in the short link's Visits already
	Referrers []Referrer  // of people, each host once; people without a referrer are not in it
	Last      models.Time // when the last of these visits was made
}

// lockVisits is held by transactions that write visits.
const lockVisits models.LockKey = 7_110_913_002

// WriteVisits stores a batch of visits, in one transaction of three statements.
// Visits of links that were deleted meanwhile are left out.
func (s *Store) WriteVisits(ctx context.Context, batch []*DayVisits) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error { return s.writeVisits(tx, batch) })
	if err != nil {
		return fmt.Errorf("visits of short links: %w", err)
	}
	return nil
}

func (s *Store) writeVisits(tx *gorm.DB, batch []*DayVisits) error {
	type sum struct{ visits, bots, claimed, last int64 }
	sums := map[int64]*sum{}
	days := models.NewRows("link bigint, day bigint, bots bigint, desktop bigint, mobile bigint, tablet bigint, other bigint")
	referrers := models.NewRows("link bigint, host text, n bigint")
	for _, v := range batch {
		of := sums[v.Link]
		if of == nil {
			of = &sum{}
			sums[v.Link] = of
		}
		of.visits += v.All()
		of.bots += v.Bots
		of.claimed += v.Claimed
		of.last = max(of.last, v.Last.UnixMicro())
		days.Add(v.Link, v.Start, v.Bots, v.Desktop, v.Mobile, v.Tablet, v.Other)
		direct := v.People()
		for _, r := range v.Referrers {
			referrers.Add(v.Link, r.Host, r.Visits)
			direct -= r.Visits
		}
		if direct > 0 {
			referrers.Add(v.Link, "", direct)
		}
	}
	links := models.NewRows("link bigint, n bigint, bots bigint, claimed bigint, last bigint")
	for link, of := range sums {
		links.Add(link, of.visits, of.bots, of.claimed, of.last)
	}
	if err := s.db.OneAtATime(tx, lockVisits); err != nil {
		return err
	}
	// The links first: that keeps the reaper from them until the rest is written.
	// (If max_visits was set meanwhile, the visits before may be as many already.)
	err := links.Exec(tx, `
		UPDATE short_links SET bots = short_links.bots + v.bots, visits = visits + v.n - v.claimed,
			exhausted_at = CASE WHEN exhausted_at IS NULL AND max_visits > 0 AND visits + v.n - v.claimed >= max_visits
				THEN v.last ELSE exhausted_at END,
			last_visited_at = CASE WHEN last_visited_at > v.last THEN last_visited_at ELSE v.last END
		FROM {rows} AS v WHERE short_links.seq = v.link`).Error
	if err == nil {
		err = days.Exec(tx, `
			INSERT INTO short_link_days (short_link_seq, bucket_start, bots, desktop, mobile, tablet, other)
			SELECT v.link, v.day, sum(v.bots), sum(v.desktop), sum(v.mobile), sum(v.tablet), sum(v.other)
			FROM {rows} AS v JOIN short_links ON seq = v.link GROUP BY v.link, v.day
			ON CONFLICT (short_link_seq, bucket_start) DO UPDATE SET bots = short_link_days.bots + excluded.bots,
				desktop = short_link_days.desktop + excluded.desktop, mobile = short_link_days.mobile + excluded.mobile,
				tablet = short_link_days.tablet + excluded.tablet, other = short_link_days.other + excluded.other`).Error
	}
	if err == nil {
		// A host that has no row gets one while there is room, else it is one of the others.
		err = referrers.Exec(tx, `
			INSERT INTO short_link_referrers (short_link_seq, host, visits)
			SELECT link, CASE WHEN known OR rows + place <= ? THEN host ELSE ? END AS named, sum(n) FROM (
				SELECT v.link AS link, v.host AS host, v.n AS n,
					row_number() OVER (PARTITION BY v.link ORDER BY v.n DESC, v.host) AS place,
					(SELECT count(*) FROM short_link_referrers r WHERE r.short_link_seq = v.link) AS rows,
					EXISTS (SELECT 1 FROM short_link_referrers r WHERE r.short_link_seq = v.link AND r.host = v.host) AS known
				FROM {rows} AS v JOIN short_links ON seq = v.link
			) AS w GROUP BY link, named
			ON CONFLICT (short_link_seq, host) DO UPDATE SET visits = short_link_referrers.visits + excluded.visits`,
			MaxReferrers, OtherHosts).Error
	}
	if err != nil {
		return fmt.Errorf("storing visits: %w", err)
	}
	return nil
}
