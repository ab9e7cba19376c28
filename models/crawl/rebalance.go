package crawl

import (
	"cmp"
	"slices"
	"time"
)

// Limits that keep Rebalance from moving the same jobs repeatedly.
const (
	NoMoveBefore = 30 * time.Minute // no move from or to a time this near
	NoMoveAgain  = time.Hour        // no move of a job that was moved this recently
)

const (
	maxPasses = 8  // maximum passes of Rebalance; two or three are usual
	minGain   = 50 // a move must gain at least 1/minGain (2%) of the mean load
)

// PlannedJob is a job with its next run.
type PlannedJob struct {
	Seq     int64
	ID      string
	Next    time.Time
	Every   time.Duration // 0 = once
	MovedAt time.Time     // zero: never
	OffPlan bool          // the next run is outside the schedule: a retry, a forced run or a continued one
}

// Move is a new time for the next run of a job.
type Move struct {
	Seq      int64
	ID       string
	From, To time.Time
}

// Rebalance returns moves that make the load of the next 24 hours more even, and the Score before and after. after is never
// below before. It moves jobs out of the fullest slots, each at most once, to the slot that reduces the sum of the squared
// loads most. Equal input gives equal moves, for any order of jobs.
//
// Each move must have a minimum gain. For each run of the job, the old slot must have more jobs than the new one. The
// difference is at least one job and at least 2% of the mean load. Otherwise most jobs with odd intervals would move
// every day.
//
// It does not move one-time jobs, jobs with an interval of less than two slots, jobs that run within NoMoveBefore, or jobs
// that were moved within NoMoveAgain, or jobs whose next run is outside their schedule. No job moves to a time within NoMoveBefore, or to more than its interval from now. A
// move keeps the number of runs in the 24 hours. Otherwise moving runs out of the window would seem to reduce the load. An
// hourly job can only move in the first half of its interval, so call Rebalance more than once an hour.
func Rebalance(now time.Time, jobs []PlannedJob) (moves []Move, before, after float64) {
	l := NewLoad(now)
	var movable []*PlannedJob
	for i := range jobs {
		j := &jobs[i]
		l.Add(j.Next, j.Every, 1)
		if !j.OffPlan && j.Every >= 2*SlotLength && j.Next.After(now.Add(NoMoveBefore)) && j.Next.Before(l.start.Add(Window)) &&
			now.Sub(j.MovedAt) > NoMoveAgain {
			movable = append(movable, j)
		}
	}
	before = l.Score()
	after = before
	gain := max(1, l.total()/slotsInWindow/minGain)
	for range maxPasses {
		done := len(moves)
		moves, movable = l.movePass(moves, movable, gain)
		if len(moves) == done {
			break
		}
		score := l.Score()
		if score < after { // rare: the squares fell, but by moves between slots near the ideal load
			return moves[:done], before, after
		}
		after = score
	}
	return moves, before, after
}

// movePass visits each job once, fullest slots first, and moves it if that gains enough. It returns all moves, and the jobs
// that did not move.
func (l *ScheduleLoad) movePass(moves []Move, jobs []*PlannedJob, gain int) ([]Move, []*PlannedJob) {
	load := l.jobs
	slices.SortFunc(jobs, func(a, b *PlannedJob) int {
		return cmp.Or(
			cmp.Compare(load[b.Next.Sub(l.start)/SlotLength], load[a.Next.Sub(l.start)/SlotLength]),
			cmp.Compare(a.Seq, b.Seq),
		)
	})
	stay := jobs[:0]
	for _, j := range jobs {
		from := j.Next.Sub(l.start)
		l.add(from, j.Every, -1)
		to := l.better(from, j, gain)
		l.add(to, j.Every, 1)
		if to == from {
			stay = append(stay, j)
			continue
		}
		moves = append(moves, Move{Seq: j.Seq, ID: j.ID, From: j.Next, To: l.start.Add(to)})
	}
	return moves, stay
}

// better returns the best time for the next run of a job that is not counted in l. It returns from, the current time, if no
// other gains at least gain jobs per run. Times are relative to the start of the window.
func (l *ScheduleLoad) better(from time.Duration, j *PlannedJob, gain int) time.Duration {
	best := from
	present, runs := l.sum(from, j.Every)
	least := present - runs*gain + 1
	now, place := l.now.Sub(l.start), placeInSlot(j.Seq)
	for slot := range slotsBetween(now+NoMoveBefore, now+min(j.Every, Window)) {
		if jobs, n := l.sum(slot+place, j.Every); n == runs && jobs < least {
			best, least = slot+place, jobs
		}
	}
	return best
}
