package shortlinks

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Counter counts requests for short links. Package visits implements it.
type Counter interface {
	// Count queues a request. It is called for every redirect and does not block.
	Count(v Visit)
	// IsVisit reports whether Count counts the request of a visitor as a visit, not as one by a bot or as a preview.
	IsVisit(v Visitor) bool
}

// Visit is a request for an active short link.
type Visit struct {
	Link    int64 // the short link's Seq
	Visitor Visitor
	At      models.Time
	Claimed bool // a visit that is already counted in ShortLink.Visits
}

// Visitor has what is read of a request. Nothing that identifies a visitor is stored.
type Visitor struct {
	Referrer  string // header Referer
	UserAgent string // header User-Agent
	Ahead     bool   // HEAD or a prefetch: no person sees the response, or not yet
}

// DayVisits are the requests for a short link on one day that are not stored yet.
type DayVisits struct {
	Link int64 // the short link's Seq
	Day
	Claimed   int64       // visits already counted in ShortLink.Visits
	Referrers []Referrer  // of visits, each host once; the other visits are direct
	Last      models.Time // time of the last visit; zero: none
}

// direct returns the visits without a referrer.
func (v *DayVisits) direct() int64 {
	n := v.Visits()
	for _, r := range v.Referrers {
		n -= r.Visits
	}
	return n
}

// lockVisits serializes transactions that write visits.
const lockVisits models.LockKey = 7_110_913_002

// WriteVisits stores a batch of requests, each short link and day once, in one transaction of three statements. Three more
// store those for short links that have moved to the archive meanwhile. It skips short links that no longer exist.
func (s *Store) WriteVisits(ctx context.Context, batch []*DayVisits) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error { return s.writeVisits(tx, batch) })
	if err != nil {
		return fmt.Errorf("write visits of short links: %w", err)
	}
	return nil
}

func (s *Store) writeVisits(tx *gorm.DB, batch []*DayVisits) error {
	if len(batch) == 0 {
		return nil
	}
	if err := s.db.OneAtATime(tx, lockVisits); err != nil {
		return err
	}
	left, err := live.addVisits(tx, batch)
	if err == nil && len(left) > 0 {
		_, err = archive.addVisits(tx, left)
	}
	if err != nil {
		return fmt.Errorf("store visits: %w", err)
	}
	return nil
}

// addVisits adds requests to short links. It returns those of other short links.
func (t tables) addVisits(tx *gorm.DB, batch []*DayVisits) (left []*DayVisits, err error) {
	// The links first: their row locks keep the reaper away until the rest is written.
	exists, err := t.addToLinks(tx, batch)
	days := models.NewRows("link bigint, day bigint, bots bigint, previews bigint, desktop bigint, mobile bigint, tablet bigint, other bigint")
	referrers := models.NewRows("link bigint, host text, n bigint")
	for _, v := range batch {
		if !exists[v.Link] {
			left = append(left, v)
			continue
		}
		days.Add(v.Link, v.Start, v.Bots, v.Previews, v.Desktop, v.Mobile, v.Tablet, v.Other)
		for _, r := range v.Referrers {
			referrers.Add(v.Link, r.Host, r.Visits)
		}
	}
	if err == nil {
		err = days.Exec(tx, `
			INSERT INTO `+t.days+` AS d (short_link_seq, bucket_start, bots, previews, desktop, mobile, tablet, other)
			SELECT link, day, bots, previews, desktop, mobile, tablet, other FROM {rows} AS v WHERE true
			ON CONFLICT (short_link_seq, bucket_start) DO UPDATE SET bots = d.bots + excluded.bots, previews = d.previews + excluded.previews,
				desktop = d.desktop + excluded.desktop, mobile = d.mobile + excluded.mobile,
				tablet = d.tablet + excluded.tablet, other = d.other + excluded.other`).Error
	}
	if err == nil {
		// A new host gets a row until there are MaxReferrers. Then it counts as OtherHosts. PostgreSQL would answer an EXISTS
		// by reading the whole table once per statement.
		err = referrers.Exec(tx, `
			INSERT INTO `+t.referrers+` AS stored (short_link_seq, host, visits)
			SELECT link, CASE WHEN known OR rows + place <= ? THEN host ELSE ? END AS named, sum(n) FROM (
				SELECT v.link AS link, v.host AS host, v.n AS n,
					row_number() OVER (PARTITION BY v.link ORDER BY v.n DESC, v.host) AS place,
					(SELECT count(*) FROM `+t.referrers+` r WHERE r.short_link_seq = v.link) AS rows,
					(SELECT r.visits FROM `+t.referrers+` r WHERE r.short_link_seq = v.link AND r.host = v.host) IS NOT NULL AS known
				FROM {rows} AS v
			) AS w GROUP BY link, named
			ON CONFLICT (short_link_seq, host) DO UPDATE SET visits = stored.visits + excluded.visits`,
			MaxReferrers, OtherHosts).Error
	}
	return left, err
}

// addToLinks adds requests to their short links. It returns which short links exist.
func (t tables) addToLinks(tx *gorm.DB, batch []*DayVisits) (exists map[int64]bool, err error) {
	type sum struct {
		visits, bots, previews, direct int64
		last                           models.Time
	}
	sums := map[int64]*sum{}
	for _, v := range batch {
		total := sums[v.Link]
		if total == nil {
			total = &sum{}
			sums[v.Link] = total
		}
		total.visits += v.Visits() - v.Claimed
		total.bots += v.Bots
		total.previews += v.Previews
		total.direct += v.direct()
		if v.Last.After(total.last.Time) {
			total.last = v.Last
		}
	}
	// In the order of their keys, short links in the same page of the table are written together.
	links := models.NewRows("link bigint, n bigint, bots bigint, previews bigint, direct bigint, last bigint")
	for _, link := range slices.Sorted(maps.Keys(sums)) {
		total := sums[link]
		links.Add(link, total.visits, total.bots, total.previews, total.direct, total.last)
	}
	exists = make(map[int64]bool, len(sums))
	// If max_visits was set since, the limit may be reached already.
	err = models.Each(links.Raw(tx, `
		UPDATE `+t.links+` AS l SET visits = visits + v.n, bots = l.bots + v.bots, previews = l.previews + v.previews, direct = l.direct + v.direct,
			exhausted_at = CASE WHEN exhausted_at IS NULL AND max_visits > 0 AND visits + v.n >= max_visits
				THEN v.last ELSE exhausted_at END,
			last_visited_at = CASE WHEN v.last IS NULL OR last_visited_at > v.last THEN last_visited_at ELSE v.last END
		FROM {rows} AS v WHERE l.seq = v.link RETURNING seq`), func(r *models.Row) { exists[r.Int64()] = true })
	return exists, err
}
