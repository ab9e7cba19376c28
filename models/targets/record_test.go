package targets_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
)

func TestRecordStoresResultAndState(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		expires := models.At(f.Now().Add(40 * day).Time)
		claimed := f.only()
		if got := f.get(made.ID); got.ClaimedBy != checker {
			t.Errorf("%+v", got)
		}
		r := up(42)
		r.CheckedAt = f.Now()
		f.must(f.Record(f.Context(), targets.Checked{Target: claimed, Result: r, TLSExpiresAt: expires}))
		got := f.get(made.ID)
		if got.Status() != targets.Up || got.LastCheckedAt != f.Now() || got.LastStatusCode != 200 || got.LastLatencyMS != 42 ||
			got.TLSExpiresAt != expires || got.ClaimedBy != "" || got.StateSince != f.Now() {
			t.Errorf("%+v", got)
		}
		rs := f.results(targets.ResultFilter{TargetID: made.ID})
		if len(rs) != 1 || rs[0].TargetID != made.ID || rs[0].TargetTitle() != "a.test" || rs[0].CheckedAt != f.Now() ||
			models.CheckID(models.KindCheck, rs[0].ID()) != nil {
			t.Errorf("%+v", rs)
		}
		since := got.StateSince
		got = f.check(down())
		if got.Status() != targets.Down || got.Failures != 1 || got.LastError != "unexpected status 500" || got.StateSince == since ||
			got.TLSExpiresAt != expires {
			t.Errorf("%+v", got)
		}
		if got = f.check(down()); got.Failures != 2 || len(got.RecentChecks) != 3 {
			t.Errorf("%+v", got)
		}
		if got = f.check(up(1)); got.Failures != 0 || got.LastError != "" || got.Status() != targets.Up {
			t.Errorf("%+v", got)
		}
	})
}

func TestOutagesAreDerivedFromResults(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		var times []models.Time
		for _, r := range []targets.Result{up(1), down(), down(), up(1), down()} {
			times = append(times, f.check(r).LastCheckedAt)
		}
		got := f.outages(made.ID)
		if len(got) != 2 {
			t.Fatalf("%+v", got)
		}
		if got[1].StartedAt != times[1] || got[1].EndedAt != times[3] || got[1].Cause != "unexpected status 500" || got[1].TargetTitle() != "a.test" {
			t.Errorf("%+v", got[1])
		}
		if got[0].StartedAt != times[4] || !got[0].EndedAt.IsZero() || got[0].Duration(f.Now().Add(time.Hour).Time) != time.Hour {
			t.Errorf("%+v", got[0])
		}
	})
}

func TestThrottledIsNeitherUpNorDown(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		f.check(up(1))
		claimed := func() targets.Target { f.clock.Advance(2 * time.Minute); return f.only() }()
		r := targets.Result{Outcome: targets.ThrottledOutcome, StatusCode: 429, Attempts: 1, Error: "throttled: status 429", CheckedAt: f.Now()}
		f.must(f.Record(f.Context(), targets.Checked{Target: claimed, Result: r, RetryAfter: 10 * time.Minute}))
		got := f.get(made.ID)
		if got.Status() != targets.Up || got.Failures != 0 || got.LastStatusCode != 429 || got.NextCheckAt != f.Now().Add(10*time.Minute) {
			t.Errorf("%+v", got)
		}
		if s := got.Uptime[targets.Last24h]; s.Up != 2*time.Minute || s.Down != 0 {
			t.Errorf("%+v", s)
		}
		if rs := f.results(targets.ResultFilter{Failed: true}); len(rs) != 1 || rs[0].Outcome != targets.ThrottledOutcome {
			t.Errorf("%+v", rs)
		}
	})
}

func TestRecentChecks(t *testing.T) {
	each(t, func(f fixture) {
		f.add("https://a.test")
		var want []int
		var got targets.Target
		for i := range targets.MaxRecentChecks + 7 {
			r := up(i * 3)
			if i%5 == 0 {
				r = down()
				r.LatencyMS = i
			}
			want = append(want, r.LatencyMS)
			got = f.check(r)
		}
		var have []int
		for _, b := range got.RecentChecks {
			have = append(have, b.LatencyMS)
		}
		if !slices.Equal(have, want[7:]) {
			t.Errorf("%v, want %v", have, want[7:])
		}
		if last := got.RecentChecks[len(got.RecentChecks)-1]; last.At.Unix() != got.LastCheckedAt.Unix() {
			t.Errorf("%v, want %v", last.At, got.LastCheckedAt)
		}
	})
}

