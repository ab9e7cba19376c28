package crawl_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"linkwatch/models/crawl"
)

const unevenJobs = 10_000

// unevenPlan returns a plan in which most jobs run in a few slots, like jobs that were imported together. It also has
// one-time jobs, short intervals, and jobs that were moved recently.
func unevenPlan(seed uint64, n int) []crawl.PlannedJob {
	r := rand.New(rand.NewPCG(seed, 7))
	intervals := []time.Duration{
		0, 4 * time.Hour, 6 * time.Hour, 7 * time.Hour, 12 * time.Hour,
		24 * time.Hour, 24 * time.Hour, 24 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour,
	}
	jobs := make([]crawl.PlannedJob, n)
	for i := range jobs {
		every := intervals[r.IntN(len(intervals))]
		if r.IntN(50) == 0 {
			every = []time.Duration{10 * time.Minute, 30 * time.Minute, time.Hour}[r.IntN(3)]
		}
		within := time.Duration(r.Int64N(int64(cmp.Or(min(every, 24*time.Hour), 24*time.Hour))))
		if every >= 4*time.Hour && r.IntN(5) > 0 { // in the first quarter of its interval
			within /= 4
		}
		j := crawl.PlannedJob{Seq: int64(i + 1), ID: "job_" + strconv.Itoa(i), Next: slotNow.Add(within - 5*time.Minute), Every: every}
		if r.IntN(4) == 0 {
			j.MovedAt = slotNow.Add(-time.Duration(r.Int64N(int64(3 * time.Hour))))
		}
		jobs[i] = j
	}
	return jobs
}

func scoreOf(now time.Time, jobs []crawl.PlannedJob) float64 {
	l := crawl.NewLoad(now)
	for _, j := range jobs {
		l.Add(j.Next, j.Every, 1)
	}
	return l.Score()
}

// squares returns the sum of the squared loads of a plan.
func squares(now time.Time, jobs []crawl.PlannedJob) (sum int) {
	l := crawl.NewLoad(now)
	for _, j := range jobs {
		l.Add(j.Next, j.Every, 1)
	}
	for _, s := range l.Slots() {
		sum += s.Jobs * s.Jobs
	}
	return sum
}

// moved applies moves to a plan. The Seq of each job is its index plus one.
func moved(now time.Time, jobs []crawl.PlannedJob, moves []crawl.Move) []crawl.PlannedJob {
	jobs = slices.Clone(jobs)
	for _, m := range moves {
		jobs[m.Seq-1].Next, jobs[m.Seq-1].MovedAt = m.To, now
	}
	return jobs
}

// checkMoves fails if moves break a rule.
func checkMoves(t *testing.T, now time.Time, jobs []crawl.PlannedJob, moves []crawl.Move, before, after float64) {
	t.Helper()
	seen := map[int64]bool{}
	for _, m := range moves {
		j := jobs[m.Seq-1]
		switch {
		case seen[m.Seq]:
			t.Errorf("%v moves twice", j)
		case m.ID != j.ID || m.From != j.Next:
			t.Errorf("%v is not a move of %v", m, j)
		case j.Every == 0:
			t.Errorf("%v moves, but runs once", j)
		case m.From.Sub(now) <= crawl.NoMoveBefore:
			t.Errorf("%v moves, but is due in %v", j, m.From.Sub(now))
		case now.Sub(j.MovedAt) <= crawl.NoMoveAgain:
			t.Errorf("%v moves, but moved %v ago", j, now.Sub(j.MovedAt))
		case m.To.Sub(now) <= crawl.NoMoveBefore || m.To.Sub(now) > j.Every:
			t.Errorf("%v moves to %v from now", j, m.To.Sub(now))
		case m.To != crawl.TimeInSlot(m.To.Truncate(crawl.SlotLength), m.Seq):
			t.Errorf("%v is not the time of %v", m.To, j)
		}
		seen[m.Seq] = true
	}
	result := moved(now, jobs, moves)
	if before != scoreOf(now, jobs) || after != scoreOf(now, result) || after < before {
		t.Errorf("got scores %v and %v, want %v and %v", before, after, scoreOf(now, jobs), scoreOf(now, result))
	}
	if was, is := squares(now, jobs), squares(now, result); len(moves) > 0 && is >= was {
		t.Errorf("the sum of squares does not decrease: from %d to %d", was, is)
	}
}

