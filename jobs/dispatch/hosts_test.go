package dispatch

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 24, 12, 0, 0, 0, time.UTC)

// item is an item of a test: "host/path".
type item struct {
	url  string
	due  time.Time
	slow bool
	at   time.Time // it was last tried

	first bool
}

func (i *item) host() string { host, _, _ := strings.Cut(i.url, "/"); return host }

// first is a due item that is first.
func first(i *item) *item {
	i.first = true
	return i
}

// names are the parts of Queue that hosts use.
type names struct{ Queue[*item] }

func (names) Host(i *item) string   { return i.host() }
func (names) Due(i *item) time.Time { return i.due }
func (names) Slow(i *item) bool     { return i.slow }

func (names) Tried(i *item) time.Time { return i.at }

// due is an item that has been due since a minute of that day. It was last tried on the day before.
func due(url string, minute int) *item {
	return &item{url: url, due: noon.Add(time.Duration(minute) * time.Minute), at: noon.Add(-24 * time.Hour)}
}

// untried is a due item that was never tried.
func untried(url string, minute int) *item {
	i := due(url, minute)
	i.at = time.Time{}
	return i
}

// tried is due at one o'clock, and was last tried in a minute of the hour before.
func tried(url string, minute int) *item {
	i := due(url, 60)
	i.at = noon.Add(time.Duration(minute) * time.Minute)
	return i
}

func hanging(i *item) *item {
	i.slow = true
	return i
}

// hostsTest is a hosts that fails the test.
type hostsTest struct {
	*testing.T
	*hosts[*item]
}

func newHosts(t *testing.T, room int) hostsTest {
	return hostsTest{t, &hosts[*item]{queue: names{}, perHost: 1, first: func(i *item) bool { return i.first }, room: room, maxDelay: time.Minute, byName: map[string]*host[*item]{}}}
}

func (q hostsTest) put(i *item) {
	q.Helper()
	if out, _ := q.add(&entry[*item]{item: i}, noon); out != nil {
		q.Fatalf("%s leaves for %s", out.item.url, i.url)
	}
}

// take takes the next item of a class, and begins it.
func (q hostsTest) take(c class, want string) *entry[*item] {
	q.Helper()
	e := q.next(c)
	if e == nil || e.item.url != want {
		q.Fatalf("got %+v, want %s", e, want)
	}
	if e.start.IsZero() {
		e.start = noon
	}
	return e
}

func (q hostsTest) none(c class) {
	q.Helper()
	if e := q.next(c); e != nil {
		q.Fatalf("%s may be tried", e.item.url)
	}
}

func (q hostsTest) end(e *entry[*item], took time.Duration) { q.done(e, e.start.Add(took)) }

func (q hostsTest) empty() {
	q.Helper()
	if len(q.byName)+q.waiting+q.slow+q.busy+q.ready[quick].Len()+q.ready[unsure].Len()+q.ready[slow].Len() != 0 {
		q.Errorf("something is remembered: %+v", q.hosts)
	}
}

func TestOneItemOfEachHostInTurn(t *testing.T) {
	q := newHosts(t, 100)
	q.none(quick)
	q.put(due("a/2", 2))
	q.put(due("b/1", 0))
	q.put(due("a/1", 1)) // due for longer
	q.put(due("a:81/1", 9))
	a := q.take(quick, "a/1")
	b := q.take(quick, "b/1")
	c := q.take(quick, "a:81/1")
	q.none(quick) // a is busy
	q.put(due("b/2", 1))
	q.end(b, time.Second)
	q.end(a, time.Second)
	q.take(quick, "b/2")
	q.retry(c) // another attempt comes before others
	q.take(quick, "a:81/1")
	q.end(c, time.Second)
	a = q.take(quick, "a/2")
	q.put(due("a/3", 0))
	if n := len(q.all("")); n != 3 {
		t.Errorf("%d items in memory, want 3", n)
	}
	if all := q.drain(); len(all) != 1 || all[0].item.url != "a/3" || q.waiting != 0 || q.busy != 2 {
		t.Errorf("drained %v, %d left", all, q.waiting)
	}
	q.end(a, time.Second)
	q.end(q.byName["b"].busy[0], time.Second)
	q.empty()
}

func TestHostsKeepWhatHasBeenDueTheLongest(t *testing.T) {
	q := newHosts(t, 1000)
	for i := range maxPerHost {
		q.put(due(fmt.Sprintf("a/%d", i), 10+i))
	}
	add := func(i *item) (string, time.Duration) {
		out, after := q.add(&entry[*item]{item: i}, noon)
		if out == nil {
			t.Fatalf("room for %s", i.url)
		}
		return out.item.url, after
	}
	out, after := add(due("a/late", 100))
	if out != "a/late" || after < storeGap {
		t.Fatalf("%s leaves for %v", out, after)
	}
	out, again := add(due("a/early", 0))
	if want := fmt.Sprintf("a/%d", maxPerHost-1); out != want || again <= after {
		t.Fatalf("%s leaves for %v, the one before for %v; want %s for longer", out, again, after, want)
	}
	// Released items come back as fast as the host has become.
	q.end(q.take(quick, "a/early"), time.Minute)
	q.put(due("a/x", 200))
	if _, after = add(due("a/y", 200)); after != q.maxDelay {
		t.Errorf("on a host that takes a minute for each: %v", after)
	}
	for e := q.next(quick); e != nil; e = q.next(quick) {
		e.start = noon
		q.end(e, 0)
	}
	q.empty()
}

