package crawl

import (
	"iter"
	"math/bits"
	"slices"
	"time"

	"linkwatch/models"
)

// The schedule is divided into slots, aligned to the epoch in UTC.
const (
	SlotLength = 15 * time.Minute
	Window     = models.Day // the length of a Load

	slotsInWindow = int(Window / SlotLength)
)

// ScheduleLoad is the number of jobs in each slot of a window. The window starts with the current slot.
type ScheduleLoad struct {
	now, start time.Time
	jobs       [slotsInWindow]int
}

// Slot is one slot of a Load.
type Slot struct {
	Start time.Time // UTC
	Jobs  int       // jobs that run in it at least once
}

// NewLoad returns the load of an empty schedule.
func NewLoad(now time.Time) *ScheduleLoad {
	now = now.UTC()
	return &ScheduleLoad{now: now, start: now.Truncate(SlotLength)}
}

// Add counts n jobs that run at next and then at intervals of every; 0 = they run once. A job counts once in each slot in
// which it runs. An overdue run counts in the first slot.
func (l *ScheduleLoad) Add(next time.Time, every time.Duration, n int) {
	if next.Before(l.now) {
		l.jobs[0] += n
		if every <= 0 {
			return
		}
		next = NextRun(next, every, l.start.Add(SlotLength-1)) // the first run after that slot
	}
	l.add(next.Sub(l.start), every, n)
}

// add counts n jobs with a next run at an offset from the start of the window.
func (l *ScheduleLoad) add(at, every time.Duration, n int) {
	for slot := range slotsOf(at, every) {
		l.jobs[slot] += n
	}
}

// sum returns the number of slots in which a job runs, and the sum of their loads. at is the offset of its next run from the
// start of the window.
func (l *ScheduleLoad) sum(at, every time.Duration) (jobs, slots int) {
	for slot := range slotsOf(at, every) {
		jobs += l.jobs[slot]
		slots++
	}
	return jobs, slots
}

// slotsOf returns the slots in which a job runs. at is the offset of its next run from the start of the window, not
// negative.
func slotsOf(at, every time.Duration) iter.Seq[int] {
	step := min(max(every, SlotLength), Window) // a shorter one runs in every slot, a longer one once
	if every <= 0 {
		step = Window
	}
	return func(yield func(int) bool) {
		for ; at < Window; at += step {
			if !yield(int(at / SlotLength)) {
				return
			}
		}
	}
}

// Slots returns the slots of the window in order.
func (l *ScheduleLoad) Slots() []Slot {
	slots := make([]Slot, slotsInWindow)
	for i, n := range l.jobs {
		slots[i] = Slot{Start: l.start.Add(time.Duration(i) * SlotLength), Jobs: n}
	}
	return slots
}

// Score returns how even the load is: 1 is as even as whole jobs allow, 0 is all jobs in
// one slot. With N jobs in S slots, the ideal load has ⌊N/S⌋+1 jobs in N mod S slots and
// ⌊N/S⌋ in the others:
//
//	moves = Σ max(0, cᵢ − idealᵢ)   with both in descending order
//	most  = N − ideal₁              the moves if all jobs are in one slot
//	score = 1 − moves/most          or 1 if most is 0
//
// So 40 jobs in 40 slots score 1, 40 jobs in one slot 0, and 40 jobs in two slots 1/39.
func (l *ScheduleLoad) Score() float64 {
	c := l.jobs
	slices.Sort(c[:])
	slices.Reverse(c[:])
	n := l.total()
	ideal := func(i int) int {
		if i < n%slotsInWindow {
			return n/slotsInWindow + 1
		}
		return n / slotsInWindow
	}
	moves := 0
	for i, jobs := range c {
		moves += max(0, jobs-ideal(i))
	}
	most := n - ideal(0)
	if most == 0 {
		return 1
	}
	return 1 - float64(moves)/float64(most)
}

func (l *ScheduleLoad) total() (n int) {
	for _, jobs := range l.jobs {
		n += jobs
	}
	return n
}

// Least returns the start of the best slot for the next run of a new or resumed job. This is the slot with the smallest sum
// of loads over all slots in which the job would then run, or the earliest of equal ones. It starts after now and ends
// within the window and the first interval. For an interval of less than two slots it returns the zero time, because the
// load is the same everywhere: run the job after one interval.
func (l *ScheduleLoad) Least(every time.Duration) time.Time {
	if every < 2*SlotLength {
		return time.Time{}
	}
	best, least := time.Time{}, 0
	now := l.now.Sub(l.start)
	for at := range slotsBetween(now, now+min(every, Window)) {
		if jobs, _ := l.sum(at, every); best.IsZero() || jobs < least {
			best, least = l.start.Add(at), jobs
		}
	}
	return best
}

// slotsBetween returns the starts of the slots that start after one time and end by another, relative to the start of the
// window.
func slotsBetween(after, until time.Duration) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for at := after.Truncate(SlotLength) + SlotLength; at+SlotLength <= min(until, Window); at += SlotLength {
			if !yield(at) {
				return
			}
		}
	}
}

// TimeInSlot returns the time within a slot at which a job runs, to the second. It spreads the jobs of a slot. A job has the same
// place in every slot.
func TimeInSlot(slot time.Time, seq int64) time.Time { return slot.Add(placeInSlot(seq)) }

// placeInSlot spreads jobs with a multiplicative hash, so consecutive jobs are far apart.
func placeInSlot(seq int64) time.Duration {
	const golden = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio
	second, _ := bits.Mul64(uint64(seq)*golden, uint64(SlotLength/time.Second))
	return time.Duration(second) * time.Second
}

// Run is a run of a recurring job that succeeded. Its job runs on a grid: the planned time plus or minus whole intervals.
type Run struct {
	Planned time.Time     // scheduled time of the run, or of the next run if this one was forced before it
	Base    time.Duration // interval that the owner set, positive
	Every   time.Duration // effective interval after the run, a multiple of Base
	Forced  bool          // a user started it outside the schedule
	Adapted bool          // it changed the effective interval
}

// Next returns the time of the next run, on the grid of the job:
//   - After a run on schedule, this is one effective interval later. Missed runs are skipped.
//   - A forced run leaves the schedule as it is.
//   - If a forced run changed the effective interval, the next run is the first that is not before the effective interval
//     from now.
func (r Run) Next(now time.Time) time.Time {
	switch {
	case r.Forced && r.Adapted:
		return onGrid(r.Planned, r.Base, now.Add(r.Every))
	case r.Forced && r.Planned.After(now):
		return r.Planned
	}
	return NextRun(r.Planned, r.Every, now)
}

// onGrid returns the first time that is not before a time and a whole number of intervals before or after planned.
func onGrid(planned time.Time, every time.Duration, notBefore time.Time) time.Time {
	at := planned.Add(notBefore.Sub(planned).Truncate(every))
	for at.Before(notBefore) { // repeats only if the difference overflows a Duration
		at = at.Add(max(notBefore.Sub(at).Truncate(every), every))
	}
	return at
}

// NextRun returns the first time after now that is a whole number of intervals, at least one, after planned. So a late run
// does not delay later ones. It returns the zero time if every is not positive.
func NextRun(planned time.Time, every time.Duration, now time.Time) time.Time {
	if every <= 0 {
		return time.Time{}
	}
	next := planned.Add(every)
	for !next.After(now) { // repeats only if the difference overflows a Duration
		next = next.Add(max(now.Sub(next).Truncate(every), every))
	}
	return next
}
