package links

import (
	"testing"

	"github.com/linkwatch/linkwatch/models/links"
)

func TestQueueHandsOutOneOfEachHost(t *testing.T) {
	q := newQueue()
	link := func(url string) links.Link { return links.Link{CanonicalURL: url} }
	take := func(want string) {
		t.Helper()
		l, ok := q.peek()
		if !ok || l.CanonicalURL != want {
			t.Fatalf("got %q, %v; want %q", l.CanonicalURL, ok, want)
		}
		q.take()
	}
	none := func(size int) {
		t.Helper()
		if l, ok := q.peek(); ok || q.size != size {
			t.Fatalf("got %q with %d waiting; want none with %d", l.CanonicalURL, q.size, size)
		}
	}
	none(0)
	q.add([]links.Link{link("http://a/1"), link("http://a/2"), link("http://b/1"), link("http://a:81/1")})
	take("http://a/1")
	take("http://b/1")
	take("http://a:81/1")
	none(1)
	q.add([]links.Link{link("http://b/2"), link("http://a/3")}) // a later batch for hosts that are busy
	none(3)
	q.done(link("http://a/1"))
	take("http://a/2")
	none(2)
	q.done(link("http://b/1"))
	q.done(link("http://a/2"))
	q.done(link("http://a:81/1"))
	take("http://b/2") // in turn
	take("http://a/3")
	q.done(link("http://a/3"))
	q.done(link("http://b/2"))
	none(0)
	if len(q.waiting)+len(q.busy) != 0 {
		t.Errorf("hosts are remembered: %v %v", q.waiting, q.busy)
	}
}
