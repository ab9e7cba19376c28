package shortlinks

import (
	"context"
	"fmt"
	"time"

	"linkwatch/models"
)

const maxStatsReferrers = 50

// Day is the requests of one day (UTC): the visits by device, and those that are no visits.
type Day struct {
	Start                          models.Time `gorm:"column:bucket_start"`
	Desktop, Mobile, Tablet, Other int64
	Bots                           int64
	Previews                       int64 // HEAD requests, prefetches and link previews
}

// Visits returns the visits.
func (d Day) Visits() int64 { return d.Desktop + d.Mobile + d.Tablet + d.Other }

// All returns all requests.
func (d Day) All() int64 { return d.Visits() + d.Bots + d.Previews }

// Add adds the requests of o.
func (d *Day) Add(o Day) {
	d.Bots += o.Bots
	d.Previews += o.Previews
	d.Desktop += o.Desktop
	d.Mobile += o.Mobile
	d.Tablet += o.Tablet
	d.Other += o.Other
}

// Referrer is a referring host with its visits.
type Referrer struct {
	Host   string // "": direct or unknown; OtherHosts: all hosts beyond MaxReferrers
	Visits int64
}

// OtherHosts stands for all hosts beyond the first MaxReferrers of a short link.
const OtherHosts = "*"

// MaxReferrers is the number of hosts that are counted separately per short link.
const MaxReferrers = 200

// Stats are the stored requests of a short link. Those of the last seconds may be missing.
type Stats struct {
	Days      []Day      // without gaps, oldest first, ending today
	Devices   Day        // sum of Days
	Referrers []Referrer // all time, most visits first, 50 at most
}

// Stats returns the requests of the last days, 1 to KeepDays. Errors are CodeInvalid
// ("query.days") and CodeNotFound.
func (s *Store) Stats(ctx context.Context, key string, days int) (Stats, error) {
	if days < 1 || days > KeepDays {
		return Stats{}, models.OutOfRange("query.days", "", 1, KeepDays)
	}
	l, err := s.Get(ctx, key)
	if err != nil {
		return Stats{}, err
	}
	first := s.clock.Now().StartOfDay().Add(-time.Duration(days-1) * models.Day)
	var kept []Day
	// Of both tables: the reaper may move the short link between two statements.
	err = s.db.Read(ctx).Raw("SELECT "+dayColumns+" FROM short_link_days WHERE short_link_seq = ? AND bucket_start >= ?"+
		" UNION ALL SELECT "+dayColumns+" FROM archived_short_link_days WHERE short_link_seq = ? AND bucket_start >= ?",
		l.Seq, first, l.Seq, first).Scan(&kept).Error
	if err != nil {
		return Stats{}, fmt.Errorf("read visits of short link: %w", err)
	}
	st := Stats{Days: make([]Day, days), Devices: Day{Start: first}}
	for i := range st.Days {
		st.Days[i].Start = first.Add(time.Duration(i) * models.Day)
	}
	for _, d := range kept {
		i := int(d.Start.Sub(first.Time) / models.Day)
		if i >= days { // the clock was set back
			continue
		}
		st.Days[i] = d
		st.Devices.Add(d)
	}
	// Direct visits, which most are, have no row of their own.
	err = s.db.Read(ctx).Raw(`
		SELECT host, visits FROM (
			SELECT '' AS host, direct AS visits FROM short_links WHERE seq = ? AND direct > 0
			UNION ALL SELECT '', direct FROM archived_short_links WHERE seq = ? AND direct > 0
			UNION ALL SELECT host, visits FROM short_link_referrers WHERE short_link_seq = ?
			UNION ALL SELECT host, visits FROM archived_short_link_referrers WHERE short_link_seq = ?
		) AS referrers ORDER BY visits DESC, host LIMIT ?`, l.Seq, l.Seq, l.Seq, l.Seq, maxStatsReferrers).Scan(&st.Referrers).Error
	if err != nil {
		return Stats{}, fmt.Errorf("read referrers of short link: %w", err)
	}
	return st, nil
}
