//go:build e2e

package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

type faultKind string

const (
	killNode        faultKind = "instance killed"
	quietKill       faultKind = "instance killed, nothing else" // no other fault for quietTime
	stopNode        faultKind = "instance stopped"
	killRedis       faultKind = "Redis killed"
	stopRedis       faultKind = "Redis stopped"
	restartPostgres faultKind = "PostgreSQL restarted"
	stopPostgres    faultKind = "PostgreSQL stopped"
)

// Relative frequency and duration of each kind.
var faultKinds = []struct {
	kind        faultKind
	weight      int
	least, most time.Duration
}{
	{killNode, 4, 200 * time.Millisecond, 3 * time.Second},
	{stopNode, 6, 500 * time.Millisecond, 8 * time.Second},
	{killRedis, 2, 200 * time.Millisecond, 3 * time.Second},
	{stopRedis, 2, 500 * time.Millisecond, 8 * time.Second},
	{restartPostgres, 2, 0, 2 * time.Second},
	{stopPostgres, 2, 500 * time.Millisecond, 8 * time.Second},
}

const (
	chaosNodes = 3
	quietTime  = 7 * time.Second // without other faults after a quietKill
	faultRound = time.Minute     // each round starts with a quietKill
	startTime  = 1 * time.Second // approximate time to start a program
	calm       = 1 * time.Second // before the first fault of a round
	gapLeast   = 200 * time.Millisecond
	gapMost    = 1500 * time.Millisecond
	quietPart  = calm + quietTime // too short for any other fault
)

// fault is a planned fault and when it happened.
type fault struct {
	kind      faultKind
	node      int // -1: a store
	at, lasts time.Duration
	from, to  time.Time // actual time
}

func (f fault) subject() string {
	switch f.kind {
	case killRedis, stopRedis:
		return "redis"
	case restartPostgres, stopPostgres:
		return "postgres"
	}
	return fmt.Sprintf("instance %d", f.node)
}

func (f fault) overlaps(from, to time.Time) bool { return f.from.Before(to) && from.Before(f.to) }

func planFaults(random *rand.Rand, length time.Duration) (plan []fault) {
	for start := time.Duration(0); start < length; start += faultRound {
		end := min(length, start+faultRound)
		plan = append(plan, fault{kind: quietKill, node: random.IntN(chaosNodes), at: start + calm, lasts: startTime})
		busy := map[string]time.Duration{} // end of the current fault, by subject
		for at := start + quietPart; at < end-gapMost; at += between(random, gapLeast, gapMost) {
			if f, ok := planFault(random, at, end, busy); ok {
				plan = append(plan, f)
			}
		}
	}
	return plan
}

// planFault plans a random fault between two times; ok is false if the chosen subject
// has another fault.
func planFault(random *rand.Rand, at, end time.Duration, busy map[string]time.Duration) (f fault, ok bool) {
	sum := 0
	for _, k := range faultKinds {
		sum += k.weight
	}
	chosen := faultKinds[0]
	for n := random.IntN(sum); ; {
		if n -= chosen.weight; n < 0 {
			break
		}
		chosen = faultKinds[slices.Index(faultKinds, chosen)+1]
	}
	// Short faults are more frequent than long ones.
	r := random.Float64()
	lasts := chosen.least + time.Duration(r*r*float64(chosen.most-chosen.least))
	f = fault{kind: chosen.kind, node: -1, at: at, lasts: min(lasts, end-at)}
	if f.kind == killNode || f.kind == stopNode {
		f.node = random.IntN(chaosNodes)
		others := 0
		for n := range chaosNodes {
			if busy[fmt.Sprintf("instance %d", n)] > at {
				others++
			}
		}
		if others == chaosNodes-1 { // one instance must keep running
			return f, false
		}
	}
	if busy[f.subject()] > at {
		return f, false
	}
	busy[f.subject()] = at + f.lasts
	if f.kind != stopNode && f.kind != stopRedis && f.kind != stopPostgres {
		busy[f.subject()] += startTime
	}
	return f, true
}

func between(random *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(random.Int64N(int64(most-least)))
}

// inject executes the plan and returns when the last fault has ended. It records the
// faults in c.faults.
func (c *chaos) inject(plan []fault) {
	started := time.Now()
	var group sync.WaitGroup
	subjects := map[string]*sync.Mutex{}
	others := make(chan struct{}, chaosNodes-1) // one instance must keep running, even if the others start late
	for _, f := range plan {
		time.Sleep(time.Until(started.Add(f.at)))
		if subjects[f.subject()] == nil {
			subjects[f.subject()] = new(sync.Mutex)
		}
		subject := subjects[f.subject()]
		group.Go(func() {
			subject.Lock() // the start may take longer than planned
			defer subject.Unlock()
			if f.node >= 0 {
				others <- struct{}{}
				defer func() { <-others }()
			}
			f.from = time.Now()
			c.do(f)
			f.to = time.Now()
			c.mu.Lock()
			defer c.mu.Unlock()
			c.faults = append(c.faults, f)
		})
	}
	group.Wait()
}

func (c *chaos) do(f fault) {
	switch f.kind {
	case killNode, quietKill:
		c.nodes[f.node].kill()
		time.Sleep(f.lasts)
		c.nodes[f.node].start()
	case stopNode:
		pause(c.nodes[f.node].process, f.lasts)
	case stopRedis:
		pause(c.redis.process, f.lasts)
	case stopPostgres:
		pause(c.postgres.process, f.lasts)
	case killRedis:
		c.redis.kill()
		time.Sleep(f.lasts)
		if err := c.redis.start(); err != nil {
			c.t.Error("starting Redis again: ", err)
		}
	case restartPostgres:
		if err := c.postgres.restart(f.lasts); err != nil {
			c.t.Error("starting PostgreSQL again: ", err)
		}
	}
}

func pause(p *process, lasts time.Duration) {
	p.pause()
	time.Sleep(lasts)
	p.resume()
}
