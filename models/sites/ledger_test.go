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

// books is a ledger by a clock that stands still until it is moved.
type books struct {
	*testing.T
	*sites.Store
	db    *models.DB
	clock *modelstest.Clock
	me    lease.ID
}

func newBooks(t *testing.T, db *models.DB, limits sites.Limits) *books {
	t.Helper()
	clock := modelstest.NewClock()
	return &books{t, sites.NewStore(db, clock.Now, sites.Options{Limits: limits}), db, clock, modelstest.Lease(t, db, "i_me")}
}

// limited runs a test on each engine.
func limited(t *testing.T, limits sites.Limits, test func(b *books)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) { test(newBooks(t, db, limits)) })
}

// restart is a new process on the same database, with limits of its own.
func (b *books) restart(limits sites.Limits) {
	b.Store = sites.NewStore(b.db, b.clock.Now, sites.Options{Limits: limits})
}

func (b *books) to(rfc3339 string) {
	b.Helper()
	b.clock.Advance(instant(b.T, rfc3339).Sub(b.clock.Now()))
}

// granted takes n permits.
func (b *books) granted(n int, w sites.Website, c sites.Call) (permits []sites.Permit) {
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

// refused checks that a permit is refused, for a bound and until a time from now. A negative
// time is never.
func (b *books) refused(w sites.Website, c sites.Call, bound sites.Bound, until time.Duration) {
	b.Helper()
	_, err := b.Acquire(b.Context(), b.me, w, c)
	want := models.Time{}
	if until >= 0 {
		want = b.Now().Add(until)
	}
	if e, ok := errors.AsType[*sites.QuotaError](err); !ok || e.Bound != bound || e.RetryAt != want || e.Call != c || e.Error() == "" {
		b.Fatalf("%v, want %s until %v", err, bound, want)
	}
}

func (b *books) done(p sites.Permit) {
	b.Helper()
	if err := b.Done(b.Context(), p); err != nil {
		b.Fatal(err)
	}
}

func website(seq int64, project string) sites.Website {
	return sites.Website{Seq: seq, SiteURL: fmt.Sprintf("https://h%d.example/", seq), ProjectID: project}
}

// One project, and another.
var (
	one   = website(1, "p")
	two   = website(2, "p")
	three = website(3, "q")
)

// restOfDay is the time from the clock's start until a daily quota is free again.
const restOfDay = 19*time.Hour + 10*time.Second

func TestLimitsOfADay(t *testing.T) {
	limits := many
	limits.PublishPerDay, limits.InspectionsPerDay = 3, 5
	limited(t, limits, func(b *books) {
		b.granted(1, one, sites.CallPublish)
		b.granted(2, two, sites.CallPublish)
		b.refused(one, sites.CallPublish, sites.BoundDay, restOfDay)
		b.refused(two, sites.CallPublish, sites.BoundDay, restOfDay)
		b.granted(3, three, sites.CallPublish) // another project
		b.granted(9, one, sites.CallMetadata)  // has no daily limit
		b.granted(5, one, sites.CallInspect)
		b.refused(one, sites.CallInspect, sites.BoundDay, restOfDay)
		b.granted(5, two, sites.CallInspect) // another property
		b.clock.Advance(restOfDay - time.Microsecond)
		b.refused(one, sites.CallPublish, sites.BoundReset, time.Microsecond)
		b.clock.Advance(time.Microsecond)
		b.granted(3, one, sites.CallPublish)
		b.refused(two, sites.CallPublish, sites.BoundDay, 24*time.Hour)
	})
}

func TestLimitsOfAMinute(t *testing.T) {
	limits := many
	limits.MetadataPerMinute, limits.RequestsPerMinute, limits.InspectionsPerMinute = 3, 5, 2
	limited(t, limits, func(b *books) {
		const window = 70 * time.Second
		b.granted(2, one, sites.CallMetadata)
		b.clock.Advance(20 * time.Second)
		b.granted(1, two, sites.CallMetadata)
		b.refused(one, sites.CallMetadata, sites.BoundMinute, window-20*time.Second)
		b.granted(1, one, sites.CallPublish)
		b.granted(1, two, sites.CallPublish)
		b.refused(one, sites.CallPublish, sites.BoundRequests, window-20*time.Second)
		b.granted(5, three, sites.CallPublish) // another project
		b.granted(2, one, sites.CallInspect)   // other quotas
		b.refused(one, sites.CallInspect, sites.BoundMinute, window)
		b.granted(2, two, sites.CallInspect)

		b.clock.Advance(window - 20*time.Second - time.Microsecond)
		b.refused(two, sites.CallMetadata, sites.BoundMinute, time.Microsecond)
		b.clock.Advance(time.Microsecond) // the first two leave the window
		b.granted(2, two, sites.CallMetadata)
		b.refused(two, sites.CallMetadata, sites.BoundMinute, 20*time.Second)
		b.refused(two, sites.CallPublish, sites.BoundRequests, 20*time.Second)
	})
}

// A limit that was lowered below what is used is free when enough has left the window.
func TestLimitThatIsLowered(t *testing.T) {
	limits := many
	limited(t, limits, func(b *books) {
		for range 4 {
			b.granted(1, one, sites.CallInspect)
			b.clock.Advance(10 * time.Second)
		}
		limits := limits
		limits.InspectionsPerMinute = 2 // the first three have to leave
		b.restart(limits)
		b.refused(one, sites.CallInspect, sites.BoundMinute, 50*time.Second)
		b.clock.Advance(50 * time.Second)
		b.granted(1, one, sites.CallInspect)
		b.restart(many) // an instance with higher limits obeys its own
		b.granted(5, one, sites.CallInspect)
	})
}

func TestLimitOfRequestsUnderWay(t *testing.T) {
	limits := many
	limits.Concurrency = 2
	limited(t, limits, func(b *books) {
		permits := append(b.granted(1, one, sites.CallPublish), b.granted(1, one, sites.CallInspect)...)
		b.refused(one, sites.CallMetadata, sites.BoundConcurrency, time.Second)
		b.granted(2, two, sites.CallMetadata) // another website
		b.clock.Advance(30 * time.Minute)     // long out of the window
		b.refused(one, sites.CallInspect, sites.BoundConcurrency, time.Second)
		b.done(permits[1])
		b.done(permits[1]) // nothing more is freed
		b.granted(1, one, sites.CallInspect)
		b.refused(one, sites.CallPublish, sites.BoundConcurrency, time.Second)
		b.clock.Advance(31 * time.Minute) // the first one was never ended
		b.granted(1, one, sites.CallPublish)
		b.refused(one, sites.CallPublish, sites.BoundConcurrency, time.Second)
	})
}

// The requests of a dead instance are no longer under way. They stay spent.
func TestPermitsOfADeadInstance(t *testing.T) {
	limits := many
	limits.Concurrency, limits.InspectionsPerDay = 2, 3
	limited(t, limits, func(b *books) {
		dead := modelstest.Lease(b.T, b.db, "i_dead")
		for range 2 {
			if _, err := b.Acquire(b.Context(), dead, one, sites.CallInspect); err != nil {
				b.Fatal(err)
			}
		}
		b.refused(one, sites.CallInspect, sites.BoundConcurrency, time.Second)
		modelstest.Exec(b.T, b.db, "DELETE FROM instances WHERE id = ?", dead)
		for _, holder := range []lease.ID{dead, ""} {
			if _, err := b.Acquire(b.Context(), holder, one, sites.CallInspect); !errors.Is(err, lease.ErrLost) {
				b.Errorf("lease %q: %v", holder, err)
			}
		}
		b.granted(1, one, sites.CallInspect)
		b.refused(one, sites.CallInspect, sites.BoundDay, restOfDay)
	})
}

func TestLimitsOf0(t *testing.T) {
	limited(t, sites.Limits{}, func(b *books) {
		for call, bound := range map[sites.Call]sites.Bound{
			sites.CallPublish: sites.BoundDay, sites.CallMetadata: sites.BoundMinute, sites.CallInspect: sites.BoundDay,
		} {
			b.refused(one, call, bound, -1)
		}
		for bound, set := range map[sites.Bound]func(*sites.Limits){
			sites.BoundRequests:    func(l *sites.Limits) { l.RequestsPerMinute = 0 },
			sites.BoundDay:         func(l *sites.Limits) { l.PublishPerDay = 0 },
			sites.BoundConcurrency: func(l *sites.Limits) { l.Concurrency = 0 },
		} {
			limits := many
			set(&limits)
			b.restart(limits)
			b.refused(one, sites.CallPublish, bound, -1)
		}
		b.restart(many)
		b.granted(1, one, sites.CallPublish) // what was refused is not spent
		if q, err := b.Quota(b.Context(), one); err != nil || q.Publish.Used != 1 || q.Requests.Used != 1 || q.Inspections.Used != 0 {
			b.Errorf("%+v, %v", q, err)
		}
	})
}

// Of several limits that refuse, the one that does so for longest is named.
func TestLimitThatRefusesForLongest(t *testing.T) {
	limited(t, sites.Limits{PublishPerDay: 2, MetadataPerMinute: 1, RequestsPerMinute: 2, InspectionsPerDay: 1, InspectionsPerMinute: 1, Concurrency: 2}, func(b *books) {
		b.granted(1, one, sites.CallMetadata)
		b.clock.Advance(20 * time.Second)
		b.granted(1, one, sites.CallPublish)
		b.refused(one, sites.CallMetadata, sites.BoundMinute, 50*time.Second)
		b.granted(1, two, sites.CallInspect)
		b.refused(two, sites.CallInspect, sites.BoundDay, restOfDay-20*time.Second)
		b.refused(two, sites.CallPublish, sites.BoundRequests, 50*time.Second)
		b.clock.Advance(restOfDay - 30*time.Second)
		b.refused(one, sites.CallPublish, sites.BoundReset, 10*time.Second)
	})
}

// Around midnight in California no daily quota is given, on days with 23 and 25 hours too.
func TestNoPermitsAroundTheReset(t *testing.T) {
	limits := many
	limits.PublishPerDay = 3
	limited(t, limits, func(b *books) {
		for _, reset := range []string{"2026-10-31T07:00:00Z", "2026-11-01T07:00:00Z", "2026-11-02T08:00:00Z", "2027-03-14T08:00:00Z", "2027-03-15T07:00:00Z"} {
			b.to(reset)
			b.clock.Advance(-10*time.Second - time.Microsecond)
			b.granted(1, one, sites.CallPublish)
			b.clock.Advance(time.Microsecond)
			b.refused(one, sites.CallPublish, sites.BoundReset, 20*time.Second)
			b.refused(one, sites.CallInspect, sites.BoundReset, 20*time.Second)
			b.granted(1, one, sites.CallMetadata)
			b.clock.Advance(19 * time.Second)
			b.refused(one, sites.CallPublish, sites.BoundReset, time.Second)
			b.clock.Advance(time.Second)
			b.granted(1, one, sites.CallPublish)
			b.granted(1, one, sites.CallInspect)
		}
		b.granted(2, one, sites.CallPublish)
		b.refused(one, sites.CallPublish, sites.BoundDay, 24*time.Hour)
	})
}

// A request without an answer is spent, whether it was ended or not, and after a restart.
func TestLostAnswersAndRestarts(t *testing.T) {
	limits := many
	limits.PublishPerDay, limits.MetadataPerMinute, limits.Concurrency = 2, 2, 5
	limited(t, limits, func(b *books) {
		b.done(b.granted(1, one, sites.CallPublish)[0])
		b.granted(1, one, sites.CallPublish) // neither answered nor ended
		b.done(b.granted(2, one, sites.CallMetadata)[0])
		b.restart(limits)
		b.refused(one, sites.CallPublish, sites.BoundDay, restOfDay)
		b.refused(one, sites.CallMetadata, sites.BoundMinute, 70*time.Second)
		b.granted(3, one, sites.CallInspect)
		b.refused(one, sites.CallInspect, sites.BoundConcurrency, time.Second)
	})
}

// A clock that is set back frees nothing: neither then nor when it is set right.
func TestClockThatIsSetBack(t *testing.T) {
	limits := many
	limits.PublishPerDay, limits.MetadataPerMinute, limits.InspectionsPerDay = 3, 3, 9
	limited(t, limits, func(b *books) {
		for _, back := range []time.Duration{time.Second, time.Hour, 30 * time.Hour, 6 * models.Day} {
			b.clock.Advance(restOfDay)
			b.granted(2, one, sites.CallPublish)
			b.granted(2, one, sites.CallMetadata)
			b.granted(8, one, sites.CallInspect)
			b.clock.Advance(-back)
			b.granted(1, one, sites.CallPublish)
			b.granted(1, one, sites.CallMetadata)
			b.granted(1, one, sites.CallInspect)
			b.refused(one, sites.CallMetadata, sites.BoundMinute, 70*time.Second+back)
			if q, err := b.Quota(b.Context(), one); err != nil || q.Publish.Used != 3 || q.Metadata.Used != 3 || q.Inspections.Used != 9 {
				b.Errorf("%v back: %+v, %v", back, q, err)
			}
			b.clock.Advance(back + time.Second)
			b.refused(one, sites.CallMetadata, sites.BoundMinute, 69*time.Second)
			for _, call := range []sites.Call{sites.CallPublish, sites.CallInspect} {
				b.refused(one, call, sites.BoundDay, restOfDay-b.sinceStart())
			}
			b.clock.Advance(-b.sinceStart() - restOfDay + 2*models.Day)
		}
	})
}

// sinceStart is the time of the day since its end was restOfDay away.
func (b *books) sinceStart() time.Duration {
	return restOfDay - 10*time.Second - sites.DayEnd(b.Now()).Sub(b.clock.Now())
}

// A clock that was wrong by months does not stop the ledger for months, and uses
// that are just made still count.
func TestClockThatWasFarAhead(t *testing.T) {
	limits := many
	limits.PublishPerDay, limits.MetadataPerMinute = 3, 3
	limited(t, limits, func(b *books) {
		b.clock.Advance(90 * models.Day)
		b.granted(3, one, sites.CallPublish)
		b.granted(3, one, sites.CallMetadata)
		b.clock.Advance(-90 * models.Day)
		q, err := b.Quota(b.Context(), one)
		if err != nil || q.Metadata != (sites.Meter{Used: 3, Limit: 3, ResetsAt: b.Now().Add(70 * time.Second)}) || q.Publish.Used != 0 {
			b.Errorf("%+v, %v", q, err)
		}
		b.refused(one, sites.CallMetadata, sites.BoundMinute, 70*time.Second)
		b.clock.Advance(30 * time.Second) // the refused call has seen that the clock was wrong
		b.refused(one, sites.CallMetadata, sites.BoundMinute, 40*time.Second)
		b.granted(3, one, sites.CallPublish)
		b.clock.Advance(40 * time.Second)
		b.granted(3, one, sites.CallMetadata)
	})
}

func TestWebsiteWithoutProject(t *testing.T) {
	limited(t, many, func(b *books) {
		w := website(4, "")
		for _, call := range []sites.Call{sites.CallPublish, sites.CallMetadata} {
			if _, err := b.Acquire(b.Context(), b.me, w, call); !errors.Is(err, sites.ErrNoProject) {
				b.Errorf("%s: %v", call, err)
			}
		}
		b.granted(1, w, sites.CallInspect)
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
	limited(t, limits, func(b *books) {
		b.granted(1, one, sites.CallPublish)
		b.granted(2, two, sites.CallMetadata)
		b.clock.Advance(time.Second)
		b.granted(3, two, sites.CallPublish)
		b.granted(4, two, sites.CallInspect)
		b.granted(5, three, sites.CallMetadata)
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
		for i := range 20 { // however many there are
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
			b.Errorf("of none: %v, %v", none, err)
		}
		b.clock.Advance(70 * time.Second) // the minute is over, the day is not
		if got, err := b.Quota(b.Context(), two); err != nil || got.Metadata.Used+got.Requests.Used != 0 || got.Publish.Used != 4 || got.Metadata.ResetsAt != b.Now() {
			b.Errorf("%+v, %v", got, err)
		}
		b.clock.Advance(models.Day)
		if got, err := b.Quota(b.Context(), two); err != nil || got.Publish != (sites.Meter{Limit: 10, ResetsAt: reset.Add(models.Day)}) || got.Inspections.Used != 0 {
			b.Errorf("the next day: %+v, %v", got, err)
		}
	})
}

// rows counts the rows of the ledger.
func (b *books) rows() (days, uses int) {
	b.Helper()
	for table, n := range map[string]*int{"quota_days": &days, "quota_uses": &uses} {
		if err := b.db.Read(b.Context()).Raw("SELECT count(*) FROM " + table).Scan(n).Error; err != nil {
			b.Fatal(err)
		}
	}
	return days, uses
}

// The ledger keeps the uses that count, and the days of the last 40 days.
func TestLedgerIsBounded(t *testing.T) {
	limited(t, many, func(b *books) {
		for range 10 {
			b.done(b.granted(1, one, sites.CallPublish)[0])
			b.granted(1, two, sites.CallInspect) // stays under way
			b.clock.Advance(10 * time.Minute)
		}
		if days, uses := b.rows(); days != 2 || uses != 1+6 { // those under way of the last hour
			b.Errorf("%d days, %d uses", days, uses)
		}
		modelstest.Exec(b.T, b.db, "DELETE FROM instances")
		b.me = modelstest.Lease(b.T, b.db, "i_again")
		b.clock.Advance(models.Day)
		b.granted(1, two, sites.CallInspect)
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
		b.to("2026-05-04T06:59:59Z") // the first days ended 40 days ago, but for a second
		b.clock.Advance(time.Second)
		if n := reap(10); n != 1 { // the use of that scope is older
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