// A check is dropped if its target was deleted, paused, edited or claimed by another
// instance since the claim.
func TestRecordDropsStaleChecks(t *testing.T) {
	each(t, func(f fixture) {
		for name, meddle := range map[string]func(id string){
			"deleted": func(id string) { f.must(f.Delete(f.Context(), id)) },
			"paused":  func(id string) { _, err := f.Edit(f.Context(), id, targets.Edit{Paused: new(true)}); f.must(err) },
			"edited": func(id string) {
				_, err := f.Edit(f.Context(), id, targets.Edit{IntervalSeconds: new(600)})
				f.must(err)
			},
			"lost to another one": func(string) {
				f.end(checker)
				modelstest.Lease(f, f.db, string(checker))
			},
		} {
			made := f.add("https://" + models.NewID(models.KindTarget)[5:] + ".test")
			claimed := f.only()
			f.clock.Advance(time.Second)
			meddle(made.ID)
			f.record(claimed, down())
			if n := len(f.outages("")); n != 0 {
				t.Errorf("%s: the check was recorded", name)
			}
			if name == "edited" { // and is due at once with the new settings
				if again := f.only(); again.ID != made.ID || again.LastCheckedAt != (models.Time{}) {
					t.Errorf("%s: %+v", name, again)
				}
			}
			_ = f.Delete(f.Context(), made.ID)
		}
	})
}

// Every target keeps its offset in the interval.
func TestChecksKeepTheirOffset(t *testing.T) {
	each(t, func(f fixture) {
		const n, interval = 60, time.Minute
		f.addMany(n)
		for _, claimed := range f.claim() { // all at once, like new targets
			f.record(claimed, up(1))
		}
		places := map[string]time.Duration{}
		var quarters [4]int
		begun := f.Now()
		for range 3 * n {
			_, next, err := f.Claim(f.Context(), checker, 0)
			f.must(err)
			f.clock.Advance(max(0, next.Sub(f.Now().Time)))
			for _, claimed := range f.claim() {
				place := f.Now().Sub(f.Now().Truncate(interval))
				if before, ok := places[claimed.ID]; ok && before != place {
					t.Fatalf("%s was checked at %v in its minute, now at %v", claimed.ID, before, place)
				} else if !ok {
					quarters[place/(interval/4)]++
				}
				places[claimed.ID] = place
				f.record(claimed, up(1))
			}
		}
		if len(places) != n {
			t.Errorf("%d of %d targets were checked again", len(places), n)
		}
		if took := f.Now().Sub(begun.Time); took < 2*interval || took > 4*interval {
			t.Errorf("three rounds took %v", took)
		}
		for i, q := range quarters {
			if q < n/8 || q > n/2 {
				t.Errorf("quarter %d of the interval has %d of %d targets: %v", i, q, n, quarters)
			}
		}
	})
}

// The buckets of each range have no gaps, and contain the checks and response times of
// their period.
func TestHistoryOfEachRange(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		_, err := f.Edit(f.Context(), made.ID, targets.Edit{IntervalSeconds: new(20 * 60)})
		f.must(err)
		var times []models.Time
		for end := f.Now().Add(10 * day); f.Now().Before(end.Time); {
			r := up(100)
			if len(times)%10 == 3 {
				r = down()
			}
			times = append(times, f.check(r).LastCheckedAt)
		}
		got := f.get(made.ID)
		for _, r := range targets.Ranges {
			h, err := f.History(f.Context(), got, r)
			f.must(err)
			var want, sum int64
			for _, at := range times {
				if !at.Before(r.From(got.AsOf).Time) {
					want++
				}
			}
			for i, b := range h.Buckets {
				sum += b.Checks
				if i > 0 && b.From != h.Buckets[i-1].To {
					t.Errorf("%s: a gap before %v", r, b.From)
				}
			}
			if h.Checks != want || sum != want || len(h.Buckets) < 24 || len(h.Buckets) > 120 {
				t.Errorf("%s: %d checks in %d buckets that hold %d, want %d", r, h.Checks, len(h.Buckets), sum, want)
			}
			if h.P50 < 88 || h.P50 > 113 || h.P95 < 88 || h.P95 > 113 {
				t.Errorf("%s: p50 %d, p95 %d; most took 100", r, h.P50, h.P95)
			}
		}
	})
}

// The number of roll-ups of a target is bounded.
func TestRollUpsAreBounded(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		_, err := f.Edit(f.Context(), made.ID, targets.Edit{IntervalSeconds: new(12 * 3600)})
		f.must(err)
		for range 2 * 450 {
			f.check(up(5))
		}
		for table, most := range map[string]int64{"target_hours": 24 * 36, "target_days": 401} {
			var n int64
			f.must(f.db.Read(f.Context()).Raw("SELECT count(*) FROM " + table).Scan(&n).Error)
			if n > most || n < most-most/30 {
				t.Errorf("%d rows in %s, want about %d", n, table, most)
			}
		}
		h, err := f.History(f.Context(), f.get(made.ID), targets.Last365d)
		f.must(err)
		if h.Checks < 2*363 || h.Checks > 2*366 {
			t.Errorf("%+v", h.Share)
		}
	})
}

