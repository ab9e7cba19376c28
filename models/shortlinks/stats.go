package shortlinks

import (
	"context"
	"fmt"
	"time"

	"linkwatch/models"
)

// shownReferrers is how many referring hosts Stats returns.
const shownReferrers = 50

// Day is the visits of one day (UTC).
type Day struct {
	Start                                models.Time `gorm:"column:bucket_start"`
	Bots, Desktop, Mobile, Tablet, Other int64
}

// People is the visits of the day that no bot made.
func (d Day) People() int64 { return d.Desktop + d.Mobile + d.Tablet + d.Other }

// All is every visit of the day.
func (d Day) All() int64 { return d.Bots + d.People() }

// Add adds the visits of another day.
func (d *Day) Add(o Day) {
	d.Bots += o.Bots
	d.Desktop += o.Desktop
	d.Mobile += o.Mobile
	d.Tablet += o.Tablet
	d.Other += o.Other
}

// Referrer is how many people a host sent.
type Referrer struct {
	Host   string // "" = none was told, OtherHosts = all that have no row of their own
	Visits int64
}

// OtherHosts is the host of the referrers beyond the first MaxReferrers of a link.
const OtherHosts = "*"

// MaxReferrers is how many referring hosts of one link are counted apart.
const MaxReferrers = 200

// Stats are the stored visits of one short link:
// those of the last seconds may be missing.
type Stats struct {
	Days      []Day      // the last ones, without gaps, the oldest first, today last
	Devices   Day        // their sum; its Start is that of the first day
	Referrers []Referrer // of all time, the most frequent first, 50 at most
}

// Stats are the visits of a short link over the last days, 1 to KeepDays:
// CodeInvalid ("query.days") for any other number, CodeNotFound if there is no
// such short link.
func (s *Store) Stats(ctx context.Context, key string, days int) (Stats, error) {
	if days < 1 || days > KeepDays {
		return Stats{}, models.Invalid("query.days", "must be a whole number from 1 to %d", KeepDays)
	}
	l, err := s.Get(ctx, key)
	if err != nil {
		return Stats{}, err
	}
	first := s.clock.Now().StartOfDay().Add(-time.Duration(days-1) * models.Day)
	var kept []Day
	err = s.db.Read(ctx).Table("short_link_days").Where("short_link_seq = ? AND bucket_start >= ?", l.Seq, first).Order("bucket_start").Find(&kept).Error
	if err != nil {
		return Stats{}, fmt.Errorf("reading the visits of a short link: %w", err)
	}
	st := Stats{Days: make([]Day, days), Devices: Day{Start: first}}
	for i := range st.Days {
		st.Days[i].Start = first.Add(time.Duration(i) * models.Day)
	}
	for _, d := range kept {
		i := int(d.Start.Sub(first.Time) / models.Day)
		if i >= days { // counted before the clock was set back
			continue
		}
		st.Days[i] = d
		st.Devices.Add(d)
	}
	err = s.db.Read(ctx).Table("short_link_referrers").Where("short_link_seq = ?", l.Seq).
		Order("visits DESC, host").Limit(shownReferrers).Find(&st.Referrers).Error
	if err != nil {
		return Stats{}, fmt.Errorf("reading the referrers of a short link: %w", err)
	}
	return st, nil
}
