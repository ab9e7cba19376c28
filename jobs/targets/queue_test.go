package targets

import (
	"fmt"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/targets"
)

var noon = time.Date(2026, 3, 24, 12, 0, 0, 0, time.UTC)

// due is a check of a URL that has been due since a minute of that day.
func due(url string, minute int) *check {
	c := fresh(url)
	c.DueAt, c.LastCheckedAt = models.At(noon.Add(time.Duration(minute)*time.Minute)), models.At(noon.Add(-time.Hour))
	return c
}

// fresh is a check of a URL that was never checked before.
func fresh(url string) *check {
	return &check{Target: targets.Target{CanonicalURL: url, DueAt: models.At(noon)}}
}

func hanging(c *check) *check {
	c.LastError = timedOut
	return c
}

// queueTest is a queue that fails the test.
type queueTest struct {
	*testing.T
	*queue
}

func (q queueTest) put(c *check) {
	q.Helper()
	if out, _ := q.add(c, noon); out != nil {
		q.Fatalf("%s leaves for %s", out.CanonicalURL, c.CanonicalURL)
	}
}

func (q queueTest) take(l lane, want string) *check {
	q.Helper()
	if !q.waits(l) {
		q.Fatalf("nothing waits, want %s", want)
	}
	c := q.next(l)
	if c.CanonicalURL != want {
		q.Fatalf("got %s, want %s", c.CanonicalURL, want)
	}
	return c
}

func (q queueTest) none(l lane) {
	q.Helper()
	if q.waits(l) {
		q.Fatalf("%s may run", q.next(l).CanonicalURL)
	}
}

func (q queueTest) empty() {
	q.Helper()
	if len(q.hosts)+q.size+q.slow+q.underWay+q.quick()+q.ready[slowLane].Len() != 0 {
		q.Errorf("something is remembered: %+v", q.queue)
	}
}

func TestQueueHandsOutOneOfEachHostInTurn(t *testing.T) {
	q := queueTest{t, newQueue(100)}
	q.none(fastLane)
	q.put(due("http://a/2", 2))
	q.put(due("http://b/1", 0))
	q.put(due("http://a/1", 1)) // due for longer
	q.put(due("http://a:81/1", 9))
	a := q.take(fastLane, "http://a/1")
	b := q.take(fastLane, "http://b/1")
	c := q.take(fastLane, "http://a:81/1")
	q.none(fastLane) // a is busy
	q.put(due("http://b/2", 1))
	q.done(b, time.Second)
	q.done(a, time.Second)
	q.take(fastLane, "http://b/2")
	q.again(c) // a retry, before others
	q.take(fastLane, "http://a:81/1")
	q.done(c, time.Second)
	a = q.take(fastLane, "http://a/2")
	q.put(due("http://a/3", 0))
	if all := q.drain(); len(all) != 1 || all[0].CanonicalURL != "http://a/3" || q.size != 0 || q.underWay != 2 {
		t.Errorf("drained %v, %d left", all, q.size)
	}
	q.done(a, time.Second)
	q.done(q.hosts["b"].underWay, time.Second)
	q.empty()
}

func TestNewHostsHaveALaneUntilTheyAreKnown(t *testing.T) {
	q := queueTest{t, newQueue(100)}
	q.put(fresh("http://a/1"))
	q.put(fresh("http://a/2"))
	q.put(fresh("http://b/1"))
	q.put(due("http://b/2", 1)) // was asked before, so its host is known, though not its turn changed
	q.none(fastLane)
	a := q.take(newLane, "http://a/1")
	b := q.take(newLane, "http://b/1")
	q.note(a.host, false)
	q.done(a, time.Millisecond)
	q.done(b, time.Millisecond)
	a = q.take(fastLane, "http://a/2")
	b = q.take(fastLane, "http://b/2")
	q.done(a, time.Millisecond)
	q.done(b, time.Millisecond)
	q.empty()
}

func TestQueueKeepsWhoHasBeenDueTheLongest(t *testing.T) {
	q := queueTest{t, newQueue(1000)}
	for i := range maxPerHost {
		q.put(due(fmt.Sprintf("http://a/%d", i), 10+i))
	}
	out, in := q.add(due("http://a/late", 100), noon)
	if out == nil || out.CanonicalURL != "http://a/late" || in < minPutOff {
		t.Fatalf("%v leaves for %v", out, in)
	}
	out, again := q.add(due("http://a/early", 0), noon)
	if want := fmt.Sprintf("http://a/%d", maxPerHost-1); out == nil || out.CanonicalURL != want || again <= in {
		t.Fatalf("%v leaves for %v, the one before for %v; want %s for longer", out, again, in, want)
	}
	// Those put off come back as fast as the host has become.
	slow := q.take(fastLane, "http://a/early")
	q.done(slow, time.Minute)
	q.put(due("http://a/x", 200))
	if _, in = q.add(due("http://a/y", 200), noon); in != maxPutOff {
		t.Errorf("on a host that takes a minute for each: %v", in)
	}
	for q.waits(fastLane) {
		q.done(q.next(fastLane), 0)
	}
	q.empty()
}

func TestSlowHostsHaveALaneAndHalfTheRoom(t *testing.T) {
	q := queueTest{t, newQueue(4)}
	q.put(hanging(due("http://a/1", 5)))
	q.put(hanging(due("http://b/1", 1)))
	q.put(due("http://c/1", 9))
	out, in := q.add(hanging(due("http://d/1", 3)), noon)
	if out == nil || out.CanonicalURL != "http://a/1" || in != maxPutOff {
		t.Fatalf("%v leaves for %v", out, in)
	}
	if out, _ = q.add(hanging(due("http://e/1", 8)), noon); out == nil || out.CanonicalURL != "http://e/1" {
		t.Fatalf("%v leaves", out)
	}
	b := q.take(slowLane, "http://b/1")
	d := q.take(slowLane, "http://d/1")
	q.none(slowLane)
	c := q.take(fastLane, "http://c/1")
	q.none(fastLane)

	// One that hangs now is slow, with all that waits for it; one that answers is not.
	q.note(c.host, true)
	q.put(due("http://c/2", 10))
	q.again(c)
	q.take(slowLane, "http://c/1")
	q.note(c.host, false)
	q.done(c, time.Second)
	q.put(hanging(due("http://c/0", 0))) // one target that hung keeps to the slow lane,
	c = q.take(fastLane, "http://c/0")   // though not if its host was asked in between
	q.done(c, time.Second)
	c = q.take(fastLane, "http://c/2")
	q.put(hanging(due("http://c/3", 0)))
	q.done(c, time.Second)
	c = q.take(slowLane, "http://c/3")
	for _, c := range []*check{b, c, d} {
		q.done(c, time.Second)
	}
	q.empty()
}
