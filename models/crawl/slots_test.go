package crawl_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"linkwatch/models/crawl"
)

// slotNow is in the middle of a slot.
var slotNow = time.Date(2030, 5, 17, 10, 7, 30, 0, time.UTC)

// counts returns the loads that are not 0, by slot number.
func counts(l *crawl.ScheduleLoad) map[int]int {
	found := map[int]int{}
	for i, s := range l.Slots() {
		if s.Jobs != 0 {
			found[i] = s.Jobs
		}
	}
	return found
}

func TestSlotsStartWithTheCurrentOne(t *testing.T) {
	for _, now := range []time.Time{slotNow, slotNow.In(time.FixedZone("", 20*60))} {
		slots := crawl.NewLoad(now).Slots()
		if len(slots) != 96 {
			t.Fatalf("got %d slots", len(slots))
		}
		for i, s := range slots {
			want := time.Date(2030, 5, 17, 10, 15*i, 0, 0, time.UTC)
			if s.Start != want || s.Start.Unix()%900 != 0 || s.Jobs != 0 {
				t.Errorf("slot %d: got %+v", i, s)
			}
		}
	}
}

func TestJobCountsInEachSlotInWhichItRuns(t *testing.T) {
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		next, every time.Duration
		slots       []int // nil: all, starting with the first in which it runs
		first       int
	}{
		"once":                        {time.Hour, 0, []int{4}, 0},
		"now":                         {0, 0, []int{0}, 0},
		"overdue, once":               {-time.Hour, 0, []int{0}, 0},
		"long overdue, once":          {-math.MaxInt64, 0, []int{0}, 0},
		"beyond the window":           {25 * time.Hour, time.Hour, []int{}, 0},
		"end of the window":           {day - 8*time.Minute, day, []int{95}, 0},
		"after the end of the window": {day - 7*time.Minute, day, []int{}, 0},
		"each six hours":              {time.Hour, 6 * time.Hour, []int{4, 28, 52, 76}, 0},
		"each 50 minutes": {time.Hour, 50 * time.Minute, []int{
			4, 7, 11, 14, 17, 21, 24, 27, 31, 34, 37, 41, 44, 47, 51, 54, 57, 61, 64, 67, 71, 74, 77, 81, 84, 87, 91, 94,
		}, 0},
		"overdue, each day":            {-time.Hour, day, []int{0, 92}, 0},
		"overdue, each day since long": {-1000*day + time.Hour, day, []int{0, 4}, 0},
		"twice in the first slot":      {-time.Minute, 5 * time.Minute, nil, 0},
		"again in the first slot":      {-12 * time.Hour, 12*time.Hour + 2*time.Minute, []int{0, 48}, 0},
		"each nanosecond":              {time.Hour, 1, nil, 4},
		"each minute":                  {2 * time.Hour, time.Minute, nil, 8},
		"each slot":                    {2 * time.Hour, 15 * time.Minute, nil, 8},
		"at most rarely":               {time.Hour, math.MaxInt64, []int{4}, 0},
	} {
		l := crawl.NewLoad(slotNow)
		l.Add(slotNow.Add(c.next), c.every, 3)
		want := map[int]int{}
		if c.slots == nil {
			for i := c.first; i < 96; i++ {
				want[i] = 3
			}
		}
		for _, i := range c.slots {
			want[i] = 3
		}
		got := counts(l)
		for i := range 96 {
			if got[i] != want[i] {
				t.Errorf("%s: got %d jobs in slot %d, want %d", name, got[i], i, want[i])
			}
		}
	}
}

func TestScore(t *testing.T) {
	fill := func(jobs ...int) float64 {
		l := crawl.NewLoad(slotNow)
		for i, n := range jobs {
			l.Add(slotNow.Add(time.Duration(i)*crawl.SlotLength), 0, n)
		}
		return l.Score()
	}
	for name, c := range map[string]struct{ got, want float64 }{
		"no jobs":                   {fill(), 1},
		"one job":                   {fill(0, 1), 1},
		"40 jobs in 40 slots":       {fill(slices.Repeat([]int{1}, 40)...), 1},
		"40 jobs in one slot":       {fill(0, 0, 40), 0},
		"40 jobs in two slots":      {fill(20, 20), 1.0 / 39},
		"all slots alike":           {fill(slices.Repeat([]int{7}, 96)...), 1},
		"100 jobs, four slots more": {fill(append(slices.Repeat([]int{1}, 92), 2, 2, 2, 2)...), 1},
		"100 jobs, a slot too full": {fill(append(slices.Repeat([]int{1}, 93), 3, 2, 2)...), 1 - 1.0/98},
		"192 jobs in half the slots": {
			fill(slices.Repeat([]int{4}, 48)...), 1 - 96.0/190,
		},
	} {
		if math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("%s: got %v, want %v", name, c.got, c.want)
		}
	}
}

func TestScoreIsBetween0And1(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		l := crawl.NewLoad(slotNow)
		for range r.IntN(30) {
			l.Add(slotNow.Add(time.Duration(r.Int64N(int64(30*time.Hour)))), time.Duration(r.Int64N(int64(30*time.Hour))), r.IntN(9))
		}
		if s := l.Score(); !(0 <= s && s <= 1) {
			t.Fatalf("got score %v of %v", s, counts(l))
		}
	}
}

