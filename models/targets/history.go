package targets

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Bucket is one interval of a History. To is exclusive.
type Bucket struct {
	From, To models.Time
	Share
	Checks   int64 // without throttled checks
	P50, P95 int   // milliseconds, of the checks with a response; 0 if there are none
}

// History is the uptime and the response times of a target over a range.
type History struct {
	Range    Range
	Buckets  []Bucket // oldest first, without gaps; zero values without checks
	Share             // of the whole range
	Checks   int64    // of the whole range
	P50, P95 int      // of the whole range
}

// resolutions is the table of roll-ups and the length of the buckets for each range.
var resolutions = map[Range]struct {
	table  string
	bucket time.Duration
}{
	Last24h:  {"target_hours", time.Hour},
	Last7d:   {"target_hours", 2 * time.Hour},
	Last30d:  {"target_hours", 6 * time.Hour},
	Last90d:  {"target_days", models.Day},
	Last365d: {"target_days", 5 * models.Day},
}

// History returns the history of a target over a range that ends at t.AsOf, in 24 to
// 120 buckets. Its uptime equals that in t.Uptime. It reads at most 720 roll-ups.
func (s *Store) History(ctx context.Context, t Target, r Range) (History, error) {
	out := History{Range: r}
	now, shape := t.AsOf, resolutions[r]
	from := r.From(now)
	var rows []Rollup
	err := s.db.Read(ctx).Table(shape.table).Where("target_seq = ? AND bucket_start >= ?", t.Seq, from).
		Select("bucket_start, checks, known_from, up_us, down_us, latency").Scan(&rows).Error
	if err != nil {
		return out, fmt.Errorf("read target history: %w", err)
	}
	if rest := t.unstored(now); shape.table == "target_days" {
		rows = append(rows, rest.days...)
	} else {
		rows = append(rows, rest.hours...)
	}
	n := int((now.Sub(from.Time) + shape.bucket) / shape.bucket)
	sums := make([]histogram, n)
	var whole histogram
	for i := range n {
		at := from.Add(time.Duration(i) * shape.bucket)
		out.Buckets = append(out.Buckets, Bucket{From: at, To: at.Add(shape.bucket)})
	}
	for _, row := range rows {
		i := int(row.BucketStart.Sub(from.Time) / shape.bucket)
		if row.BucketStart.Before(from.Time) || i >= n {
			continue
		}
		out.Buckets[i].Share = out.Buckets[i].plus(row.share())
		out.Buckets[i].Checks += row.Checks
		out.Share = out.plus(row.share())
		out.Checks += row.Checks
		row.Latency.unpack(&sums[i])
		row.Latency.unpack(&whole)
	}
	for i := range n {
		out.Buckets[i].P50, out.Buckets[i].P95 = sums[i].quantile(0.5), sums[i].quantile(0.95)
	}
	out.P50, out.P95 = whole.quantile(0.5), whole.quantile(0.95)
	return out, nil
}

// loadUptime sets the Uptime of targets with one query.
func (s *Store) loadUptime(tx *gorm.DB, ts []Target) error {
	if len(ts) == 0 {
		return nil
	}
	now := s.clock.Now()
	stored, err := loadShares(tx, ts, now)
	if err != nil {
		return err
	}
	for i := range ts {
		ts[i].setUptime(stored[ts[i].Seq], now)
	}
	return nil
}

// setUptime sets the Uptime of a target from the result of loadShares.
func (t *Target) setUptime(stored []Share, now models.Time) {
	rest := t.unstored(now)
	t.AsOf, t.Uptime = now, make(map[Range]Share, len(Windows))
	var days Share
	for i, r := range Windows {
		share, parts := stored[i], rest.hours
		if r != Last24h {
			days = days.plus(share)
			share, parts = days, rest.days
		}
		t.Uptime[r] = share.plus(sinceStart(parts, r.From(now)))
	}
}

// sinceStart sums the roll-ups that start at from or later.
func sinceStart(parts []Rollup, from models.Time) (share Share) {
	for _, p := range parts {
		if !p.BucketStart.Before(from.Time) {
			share = share.plus(p.share())
		}
	}
	return share
}

// loadShares sums the stored roll-ups of targets. It returns one share per range in
// Windows for each Target.Seq. Shares do not overlap: that of 30 days excludes the last
// 7 days, and so on.
func loadShares(tx *gorm.DB, ts []Target, now models.Time) (map[int64][]Share, error) {
	seqs := make([]int64, len(ts))
	shares := make(map[int64][]Share, len(ts))
	for i, t := range ts {
		seqs[i], shares[t.Seq] = t.Seq, make([]Share, len(Windows))
	}
	var selects []string
	var args []any
	table, until := "target_hours", now
	for i, r := range Windows {
		selects = append(selects, fmt.Sprintf(`SELECT target_seq, %d AS place, min(known_from) AS known_from, sum(up_us) AS up_us, sum(down_us) AS down_us
			FROM %s WHERE target_seq IN ? AND bucket_start >= ? AND bucket_start < ? GROUP BY target_seq`, i, table))
		args = append(args, seqs, r.From(now), until)
		if r != Last24h {
			until = r.From(now)
		}
		table = "target_days"
	}
	var rows []struct {
		TargetSeq int64
		Place     int
		Rollup    `gorm:"embedded"`
	}
	if err := tx.Raw(strings.Join(selects, " UNION ALL "), args...).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("sum uptime of targets: %w", err)
	}
	for _, row := range rows {
		shares[row.TargetSeq][row.Place] = row.share()
	}
	return shares, nil
}
