package targets

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/linkwatch/linkwatch/models"
)

// Bucket is a part of a chart: the checks from From until To.
type Bucket struct {
	From, To models.Time
	Share
	P50, P95 int // milliseconds, of the checks that had an answer; 0 without any
}

// History is what happened to a target over a range.
type History struct {
	Range    Range
	Buckets  []Bucket // the oldest first, without gaps; those without checks have zeros
	Share             // of the whole range
	P50, P95 int      // of the whole range
}

// shapes are which roll-ups the chart of a range is made of, and how long each
// of its buckets is.
var shapes = map[Range]struct {
	table  string
	bucket time.Duration
}{
	Last24h:  {"target_hours", time.Hour},
	Last7d:   {"target_hours", 2 * time.Hour},
	Last30d:  {"target_hours", 6 * time.Hour},
	Last90d:  {"target_days", day},
	Last365d: {"target_days", 5 * day},
}

// History is what happened to a target over a range, in 24 to 120 buckets. It
// reads at most 720 roll-ups, however long the target has been watched.
func (s *Store) History(ctx context.Context, t Target, r Range) (History, error) {
	out := History{Range: r}
	now, shape := s.clock.Now(), shapes[r]
	from := r.from(now)
	var rows []Sum
	err := s.db.Read(ctx).Table(shape.table).Where("target_seq = ? AND at >= ?", t.Seq, from).
		Select("at, checks, up, latency").Scan(&rows).Error
	if err != nil {
		return out, fmt.Errorf("reading the history of a target: %w", err)
	}
	rows = append(rows, t.Hour)
	if shape.table == "target_days" {
		rows = append(rows, t.Day)
	}
	n := int((now.Sub(from.Time) + shape.bucket) / shape.bucket)
	sums := make([]histogram, n)
	var whole histogram
	for i := range n {
		at := from.Add(time.Duration(i) * shape.bucket)
		out.Buckets = append(out.Buckets, Bucket{From: at, To: at.Add(shape.bucket)})
	}
	for _, row := range rows {
		i := int(row.At.Sub(from.Time) / shape.bucket)
		if row.At.Before(from.Time) || i >= n {
			continue
		}
		out.Buckets[i].Share = out.Buckets[i].plus(row.share())
		out.Share = out.plus(row.share())
		row.Latency.unpack(&sums[i])
		row.Latency.unpack(&whole)
	}
	for i := range n {
		out.Buckets[i].P50, out.Buckets[i].P95 = sums[i].quantile(0.5), sums[i].quantile(0.95)
	}
	out.P50, out.P95 = whole.quantile(0.5), whole.quantile(0.95)
	return out, nil
}

// loadUptime gives targets their Uptime: two queries, however many targets.
func (s *Store) loadUptime(tx *gorm.DB, ts []Target) error {
	if len(ts) == 0 {
		return nil
	}
	now := s.clock.Now()
	seqs := make([]int64, len(ts))
	for i, t := range ts {
		seqs[i] = t.Seq
	}
	var hours []struct {
		TargetSeq  int64
		Checks, Up int64
	}
	err := tx.Raw(`SELECT target_seq, sum(checks) AS checks, sum(up) AS up FROM target_hours
		WHERE target_seq IN ? AND at >= ? GROUP BY target_seq`, seqs, Last24h.from(now)).Scan(&hours).Error
	if err != nil {
		return fmt.Errorf("adding up the hours of targets: %w", err)
	}
	var days []struct {
		TargetSeq                                int64
		Checks7, Up7, Checks30, Up30, Checks, Up int64
	}
	week, month := Last7d.from(now), Last30d.from(now)
	err = tx.Raw(`SELECT target_seq,
			sum(CASE WHEN at >= ? THEN checks ELSE 0 END) AS checks7, sum(CASE WHEN at >= ? THEN up ELSE 0 END) AS up7,
			sum(CASE WHEN at >= ? THEN checks ELSE 0 END) AS checks30, sum(CASE WHEN at >= ? THEN up ELSE 0 END) AS up30,
			sum(checks) AS checks, sum(up) AS up
		FROM target_days WHERE target_seq IN ? AND at >= ? GROUP BY target_seq`,
		week, week, month, month, seqs, Last90d.from(now)).Scan(&days).Error
	if err != nil {
		return fmt.Errorf("adding up the days of targets: %w", err)
	}
	stored := make(map[int64]map[Range]Share, len(ts))
	for _, seq := range seqs {
		stored[seq] = make(map[Range]Share, len(Windows))
	}
	for _, h := range hours {
		stored[h.TargetSeq][Last24h] = Share{h.Checks, h.Up}
	}
	for _, d := range days {
		of := stored[d.TargetSeq]
		of[Last7d], of[Last30d], of[Last90d] = Share{d.Checks7, d.Up7}, Share{d.Checks30, d.Up30}, Share{d.Checks, d.Up}
	}
	for i := range ts {
		ts[i].Uptime = stored[ts[i].Seq]
		for _, r := range Windows {
			ts[i].Uptime[r] = ts[i].Uptime[r].plus(ts[i].underWay(r, now))
		}
	}
	return nil
}

// underWay is what the target's row holds of a range: the hour, and of ranges
// of days the day.
func (t Target) underWay(r Range, now models.Time) (s Share) {
	from := r.from(now)
	if !t.Hour.At.Before(from.Time) {
		s = s.plus(t.Hour.share())
	}
	if r != Last24h && !t.Day.At.Before(from.Time) {
		s = s.plus(t.Day.share())
	}
	return s
}
