package sites_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
)

// many are limits that no test reaches.
var many = sites.Limits{
	PublishPerDay: 1000, MetadataPerMinute: 1000, RequestsPerMinute: 1000,
	InspectionsPerDay: 1000, InspectionsPerMinute: 1000, Concurrency: 1000,
}

type ledger struct {
	*testing.T
	*sites.Store
	db    *models.DB
	clock *modelstest.Clock
	me    lease.ID
}

func newLedger(t *testing.T, db *models.DB, limits sites.Limits) *ledger {
	t.Helper()
	clock := modelstest.NewClock()
	return &ledger{t, sites.NewStore(db, clock.Now, sites.Options{Limits: limits}), db, clock, modelstest.Lease(t, db, "i_me")}
}

func eachLedger(t *testing.T, limits sites.Limits, test func(b *ledger)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) { test(newLedger(t, db, limits)) })
}

// restart simulates a new process with other limits on the same database.
func (b *ledger) restart(limits sites.Limits) {
	b.Store = sites.NewStore(b.db, b.clock.Now, sites.Options{Limits: limits})
}

func (b *ledger) to(rfc3339 string) {
	b.Helper()
	b.clock.Advance(instant(b.T, rfc3339).Sub(b.clock.Now()))
}

func (b *ledger) acquire(n int, w sites.Website, c sites.Call) (permits []sites.Permit) {
	b.Helper()
	for range n {
		p, err := b.Acquire(b.Context(), b.me, w, c)
		if err != nil {
			b.Fatal(err)
		}
		permits = append(permits, p)
	}
	return permits
}

// wantRefused checks that a permit is refused by a limit for a duration. A negative duration means never granted.
func (b *ledger) wantRefused(w sites.Website, c sites.Call, limit sites.LimitKind, until time.Duration) {
	b.Helper()
	_, err := b.Acquire(b.Context(), b.me, w, c)
	want := models.Time{}
	if until >= 0 {
		want = b.Now().Add(until)
	}
	if e, ok := errors.AsType[*sites.QuotaError](err); !ok || e.Limit != limit || e.RetryAt != want || e.Call != c || e.Error() == "" {
		b.Fatalf("%v, want %s until %v", err, limit, want)
	}
}

func (b *ledger) release(p sites.Permit) {
	b.Helper()
	if err := b.ReleasePermit(b.Context(), p); err != nil {
		b.Fatal(err)
	}
}

func website(seq int64, project string) sites.Website {
	return sites.Website{Seq: seq, SiteURL: fmt.Sprintf("https://h%d.example/", seq), ProjectID: project}
}

// one and two share a project.
var (
	one   = website(1, "p")
	two   = website(2, "p")
	three = website(3, "q")
)

// restOfDay is the time from the start of the test clock until a daily quota is free again.
const restOfDay = 19*time.Hour + 10*time.Second

func TestDailyLimits(t *testing.T) {
	limits := many
	limits.PublishPerDay, limits.InspectionsPerDay = 3, 5
	eachLedger(t, limits, func(b *ledger) {
		b.acquire(1, one, sites.CallPublish)
		b.acquire(2, two, sites.CallPublish)
		b.wantRefused(one, sites.CallPublish, sites.LimitDay, restOfDay)
		b.wantRefused(two, sites.CallPublish, sites.LimitDay, restOfDay)
		b.acquire(3, three, sites.CallPublish) // another project
		b.acquire(9, one, sites.CallMetadata)  // no daily limit
		b.acquire(5, one, sites.CallInspect)
		b.wantRefused(one, sites.CallInspect, sites.LimitDay, restOfDay)
		b.acquire(5, two, sites.CallInspect) // another property
		b.clock.Advance(restOfDay - time.Microsecond)
		b.wantRefused(one, sites.CallPublish, sites.LimitReset, time.Microsecond)
		b.clock.Advance(time.Microsecond)
		b.acquire(3, one, sites.CallPublish)
		b.wantRefused(two, sites.CallPublish, sites.LimitDay, 24*time.Hour)
	})
}

