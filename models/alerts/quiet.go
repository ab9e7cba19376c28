package alerts

import (
	"sync"
	"time"

	"linkwatch/models"
)

// Quiet is the daily period in which a rule sends nothing. Messages are held until it ends. Alerts resolved by then are not sent.
type Quiet struct {
	From     string // 22:00; "" for no quiet hours
	To       string // 07:00; if before From, on the next day
	TimeZone string // IANA name: Europe/Berlin
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

// checkZone validates an IANA time zone name. An empty name becomes UTC.
func checkZone(location string, name *string) error {
	if *name == "" {
		*name = "UTC"
	}
	if _, ok := loadZone(*name); !ok {
		return models.Invalid(location, "must be an IANA name such as Europe/Berlin")
	}
	return nil
}

// zones caches time zones by name. Only existing names are cached, which bounds its size.
var zones sync.Map

// loadZone returns the time zone of an IANA name. If it does not exist, loadZone returns UTC and ok is false.
func loadZone(name string) (z *time.Location, ok bool) {
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

// End returns the end of the quiet hours that contain now, or zero if none do. Quiet hours are in local time: they are an hour shorter or
// longer when daylight saving time starts or ends. A local time that the clock skips counts as the moment of the change.
func (q Quiet) End(now models.Time) models.Time {
	if q.From == "" {
		return models.Time{}
	}
	z, _ := loadZone(q.TimeZone) // validated before it was stored
	local := now.In(z)
	for _, day := range []int{-1, 0} { // quiet hours that started yesterday or today
		from, to := timeOnDay(local, day, q.From), timeOnDay(local, day, q.To)
		if q.To < q.From {
			to = timeOnDay(local, day+1, q.To)
		}
		if !local.Before(from) && local.Before(to) {
			return models.At(to)
		}
	}
	return models.Time{}
}

// timeOnDay returns a local time of day, the given number of days after local.
func timeOnDay(local time.Time, days int, clock string) time.Time {
	t, err := time.Parse(clockTime, clock)
	if err != nil {
		return local
	}
	return localTime(local.Year(), local.Month(), local.Day()+days, t.Hour(), t.Minute(), local.Location())
}

// localTime returns a local time. If the clock skips it, localTime returns the moment of the change.
func localTime(year int, month time.Month, day, hour, minute int, z *time.Location) time.Time {
	t := time.Date(year, month, day, hour, minute, 0, 0, z)
	if t.Hour() == hour && t.Minute() == minute {
		return t
	}
	// time.Date moves a skipped time to either side of the gap.
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
