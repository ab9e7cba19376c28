package alerts

import (
	"sync"
	"time"

	"linkwatch/models"
)

// Quiet is the part of each day in which a rule sends nothing. Messages are held until it ends.
// Alerts resolved by then are not sent.
type Quiet struct {
	From     string // 22:00; "" = there are no quiet hours
	To       string // 07:00; before From: on the next day
	TimeZone string // as the IANA database names it: Europe/Berlin
}

const clockTime = "15:04"

func (q *Quiet) check() error {
	if q.From == "" && q.To == "" {
		*q = Quiet{}
		return nil
	}
	var errs []error
	for _, t := range []struct{ name, value string }{{"quiet.from", q.From}, {"quiet.to", q.To}} {
		if _, err := time.Parse(clockTime, t.value); err != nil || len(t.value) != len(clockTime) {
			errs = append(errs, models.Invalid(t.name, "must be a time such as 22:00"))
		}
	}
	if q.From == q.To {
		errs = append(errs, models.Invalid("quiet.to", "must differ from quiet.from"))
	}
	return models.Invalids(append(errs, checkZone("quiet.time_zone", &q.TimeZone))...)
}

// checkZone checks the name of a time zone; "" is UTC.
func checkZone(location string, name *string) error {
	if *name == "" {
		*name = "UTC"
	}
	if _, ok := zone(*name); !ok {
		return models.Invalid(location, "must be an IANA name such as Europe/Berlin")
	}
	return nil
}

// zones are the time zones that were asked for, by their names. Only names that exist are kept, so they are few.
var zones sync.Map

// zone is the time zone of an IANA name. It is UTC, and ok is false, if there is none.
func zone(name string) (z *time.Location, ok bool) {
	if z, ok := zones.Load(name); ok {
		return z.(*time.Location), true
	}
	z, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" || len(name) > 64 {
		return time.UTC, false
	}
	zones.Store(name, z)
	return z, true
}

// End returns when the quiet hours around a time end; zero = it is not in them. They are by
// the clock on the wall: on the days on which daylight saving begins or ends they are an hour shorter or longer. A time
// that the clock skips counts as the moment of the change.
func (q Quiet) End(now models.Time) models.Time {
	if q.From == "" {
		return models.Time{}
	}
	z, _ := zone(q.TimeZone) // it was checked when it was stored
	local := now.In(z)
	for _, day := range []int{-1, 0} { // the quiet hours that began yesterday, and those of today
		from, to := at(local, day, q.From), at(local, day, q.To)
		if q.To < q.From {
			to = at(local, day+1, q.To)
		}
		if !local.Before(from) && local.Before(to) {
			return models.At(to)
		}
	}
	return models.Time{}
}

// at is a time of the day that is some days after that of local.
func at(local time.Time, days int, clock string) time.Time {
	t, err := time.Parse(clockTime, clock)
	if err != nil {
		return local
	}
	return wall(local.Year(), local.Month(), local.Day()+days, t.Hour(), t.Minute(), local.Location())
}

// wall is a time by the clock on the wall. If the clock skips it, it is the moment of the change.
func wall(year int, month time.Month, day, hour, minute int, z *time.Location) time.Time {
	t := time.Date(year, month, day, hour, minute, 0, 0, z)
	if t.Hour() == hour && t.Minute() == minute {
		return t
	}
	// Go moves a skipped time by the length of the gap, to either side of it.
	before := t.Add(-3 * time.Hour)
	_, offset := before.Zone()
	for m := before; ; m = m.Add(time.Minute) {
		if _, now := m.Zone(); now != offset {
			return m.Truncate(time.Minute)
		}
		if m.After(t.Add(3 * time.Hour)) {
			return t
		}
	}
}