func TestLimitsPerMinute(t *testing.T) {
	limits := many
	limits.MetadataPerMinute, limits.RequestsPerMinute, limits.InspectionsPerMinute = 3, 5, 2
	eachLedger(t, limits, func(b *ledger) {
		const window = 70 * time.Second
		b.acquire(2, one, sites.CallMetadata)
		b.clock.Advance(20 * time.Second)
		b.acquire(1, two, sites.CallMetadata)
		b.wantRefused(one, sites.CallMetadata, sites.LimitMinute, window-20*time.Second)
		b.acquire(1, one, sites.CallPublish)
		b.acquire(1, two, sites.CallPublish)
		b.wantRefused(one, sites.CallPublish, sites.LimitRequests, window-20*time.Second)
		b.acquire(5, three, sites.CallPublish) // another project
		b.acquire(2, one, sites.CallInspect)   // other quotas
		b.wantRefused(one, sites.CallInspect, sites.LimitMinute, window)
		b.acquire(2, two, sites.CallInspect)

		b.clock.Advance(window - 20*time.Second - time.Microsecond)
		b.wantRefused(two, sites.CallMetadata, sites.LimitMinute, time.Microsecond)
		b.clock.Advance(time.Microsecond) // the first two leave the window
		b.acquire(2, two, sites.CallMetadata)
		b.wantRefused(two, sites.CallMetadata, sites.LimitMinute, 20*time.Second)
		b.wantRefused(two, sites.CallPublish, sites.LimitRequests, 20*time.Second)
	})
}

// A lowered limit is free again when enough uses have left the window.
func TestLoweredLimit(t *testing.T) {
	limits := many
	eachLedger(t, limits, func(b *ledger) {
		for range 4 {
			b.acquire(1, one, sites.CallInspect)
			b.clock.Advance(10 * time.Second)
		}
		limits := limits
		limits.InspectionsPerMinute = 2 // the first three must leave the window
		b.restart(limits)
		b.wantRefused(one, sites.CallInspect, sites.LimitMinute, 50*time.Second)
		b.clock.Advance(50 * time.Second)
		b.acquire(1, one, sites.CallInspect)
		b.restart(many) // another instance with higher limits
		b.acquire(5, one, sites.CallInspect)
	})
}

func TestConcurrencyLimit(t *testing.T) {
	limits := many
	limits.Concurrency = 2
	eachLedger(t, limits, func(b *ledger) {
		permits := append(b.acquire(1, one, sites.CallPublish), b.acquire(1, one, sites.CallInspect)...)
		b.wantRefused(one, sites.CallMetadata, sites.LimitConcurrency, time.Second)
		b.acquire(2, two, sites.CallMetadata) // another website
		b.clock.Advance(30 * time.Minute)     // outside the window
		b.wantRefused(one, sites.CallInspect, sites.LimitConcurrency, time.Second)
		b.release(permits[1])
		b.release(permits[1]) // no effect
		b.acquire(1, one, sites.CallInspect)
		b.wantRefused(one, sites.CallPublish, sites.LimitConcurrency, time.Second)
		b.clock.Advance(31 * time.Minute) // the first permit was never released
		b.acquire(1, one, sites.CallPublish)
		b.wantRefused(one, sites.CallPublish, sites.LimitConcurrency, time.Second)
	})
}

// Permits of a dead instance are no longer in flight, but stay spent.
func TestPermitsOfDeadInstance(t *testing.T) {
	limits := many
	limits.Concurrency, limits.InspectionsPerDay = 2, 3
	eachLedger(t, limits, func(b *ledger) {
		dead := modelstest.Lease(b.T, b.db, "i_dead")
		for range 2 {
			if _, err := b.Acquire(b.Context(), dead, one, sites.CallInspect); err != nil {
				b.Fatal(err)
			}
		}
		b.wantRefused(one, sites.CallInspect, sites.LimitConcurrency, time.Second)
		modelstest.Exec(b.T, b.db, "DELETE FROM instances WHERE id = ?", dead)
		for _, holder := range []lease.ID{dead, ""} {
			if _, err := b.Acquire(b.Context(), holder, one, sites.CallInspect); !errors.Is(err, lease.ErrLost) {
				b.Errorf("lease %q: %v", holder, err)
			}
		}
		b.acquire(1, one, sites.CallInspect)
		b.wantRefused(one, sites.CallInspect, sites.LimitDay, restOfDay)
	})
}