func TestSlowHostsHaveAClassAndHalfOfTheRoom(t *testing.T) {
	q := newHosts(t, 4)
	q.put(hanging(due("a/1", 5)))
	q.put(hanging(due("b/1", 1)))
	q.put(due("c/1", 9))
	out, after := q.add(&entry[*item]{item: hanging(due("d/1", 3))}, noon)
	if out == nil || out.item.url != "d/1" || after != q.maxDelay {
		t.Fatalf("%v leaves for %v", out, after)
	}
	a := q.take(slow, "a/1")
	b := q.take(slow, "b/1")
	q.none(slow)
	c := q.take(quick, "c/1")
	q.none(quick)

	// One that hangs now is slow, with all that waits for it; one that responds is not.
	q.note(c, slow, noon)
	q.put(due("c/2", 10))
	q.retry(c)
	q.take(slow, "c/1")
	q.note(c, quick, noon)
	q.end(c, time.Second)
	q.put(hanging(due("c/0", 0))) // an item that hung goes to the slow class,
	c = q.take(quick, "c/0")      // unless its host was tried since
	q.end(c, time.Second)
	c = q.take(quick, "c/2")
	q.put(hanging(due("c/3", 0)))
	q.end(c, time.Second)
	c = q.take(slow, "c/3")
	for _, e := range []*entry[*item]{a, b, c} {
		q.end(e, time.Second)
	}
	q.empty()
}

// A time-out of a quick host makes those unsure that were not tried since it began, each
// until it has responded.
func TestHostsAreUnsureAfterATimeOut(t *testing.T) {
	q := newHosts(t, 100)
	q.put(tried("a/1", 0)) // will time out at minute 10
	a := q.take(quick, "a/1")
	for _, i := range []*item{tried("before/1", 9), tried("before/2", 9), tried("since/1", 11), due("never/1", 60)} {
		q.put(i)
	}
	q.timedOut(noon.Add(10 * time.Minute))
	q.put(tried("later/1", 9))
	q.put(hanging(tried("slow/1", 9)))
	since := q.take(quick, "since/1")
	q.none(quick)

	before := q.take(unsure, "before/1")
	q.note(before, quick, noon.Add(12*time.Minute))
	q.end(before, time.Second)
	q.timedOut(noon.Add(13 * time.Minute)) // while others wait: before/2 stays where it is
	before = q.take(quick, "before/2")

	never, later, s := q.take(unsure, "never/1"), q.take(unsure, "later/1"), q.take(slow, "slow/1")
	q.timedOut(noon.Add(14 * time.Minute)) // none waits: this one counts
	q.put(tried("again/1", 13))
	again := q.take(unsure, "again/1")
	for _, e := range []*entry[*item]{a, since, before, never, later, s, again} {
		q.end(e, time.Second)
	}
	q.empty()
}

// Of two items of a host, one may respond and the other hang, each time.
func TestItemThatHangsIsSlowBesideOneThatResponds(t *testing.T) {
	q := newHosts(t, 100)
	q.put(tried("a/1", 0))
	a := q.take(quick, "a/1")
	q.put(hanging(tried("a/2", 5)))
	q.note(a, quick, noon.Add(10*time.Minute))
	q.end(a, time.Second)
	q.end(q.take(slow, "a/2"), time.Second)
	q.empty()
}

func TestNoHostIsUnsureAfterTheClockWasSetBack(t *testing.T) {
	q := newHosts(t, 100)
	q.put(due("a/1", 60))
	a := q.take(quick, "a/1")
	q.timedOut(noon.Add(time.Hour))
	q.note(a, slow, noon)
	q.put(due("b/1", 60))
	q.end(q.take(quick, "b/1"), time.Second)
	q.end(a, time.Second)
	q.empty()
}

// Between two items that hang, the quick ones that were due at the end of the first have their turn, but not those that
// became due later: the items that hang have their turn too.
func TestQuickItemsHaveTheirTurnBetweenTwoThatHang(t *testing.T) {
	q := newHosts(t, 100)
	for i := range 3 {
		q.put(hanging(due(fmt.Sprintf("a/hangs/%d", i), i)))
	}
	one := q.take(slow, "a/hangs/0")
	q.put(due("a/1", 10))
	q.put(due("a/2", 11))
	q.note(one, slow, noon.Add(12*time.Minute))
	q.end(one, 12*time.Minute)
	one = q.take(quick, "a/1")
	q.put(due("a/late", 13))
	q.end(one, time.Second)
	q.end(q.take(quick, "a/2"), time.Second)
	two := q.take(slow, "a/hangs/1")
	q.none(quick)
	q.note(two, slow, noon.Add(20*time.Minute))
	q.end(two, 20*time.Minute)
	q.end(q.take(quick, "a/late"), time.Second)
	q.end(q.take(slow, "a/hangs/2"), time.Second)
	q.empty()
}