func TestRebalanceEvensOutAPlan(t *testing.T) {
	jobs := unevenPlan(1, unevenJobs)
	moves, before, after := crawl.Rebalance(slotNow, jobs)
	checkMoves(t, slotNow, jobs, moves, before, after)
	if after <= 0.95 || before > 0.9 {
		t.Errorf("got %d moves from score %v to %v", len(moves), before, after)
	}
	shuffled := slices.Clone(jobs)
	rand.New(rand.NewPCG(5, 6)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	if again, _, _ := crawl.Rebalance(slotNow, shuffled); !slices.Equal(again, moves) {
		t.Error("the moves depend on the order of the jobs")
	}
}

// TestRebalanceSpreadsOneSlot checks that one call makes the load of a single slot as even as possible.
func TestRebalanceSpreadsOneSlot(t *testing.T) {
	jobs := make([]crawl.PlannedJob, 960)
	for i := range jobs {
		jobs[i] = crawl.PlannedJob{Seq: int64(i + 1), Next: slotNow.Add(5 * time.Hour), Every: 24 * time.Hour}
	}
	moves, before, after := crawl.Rebalance(slotNow, jobs)
	checkMoves(t, slotNow, jobs, moves, before, after)
	if before != 0 || after < 0.96 { // the first three slots are too soon
		t.Errorf("got scores %v and %v", before, after)
	}
	if again, _, _ := crawl.Rebalance(slotNow, moved(slotNow, jobs, moves)); len(again) != 0 {
		t.Errorf("got %d moves of an even plan, want 0", len(again))
	}
}

func TestRebalanceKeepsAnEvenPlan(t *testing.T) {
	var jobs []crawl.PlannedJob
	for i := range 96 {
		for range 3 {
			next := slotNow.Truncate(crawl.SlotLength).Add(time.Duration(i)*crawl.SlotLength + 8*time.Minute)
			jobs = append(jobs, crawl.PlannedJob{Seq: int64(len(jobs) + 1), Next: next, Every: 24 * time.Hour})
		}
	}
	if moves, before, after := crawl.Rebalance(slotNow, jobs); len(moves) != 0 || before != 1 || after != 1 {
		t.Errorf("got %v, scores %v and %v", moves, before, after)
	}
	if moves, before, after := crawl.Rebalance(slotNow, nil); len(moves) != 0 || before != 1 || after != 1 {
		t.Errorf("without jobs: got %v, scores %v and %v", moves, before, after)
	}
}

// TestRebalanceAgainMovesFewJobs checks that few jobs move two hours later, when some jobs have run and the window has moved.
// (After one hour, the jobs that were too near at first move.) Intervals that do not divide the window need more moves.
func TestRebalanceAgainMovesFewJobs(t *testing.T) {
	odd := unevenPlan(2, unevenJobs)
	for i := range odd {
		odd[i].MovedAt = time.Time{}
	}
	even := slices.Clone(odd)
	for i := range even {
		if even[i].Every%(7*time.Hour) == 0 {
			even[i].Every = 24 * time.Hour
		}
	}
	for name, c := range map[string]struct {
		jobs        []crawl.PlannedJob
		next, later int // percent of the first moves: in the next hour, and in each later hour
	}{"divides the window": {even, 40, 2}, "odd": {odd, 40, 20}} {
		jobs, now, first := c.jobs, slotNow, 0
		for hour := range 12 {
			moves, before, after := crawl.Rebalance(now, jobs)
			checkMoves(t, now, jobs, moves, before, after)
			switch {
			case hour == 0:
				first = len(moves)
			case hour == 1 && len(moves) > first*c.next/100, hour > 1 && len(moves) > first*c.later/100, before < 0.9:
				t.Errorf("%s, hour %d: got %d moves after %d at first, score %v", name, hour, len(moves), first, before)
			}
			jobs = moved(now, jobs, moves)
			now = now.Add(crawl.NoMoveAgain + time.Second)
			for i := range jobs {
				j := &jobs[i]
				switch {
				case !j.Next.Before(now):
				case j.Every > 0:
					j.Next = crawl.NextRun(j.Next, j.Every, now)
				default:
					j.Next = now.Add(1000 * time.Hour) // it ran, once
				}
			}
		}
	}
}

func TestRebalanceObeysItsRules(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for seed := range uint64(300) {
		jobs := unevenPlan(seed, r.IntN(300))
		for i := range jobs {
			switch r.IntN(4) {
			case 0: // any interval
				jobs[i].Every = time.Duration(r.Int64N(int64(50 * time.Hour)))
			case 1: // exactly at the limits
				jobs[i].Next = slotNow.Add(crawl.NoMoveBefore + time.Duration(r.IntN(3)-1))
				jobs[i].MovedAt = slotNow.Add(-crawl.NoMoveAgain - time.Duration(r.IntN(3)-1))
			case 2: // long overdue or far in the future
				jobs[i].Next = slotNow.Add(time.Duration(r.Int64N(int64(1000*time.Hour))) - 500*time.Hour)
			}
		}
		moves, before, after := crawl.Rebalance(slotNow, jobs)
		checkMoves(t, slotNow, jobs, moves, before, after)
	}
}

func BenchmarkRebalance(b *testing.B) {
	jobs := unevenPlan(1, unevenJobs)
	b.ReportAllocs()
	for b.Loop() {
		crawl.Rebalance(slotNow, jobs)
	}
}