func TestZeroLimits(t *testing.T) {
	eachLedger(t, sites.Limits{}, func(b *ledger) {
		for call, limit := range map[sites.Call]sites.LimitKind{
			sites.CallPublish: sites.LimitDay, sites.CallMetadata: sites.LimitMinute, sites.CallInspect: sites.LimitDay,
		} {
			b.wantRefused(one, call, limit, -1)
		}
		for limit, set := range map[sites.LimitKind]func(*sites.Limits){
			sites.LimitRequests:    func(l *sites.Limits) { l.RequestsPerMinute = 0 },
			sites.LimitDay:         func(l *sites.Limits) { l.PublishPerDay = 0 },
			sites.LimitConcurrency: func(l *sites.Limits) { l.Concurrency = 0 },
		} {
			limits := many
			set(&limits)
			b.restart(limits)
			b.wantRefused(one, sites.CallPublish, limit, -1)
		}
		b.restart(many)
		b.acquire(1, one, sites.CallPublish) // refused permits use no quota
		if q, err := b.Quota(b.Context(), one); err != nil || q.Publish.Used != 1 || q.Requests.Used != 1 || q.Inspections.Used != 0 {
			b.Errorf("%+v, %v", q, err)
		}
	})
}

// If several limits refuse, the error has the one with the longest wait.
func TestLongestLimitIsReported(t *testing.T) {
	eachLedger(t, sites.Limits{PublishPerDay: 2, MetadataPerMinute: 1, RequestsPerMinute: 2, InspectionsPerDay: 1, InspectionsPerMinute: 1, Concurrency: 2}, func(b *ledger) {
		b.acquire(1, one, sites.CallMetadata)
		b.clock.Advance(20 * time.Second)
		b.acquire(1, one, sites.CallPublish)
		b.wantRefused(one, sites.CallMetadata, sites.LimitMinute, 50*time.Second)
		b.acquire(1, two, sites.CallInspect)
		b.wantRefused(two, sites.CallInspect, sites.LimitDay, restOfDay-20*time.Second)
		b.wantRefused(two, sites.CallPublish, sites.LimitRequests, 50*time.Second)
		b.clock.Advance(restOfDay - 30*time.Second)
		b.wantRefused(one, sites.CallPublish, sites.LimitReset, 10*time.Second)
	})
}

// No daily quota is given out around midnight Pacific time, on days with 23 and 25 hours too.
func TestPauseAroundReset(t *testing.T) {
	limits := many
	limits.PublishPerDay = 3
	eachLedger(t, limits, func(b *ledger) {
		for _, reset := range []string{"2026-10-31T07:00:00Z", "2026-11-01T07:00:00Z", "2026-11-02T08:00:00Z", "2027-03-14T08:00:00Z", "2027-03-15T07:00:00Z"} {
			b.to(reset)
			b.clock.Advance(-10*time.Second - time.Microsecond)
			b.acquire(1, one, sites.CallPublish)
			b.clock.Advance(time.Microsecond)
			b.wantRefused(one, sites.CallPublish, sites.LimitReset, 20*time.Second)
			b.wantRefused(one, sites.CallInspect, sites.LimitReset, 20*time.Second)
			b.acquire(1, one, sites.CallMetadata)
			b.clock.Advance(19 * time.Second)
			b.wantRefused(one, sites.CallPublish, sites.LimitReset, time.Second)
			b.clock.Advance(time.Second)
			b.acquire(1, one, sites.CallPublish)
			b.acquire(1, one, sites.CallInspect)
		}
		b.acquire(2, one, sites.CallPublish)
		b.wantRefused(one, sites.CallPublish, sites.LimitDay, 24*time.Hour)
	})
}

// A request without a response stays spent, released or not, and after a restart.
func TestLostResponsesAndRestarts(t *testing.T) {
	limits := many
	limits.PublishPerDay, limits.MetadataPerMinute, limits.Concurrency = 2, 2, 5
	eachLedger(t, limits, func(b *ledger) {
		b.release(b.acquire(1, one, sites.CallPublish)[0])
		b.acquire(1, one, sites.CallPublish) // no response, not released
		b.release(b.acquire(2, one, sites.CallMetadata)[0])
		b.restart(limits)
		b.wantRefused(one, sites.CallPublish, sites.LimitDay, restOfDay)
		b.wantRefused(one, sites.CallMetadata, sites.LimitMinute, 70*time.Second)
		b.acquire(3, one, sites.CallInspect)
		b.wantRefused(one, sites.CallInspect, sites.LimitConcurrency, time.Second)
	})
}