// A quick item passes one that hangs and waits for a worker. It does not if its host hangs.
func TestQuickItemsPassThoseThatWaitForAWorker(t *testing.T) {
	q := newHosts(t, 100)
	q.put(hanging(due("a/hangs", 0)))
	q.put(due("a/1", 1))
	q.put(hanging(due("b/hangs", 0)))
	passed := q.passSlow()
	if passed == nil || passed.item.url != "a/1" {
		t.Fatalf("got %+v", passed)
	}
	passed.start = noon
	if again := q.passSlow(); again != nil {
		t.Errorf("%s passes", again.item.url)
	}
	q.note(passed, slow, noon)
	q.put(due("a/2", 2))
	q.end(passed, time.Second)
	if again := q.passSlow(); again != nil {
		t.Errorf("%s passes on a host that hangs", again.item.url)
	}
	b := q.take(slow, "b/hangs")
	q.end(b, time.Second)
	q.end(q.take(slow, "a/hangs"), time.Second)
	q.end(q.take(slow, "a/2"), time.Second)
	q.empty()
}

// A first item is before all others of its host, and never without room.
func TestFirstItems(t *testing.T) {
	q := newHosts(t, 10)
	for i := range maxPerHost - 1 {
		q.put(due(fmt.Sprintf("a/%d", i), i))
	}
	q.put(hanging(due("a/hangs", 0)))
	q.take(quick, "a/0")
	if out, _ := q.add(&entry[*item]{item: first(hanging(due("a/first", 99)))}, noon); out != nil && out.item.first {
		t.Error("the first item leaves")
	}
	q.end(q.byName["a"].busy[0], time.Second)
	q.take(slow, "a/first")
}

// However often an item that hangs is requested, the quick ones of its host have their turn in between. A quick item
// that is requested does not wait for them.
func TestQuickItemsHaveTheirTurnBetweenRequests(t *testing.T) {
	q := newHosts(t, 100)
	q.put(first(hanging(due("a/hangs", 0))))
	one := q.take(slow, "a/hangs")
	q.put(due("a/1", 10))
	q.put(due("a/2", 11))
	q.put(first(hanging(due("a/hangs", 12))))
	q.note(one, slow, noon.Add(12*time.Minute))
	q.end(one, 12*time.Minute)
	one = q.take(quick, "a/1")
	q.put(first(due("a/requested", 20)))
	q.end(one, time.Second)
	q.end(q.take(quick, "a/requested"), time.Second)
	q.end(q.take(quick, "a/2"), time.Second)
	q.put(due("a/late", 13))
	q.end(q.take(slow, "a/hangs"), time.Second)
	q.end(q.take(quick, "a/late"), time.Second)
	q.empty()
}

// Items that were never tried may hang. So quick ones have their turn between two of them.
func TestQuickItemsHaveTheirTurnBetweenNewOnes(t *testing.T) {
	q := newHosts(t, 100)
	for i := range 3 {
		q.put(first(untried(fmt.Sprintf("a/new/%d", i), i)))
	}
	q.put(due("a/1", 5))
	one := q.take(quick, "a/new/0")
	q.note(one, slow, noon.Add(10*time.Minute))
	q.set(one.host, quick)
	q.end(one, 10*time.Minute)
	q.end(q.take(quick, "a/1"), time.Second)
	q.end(q.take(quick, "a/new/1"), time.Second)
	q.end(q.take(quick, "a/new/2"), time.Second)
	q.empty()
}

// Items that hang do not take the places of quick ones of their host.
func TestHostsKeepQuickItems(t *testing.T) {
	q := newHosts(t, 1000)
	for i := range maxPerHost {
		q.put(hanging(due(fmt.Sprintf("a/%d", i), i)))
	}
	out, _ := q.add(&entry[*item]{item: due("a/quick", 100)}, noon)
	if want := fmt.Sprintf("a/%d", maxPerHost-1); out == nil || out.item.url != want {
		t.Errorf("%+v leaves, want %s", out, want)
	}
}

// With two places, two items of a host are in progress, also while one of them waits for a retry.
func TestItemsPerHost(t *testing.T) {
	q := newHosts(t, 100)
	q.perHost = 2
	for i := range 4 {
		q.put(due(fmt.Sprintf("a/%d", i), i))
	}
	a, b := q.take(quick, "a/0"), q.take(quick, "a/1")
	q.none(quick)
	q.end(a, time.Second)
	q.retry(b)
	q.take(quick, "a/1")
	c := q.take(quick, "a/2")
	q.none(quick)
	q.end(b, time.Second)
	d := q.take(quick, "a/3")
	q.end(c, time.Second)
	q.end(d, time.Second)
	q.empty()
}