func TestRecordOfManyTakesOneTransaction(t *testing.T) {
	each(t, func(f fixture) {
		f.addMany(30)
		var done []targets.Checked
		for i, claimed := range f.claim() {
			r := up(i)
			r.CheckedAt = f.Now().Add(time.Duration(i))
			done = append(done, targets.Checked{Target: claimed, Result: r})
		}
		bad := slices.Clone(done)
		bad[20].Result.CheckedAt = models.Time{} // NULL, which violates a constraint
		if err := f.Record(f.Context(), bad...); err == nil {
			t.Error("it was stored")
		}
		if n := len(f.results(targets.ResultFilter{})); n != 0 {
			t.Errorf("%d results of a batch that failed were stored", n)
		}
		f.must(f.Record(f.Context(), done...))
		if n := len(f.results(targets.ResultFilter{})); n != 30 {
			t.Errorf("%d results, want 30", n)
		}
	})
}

func BenchmarkRecord(b *testing.B) { benchmarkRecord(b, 500) }

func benchmarkRecord(b *testing.B, batch int) {
	f := newBenchFixture(b)
	for i := range 5000 {
		if _, _, err := f.Add(b.Context(), targets.New{URL: fmt.Sprintf("https://127.0.0.%d/p/%d", i%250, i)}); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	b.ReportAllocs()
	for n := 0; n < b.N; {
		f.clock.Advance(time.Second)
		for {
			ts, _, err := f.Claim(b.Context(), checker, batch)
			if err != nil {
				b.Fatal(err)
			}
			if len(ts) == 0 {
				break
			}
			done := make([]targets.Checked, len(ts))
			for i, t := range ts {
				done[i] = targets.Checked{Target: t, Result: targets.Result{CheckedAt: f.Now(), StatusCode: 200, LatencyMS: i % 50, Attempts: 1}}
			}
			if err := f.Record(b.Context(), done...); err != nil {
				b.Fatal(err)
			}
			n += len(ts)
		}
	}
}

// Record writes each table with one statement, for any number of checks.
func TestStatementsOfABatchAreConstant(t *testing.T) {
	each(t, func(f fixture) {
		sent := func(name string, n int) map[string]int {
			var ids []string
			for i := range n {
				ids = append(ids, f.add(fmt.Sprintf("https://%s-%d.test/", name, i)).ID)
			}
			counts := map[string]int{}
			count := func(what string, do func()) {
				queries := modelstest.Queries(f, f.db)
				do()
				counts[what] = int(queries.Load())
			}
			record := func(r targets.Result) func() {
				claimed := f.claim()
				if len(claimed) != n {
					f.Fatalf("%d of %d are due", len(claimed), n)
				}
				var done []targets.Checked
				for _, c := range claimed {
					r.CheckedAt = f.Now()
					done = append(done, targets.Checked{Target: c, Result: r})
				}
				return func() { f.must(f.Record(f.Context(), done...)) }
			}
			for _, nth := range []string{"the first", "the second"} { // these change columns that later ones do not
				count(nth, record(up(1)))
				f.clock.Advance(2 * time.Minute)
			}
			count("up", record(up(1)))
			f.clock.Advance(2 * time.Minute)
			count("an outage begins", record(down()))
			f.clock.Advance(2 * time.Minute)
			count("an outage ends", record(up(1)))
			f.clock.Advance(49 * time.Hour)
			count("hours and days end", record(up(1)))
			f.clock.Advance(2 * time.Minute)
			var back []lease.Released[targets.Target]
			for _, c := range f.claim() {
				back = append(back, lease.Released[targets.Target]{Item: c, After: time.Second})
			}
			count("release", func() { f.must(f.Release(f.Context(), back...)) })
			for _, id := range ids {
				f.must(f.Delete(f.Context(), id))
			}
			return counts
		}
		few, many := sent("few", 3), sent("many", 60)
		if fmt.Sprint(few) != fmt.Sprint(many) || few["up"] != 3 {
			f.Errorf("statements for 3: %v, for 60: %v", few, many)
		}
	})
}

// A check that is dropped after an edit is not stored with another check of the same
// target in the same batch.
func TestRecordOfTwoChecksOfATarget(t *testing.T) {
	each(t, func(f fixture) {
		made := f.add("https://a.test")
		stale := targets.Checked{Target: f.only(), Result: down()}
		stale.Result.CheckedAt = f.Now()
		f.clock.Advance(time.Second)
		_, err := f.Edit(f.Context(), made.ID, targets.Edit{IntervalSeconds: new(600)})
		f.must(err)
		fresh := targets.Checked{Target: f.only(), Result: up(1)}
		f.clock.Advance(time.Second)
		fresh.Result.CheckedAt = f.Now()
		f.must(f.Record(f.Context(), stale, fresh))
		rs := f.results(targets.ResultFilter{})
		if len(rs) != 1 || rs[0].Outcome != targets.UpOutcome || len(f.outages("")) != 0 {
			t.Errorf("%+v, outages %+v", rs, f.outages(""))
		}
	})
}