// A clock that is set back frees no quota, also when it is corrected.
func TestClockSetBack(t *testing.T) {
	limits := many
	limits.PublishPerDay, limits.MetadataPerMinute, limits.InspectionsPerDay = 3, 3, 9
	eachLedger(t, limits, func(b *ledger) {
		for _, back := range []time.Duration{time.Second, time.Hour, 30 * time.Hour, 6 * models.Day} {
			b.clock.Advance(restOfDay)
			b.acquire(2, one, sites.CallPublish)
			b.acquire(2, one, sites.CallMetadata)
			b.acquire(8, one, sites.CallInspect)
			b.clock.Advance(-back)
			b.acquire(1, one, sites.CallPublish)
			b.acquire(1, one, sites.CallMetadata)
			b.acquire(1, one, sites.CallInspect)
			b.wantRefused(one, sites.CallMetadata, sites.LimitMinute, 70*time.Second+back)
			if q, err := b.Quota(b.Context(), one); err != nil || q.Publish.Used != 3 || q.Metadata.Used != 3 || q.Inspections.Used != 9 {
				b.Errorf("%v back: %+v, %v", back, q, err)
			}
			b.clock.Advance(back + time.Second)
			b.wantRefused(one, sites.CallMetadata, sites.LimitMinute, 69*time.Second)
			for _, call := range []sites.Call{sites.CallPublish, sites.CallInspect} {
				b.wantRefused(one, call, sites.LimitDay, restOfDay-b.sinceStart())
			}
			b.clock.Advance(-b.sinceStart() - restOfDay + 2*models.Day)
		}
	})
}

// sinceStart is the time of day, measured from the time at which restOfDay was left.
func (b *ledger) sinceStart() time.Duration {
	return restOfDay - 10*time.Second - sites.DayEnd(b.Now()).Sub(b.clock.Now())
}

// A clock that was months ahead does not block the ledger for months, and recent uses still count.
func TestClockFarAhead(t *testing.T) {
	limits := many
	limits.PublishPerDay, limits.MetadataPerMinute = 3, 3
	eachLedger(t, limits, func(b *ledger) {
		b.clock.Advance(90 * models.Day)
		b.acquire(3, one, sites.CallPublish)
		b.acquire(3, one, sites.CallMetadata)
		b.clock.Advance(-90 * models.Day)
		q, err := b.Quota(b.Context(), one)
		if err != nil || q.Metadata != (sites.Meter{Used: 3, Limit: 3, ResetsAt: b.Now().Add(70 * time.Second)}) || q.Publish.Used != 0 {
			b.Errorf("%+v, %v", q, err)
		}
		b.wantRefused(one, sites.CallMetadata, sites.LimitMinute, 70*time.Second)
		b.clock.Advance(30 * time.Second) // the refused call detected the wrong clock
		b.wantRefused(one, sites.CallMetadata, sites.LimitMinute, 40*time.Second)
		b.acquire(3, one, sites.CallPublish)
		b.clock.Advance(40 * time.Second)
		b.acquire(3, one, sites.CallMetadata)
	})
}

func TestWebsiteWithoutProject(t *testing.T) {
	eachLedger(t, many, func(b *ledger) {
		w := website(4, "")
		for _, call := range []sites.Call{sites.CallPublish, sites.CallMetadata} {
			if _, err := b.Acquire(b.Context(), b.me, w, call); !errors.Is(err, sites.ErrNoProject) {
				b.Errorf("%s: %v", call, err)
			}
		}
		b.acquire(1, w, sites.CallInspect)
		q, err := b.Quota(b.Context(), w)
		reset, now := b.Now().Add(restOfDay-10*time.Second), b.Now()
		want := sites.Quota{
			Publish: sites.Meter{Limit: 1000, ResetsAt: reset}, Inspections: sites.Meter{Used: 1, Limit: 1000, ResetsAt: reset},
			Metadata: sites.Meter{Limit: 1000, ResetsAt: now}, Requests: sites.Meter{Limit: 1000, ResetsAt: now},
		}
		if err != nil || q != want {
			b.Errorf("%+v, %v", q, err)
		}
	})
}

