package shortlinks

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

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

// DayVisits are visits of one short link on one day that are to be written down.
type DayVisits struct {
	Link int64 // the short link's Seq
	Day
	Claimed   int64       // of all of these, those that are counted in the short link's Visits already
	Referrers []Referrer  // of people, each host once; people without a referrer are not in it
	Last      models.Time // when the last of these visits was made
}

// The rows of a batch of visits as the statements below read them.
type (
	linkSum struct {
		Link    int64 `json:"link"`
		N       int64 `json:"n"`
		Bots    int64 `json:"bots"`
		Claimed int64 `json:"claimed"`
		Last    int64 `json:"last"`
	}
	daySum struct {
		Link    int64 `json:"link"`
		Day     int64 `json:"day"`
		Bots    int64 `json:"bots"`
		Desktop int64 `json:"desktop"`
		Mobile  int64 `json:"mobile"`
		Tablet  int64 `json:"tablet"`
		Other   int64 `json:"other"`
	}
	referrerSum struct {
		Link int64  `json:"link"`
		Host string `json:"host"`
		N    int64  `json:"n"`
	}
)

// lockVisits is held by transactions that write visits.
const lockVisits models.LockKey = 7_110_913_002

// WriteVisits adds a batch of visits to what is written down, in one transaction
// of three statements. Visits of links that were deleted meanwhile are left out.
func (s *Store) WriteVisits(ctx context.Context, batch []*DayVisits) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error { return s.writeVisits(tx, batch) })
	if err != nil {
		return fmt.Errorf("visits of short links: %w", err)
	}
	return nil
}

func (s *Store) writeVisits(tx *gorm.DB, batch []*DayVisits) error {
	sums := map[int64]*linkSum{}
	var links []*linkSum
	var days []daySum
	var referrers []referrerSum
	for _, v := range batch {
		sum := sums[v.Link]
		if sum == nil {
			sum = &linkSum{Link: v.Link}
			sums[v.Link] = sum
			links = append(links, sum)
		}
		sum.N += v.All()
		sum.Bots += v.Bots
		sum.Claimed += v.Claimed
		sum.Last = max(sum.Last, v.Last.UnixMicro())
		days = append(days, daySum{v.Link, v.Start.UnixMicro(), v.Bots, v.Desktop, v.Mobile, v.Tablet, v.Other})
		direct := v.People()
		for _, r := range v.Referrers {
			referrers = append(referrers, referrerSum{v.Link, r.Host, r.Visits})
			direct -= r.Visits
		}
		if direct > 0 {
			referrers = append(referrers, referrerSum{v.Link, "", direct})
		}
	}
	if err := s.db.OneAtATime(tx, lockVisits); err != nil {
		return err
	}
	// The links first: that keeps the reaper from them until the rest is written.
	// (If max_visits was set meanwhile, the visits before may be as many already.)
	err := s.execRows(tx, links, `link bigint, n bigint, bots bigint, claimed bigint, last bigint`, `
		UPDATE short_links SET bots = short_links.bots + v.bots, visits = visits + v.n - v.claimed,
			exhausted_at = CASE WHEN exhausted_at IS NULL AND max_visits > 0 AND visits + v.n - v.claimed >= max_visits
				THEN v.last ELSE exhausted_at END,
			last_visited_at = CASE WHEN last_visited_at > v.last THEN last_visited_at ELSE v.last END
		FROM (%s) AS v WHERE short_links.seq = v.link`)
	if err == nil {
		err = s.execRows(tx, days, `link bigint, day bigint, bots bigint, desktop bigint, mobile bigint, tablet bigint, other bigint`, `
			INSERT INTO short_link_days (link_seq, day, bots, desktop, mobile, tablet, other)
			SELECT v.link, v.day, sum(v.bots), sum(v.desktop), sum(v.mobile), sum(v.tablet), sum(v.other)
			FROM (%s) AS v JOIN short_links ON seq = v.link GROUP BY v.link, v.day
			ON CONFLICT (link_seq, day) DO UPDATE SET bots = short_link_days.bots + excluded.bots,
				desktop = short_link_days.desktop + excluded.desktop, mobile = short_link_days.mobile + excluded.mobile,
				tablet = short_link_days.tablet + excluded.tablet, other = short_link_days.other + excluded.other`)
	}
	if err == nil {
		// A host that has no row gets one while there is room, else it is one of the others.
		err = s.execRows(tx, referrers, `link bigint, host text, n bigint`, `
			INSERT INTO short_link_referrers (link_seq, host, visits)
			SELECT link, CASE WHEN known OR rows + place <= ? THEN host ELSE ? END AS named, sum(n) FROM (
				SELECT v.link AS link, v.host AS host, v.n AS n,
					row_number() OVER (PARTITION BY v.link ORDER BY v.n DESC, v.host) AS place,
					(SELECT count(*) FROM short_link_referrers r WHERE r.link_seq = v.link) AS rows,
					EXISTS (SELECT 1 FROM short_link_referrers r WHERE r.link_seq = v.link AND r.host = v.host) AS known
				FROM (%s) AS v JOIN short_links ON seq = v.link
			) AS w GROUP BY link, named
			ON CONFLICT (link_seq, host) DO UPDATE SET visits = short_link_referrers.visits + excluded.visits`,
			MaxReferrers, OtherHosts)
	}
	if err != nil {
		return fmt.Errorf("writing visits down: %w", err)
	}
	return nil
}

// execRows runs a statement that reads rows in the place of its %s. They are
// sent as one argument, JSON, which both engines read as a table, for SQLite's
// driver is slow at many. columns are the members' names and types; args come
// before the rows in the statement.
func (s *Store) execRows(tx *gorm.DB, rows any, columns, sql string, args ...any) error {
	content, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	if string(content) == "null" {
		return nil
	}
	table := "SELECT * FROM jsonb_to_recordset(CAST(? AS jsonb)) AS r(" + columns + ")"
	if s.db.Engine == models.SQLite {
		var names []string
		for column := range strings.SplitSeq(columns, ", ") {
			name, _, _ := strings.Cut(column, " ")
			names = append(names, "value->>'"+name+"' AS "+name)
		}
		table = "SELECT " + strings.Join(names, ", ") + " FROM json_each(?)"
	}
	return tx.Exec(fmt.Sprintf(sql, table), append(args, string(content))...).Error
}