func TestLeastIsTheEmptiestSlotOfTheFirstInterval(t *testing.T) {
	slot := func(i int) time.Time {
		return slotNow.Truncate(crawl.SlotLength).Add(time.Duration(i) * crawl.SlotLength)
	}
	for name, c := range map[string]struct {
		every time.Duration
		empty []int // empty slots; the others have five jobs
		want  int
	}{
		"all alike":                             {24 * time.Hour, nil, 1},
		"not the slot of the present":           {24 * time.Hour, []int{0}, 1},
		"the first of equal ones":               {24 * time.Hour, []int{60, 70}, 60},
		"within the window":                     {math.MaxInt64, []int{95}, 95},
		"ends within the interval":              {time.Hour, []int{3}, 3},
		"ends after the interval":               {52 * time.Minute, []int{3}, 1},
		"two slots":                             {30 * time.Minute, []int{2, 4, 6}, 1},
		"the sum over all runs":                 {6 * time.Hour, []int{4, 10, 34}, 10},
		"no slot is empty, one is left earlier": {5 * time.Hour, nil, 16}, // 4 runs in the window, not 5
	} {
		l := crawl.NewLoad(slotNow)
		for i := range 96 {
			if !slices.Contains(c.empty, i) {
				l.Add(slot(i).Add(8*time.Minute), 0, 5)
			}
		}
		if got := l.Least(c.every); got != slot(c.want) {
			t.Errorf("%s: got %v, want %v", name, got, slot(c.want))
		}
	}
	for _, every := range []time.Duration{0, -1, time.Minute, 2*crawl.SlotLength - 1} {
		if got := crawl.NewLoad(slotNow).Least(every); !got.IsZero() {
			t.Errorf("every %v: got %v", every, got)
		}
	}
}

// TestLeastIsAlwaysInTheFirstInterval includes the start of a slot as the current time.
func TestLeastIsAlwaysInTheFirstInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		now := slotNow.Truncate(crawl.SlotLength).Add(time.Duration(r.IntN(3)) * crawl.SlotLength / 3)
		every := 2*crawl.SlotLength + time.Duration(r.Int64N(int64(30*time.Hour)))
		l := crawl.NewLoad(now)
		for range r.IntN(20) {
			l.Add(now.Add(time.Duration(r.Int64N(int64(every)))), every, 1)
		}
		got := l.Least(every)
		if !got.After(now) || got.Add(crawl.SlotLength).After(now.Add(every)) || got != got.Truncate(crawl.SlotLength) {
			t.Fatalf("at %v, every %v: got %v", now, every, got)
		}
	}
}

func TestPlaceSpreadsTheJobsOfASlot(t *testing.T) {
	slot := slotNow.Truncate(crawl.SlotLength)
	minutes := map[int]int{}
	for seq := range int64(1500) {
		p := crawl.TimeInSlot(slot, seq)
		if p.Truncate(crawl.SlotLength) != slot || p.Nanosecond() != 0 || p != crawl.TimeInSlot(slot, seq) {
			t.Fatalf("job %d: got %v", seq, p)
		}
		minutes[p.Minute()]++
	}
	for m, n := range minutes {
		if n < 90 || n > 110 {
			t.Errorf("got %d of 1500 jobs in minute %d", n, m)
		}
	}
	for _, seq := range []int64{-1, math.MinInt64, math.MaxInt64} {
		if p := crawl.TimeInSlot(slot, seq); p.Truncate(crawl.SlotLength) != slot {
			t.Errorf("job %d: got %v", seq, p)
		}
	}
}

func TestNextRunKeepsThePhase(t *testing.T) {
	for name, c := range map[string]struct {
		planned time.Time
		every   time.Duration
		want    time.Time
	}{
		"in time":            {slotNow, time.Hour, slotNow.Add(time.Hour)},
		"a little late":      {slotNow.Add(-time.Minute), time.Hour, slotNow.Add(59 * time.Minute)},
		"an interval late":   {slotNow.Add(-time.Hour), time.Hour, slotNow.Add(time.Hour)},
		"many intervals":     {slotNow.Add(-1000*time.Hour - time.Second), time.Hour, slotNow.Add(time.Hour - time.Second)},
		"early":              {slotNow.Add(time.Minute), time.Hour, slotNow.Add(61 * time.Minute)},
		"each nanosecond":    {slotNow.Add(-1000 * time.Hour), 1, slotNow.Add(1)},
		"since the year 1":   {time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC), 30 * time.Minute, slotNow.Add(22*time.Minute + 31*time.Second)},
		"a long interval":    {slotNow, math.MaxInt64, slotNow.Add(math.MaxInt64)},
		"one-time":           {slotNow, 0, time.Time{}},
		"a negative one":     {slotNow, -time.Hour, time.Time{}},
		"never, each minute": {time.Time{}, time.Minute, slotNow.Add(30 * time.Second)},
	} {
		if got := crawl.NextRun(c.planned, c.every, slotNow); !got.Equal(c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