func TestQuotas(t *testing.T) {
	limits := sites.Limits{PublishPerDay: 10, MetadataPerMinute: 20, RequestsPerMinute: 30, InspectionsPerDay: 40, InspectionsPerMinute: 50, Concurrency: 60}
	eachLedger(t, limits, func(b *ledger) {
		b.acquire(1, one, sites.CallPublish)
		b.acquire(2, two, sites.CallMetadata)
		b.clock.Advance(time.Second)
		b.acquire(3, two, sites.CallPublish)
		b.acquire(4, two, sites.CallInspect)
		b.acquire(5, three, sites.CallMetadata)
		b.clock.Advance(time.Second)
		reset, now := instant(b.T, "2026-03-25T07:00:00Z"), b.Now()
		p := sites.Quota{
			Publish: sites.Meter{Used: 4, Limit: 10, ResetsAt: reset}, Metadata: sites.Meter{Used: 2, Limit: 20, ResetsAt: now.Add(68 * time.Second)},
			Requests: sites.Meter{Used: 6, Limit: 30, ResetsAt: now.Add(69 * time.Second)}, Inspections: sites.Meter{Limit: 40, ResetsAt: reset},
		}
		ofTwo, q := p, p
		ofTwo.Inspections.Used = 4
		q.Publish.Used = 0
		q.Metadata.Used, q.Requests.Used, q.Metadata.ResetsAt = 5, 5, now.Add(69*time.Second)
		all := []sites.Website{three, one, two, one}
		for i := range 20 { // the number of websites does not matter
			all = append(all, website(int64(10+i), fmt.Sprint(i)))
		}
		queries := modelstest.Queries(b.T, b.db)
		got, err := b.Quotas(b.Context(), all)
		if n := queries.Load(); n != 2 {
			b.Errorf("%d queries", n)
		}
		if err != nil || len(got) != len(all) {
			b.Fatal(len(got), err)
		}
		for i, want := range []sites.Quota{q, p, ofTwo, p} {
			if got[i] != want {
				b.Errorf("website %d: %+v\nwant %+v", i, got[i], want)
			}
		}
		if none, err := b.Quotas(b.Context(), nil); err != nil || len(none) != 0 {
			b.Errorf("no websites: %v, %v", none, err)
		}
		b.clock.Advance(70 * time.Second) // the minute is over, but not the day
		if got, err := b.Quota(b.Context(), two); err != nil || got.Metadata.Used+got.Requests.Used != 0 || got.Publish.Used != 4 || got.Metadata.ResetsAt != b.Now() {
			b.Errorf("%+v, %v", got, err)
		}
		b.clock.Advance(models.Day)
		if got, err := b.Quota(b.Context(), two); err != nil || got.Publish != (sites.Meter{Limit: 10, ResetsAt: reset.Add(models.Day)}) || got.Inspections.Used != 0 {
			b.Errorf("the next day: %+v, %v", got, err)
		}
	})
}

func (b *ledger) rows() (days, uses int) {
	b.Helper()
	for table, n := range map[string]*int{"quota_days": &days, "quota_uses": &uses} {
		if err := b.db.Read(b.Context()).Raw("SELECT count(*) FROM " + table).Scan(n).Error; err != nil {
			b.Fatal(err)
		}
	}
	return days, uses
}

// The ledger keeps only uses that count, and quota days for 40 days.
func TestLedgerIsBounded(t *testing.T) {
	eachLedger(t, many, func(b *ledger) {
		for range 10 {
			b.release(b.acquire(1, one, sites.CallPublish)[0])
			b.acquire(1, two, sites.CallInspect) // not released
			b.clock.Advance(10 * time.Minute)
		}
		if days, uses := b.rows(); days != 2 || uses != 1+6 { // permits of the last hour that were not released
			b.Errorf("%d days, %d uses", days, uses)
		}
		modelstest.Exec(b.T, b.db, "DELETE FROM instances")
		b.me = modelstest.Lease(b.T, b.db, "i_again")
		b.clock.Advance(models.Day)
		b.acquire(1, two, sites.CallInspect)
		if days, uses := b.rows(); days != 3 || uses != 2 {
			b.Errorf("%d days, %d uses", days, uses)
		}
		reap := func(limit int) (n int64) {
			err := b.db.Write(b.Context(), func(tx *gorm.DB) (err error) { n, err = b.ReapQuotaDays(tx, limit); return err })
			if err != nil {
				b.Fatal(err)
			}
			return n
		}
		b.to("2026-05-04T06:59:59Z") // one second before the first days are 40 days old
		b.clock.Advance(time.Second)
		if n := reap(10); n != 1 { // only the use of that scope is older
			b.Errorf("reaped %d too early", n)
		}
		b.clock.Advance(time.Microsecond)
		for _, want := range []int64{1, 1, 0} {
			if n := reap(1); n != want {
				b.Errorf("reaped %d, want %d", n, want)
			}
		}
		modelstest.Exec(b.T, b.db, "DELETE FROM instances")
		b.clock.Advance(2 * models.Day)
		if n := reap(10); n != 2 {
			b.Errorf("reaped %d, want a day and a use", n)
		}
		if days, uses := b.rows(); days != 0 || uses != 0 {
			b.Errorf("%d days, %d uses", days, uses)
		}
	})
}
