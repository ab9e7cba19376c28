package links

import (
	"testing"

	"linkwatch/models"
	"linkwatch/models/links"
)

func TestQueueHandsOutOneOfEachHost(t *testing.T) {
	q := newQueue[links.Link]()
	link := func(url string) links.Link { return links.Link{CanonicalURL: url} }
	take := func(want string) {
		t.Helper()
		l, ok := q.peek()
		if !ok || l.CanonicalURL != want {
			t.Fatalf("got %q, %v; want %q", l.CanonicalURL, ok, want)
		}
		q.take()
	}
	add := func(urls ...string) {
		for _, u := range urls {
			if !q.add(models.HostPort(u), link(u)) {
				t.Fatalf("no room for %s", u)
			}
		}
	}
	done := func(url string, want bool) {
		t.Helper()
		if last := q.done(models.HostPort(url)); last != want {
			t.Errorf("%s: the last of its host: %v", url, last)
		}
	}
	none := func(size int) {
		t.Helper()
		if l, ok := q.peek(); ok || q.size != size {
			t.Fatalf("got %q with %d waiting; want none with %d", l.CanonicalURL, q.size, size)
		}
	}
	none(0)
	add("http://a/1", "http://a/2", "http://b/1", "http://a:81/1")
	take("http://a/1")
	take("http://b/1")
	take("http://a:81/1")
	none(1)
	add("http://b/2", "http://a/3") // a later batch for hosts that are busy
	none(3)
	if rest := q.rest(); len(rest) != 3 {
		t.Errorf("the rest: %v", rest)
	}
	done("http://a/1", false)
	take("http://a/2")
	none(2)
	done("http://b/1", false)
	done("http://a/2", false)
	done("http://a:81/1", true)
	take("http://b/2") // in turn
	take("http://a/3")
	done("http://a/3", true)
	done("http://b/2", true)
	none(0)
	if len(q.waiting)+len(q.busy) != 0 {
		t.Errorf("hosts are remembered: %v %v", q.waiting, q.busy)
	}
}

func TestQueueHoldsAFewOfEachHost(t *testing.T) {
	q := newQueue[int]()
	for i := range maxPerHost {
		if !q.add("a", i) {
			t.Fatalf("no room for the link %d", i)
		}
	}
	if q.add("a", -1) {
		t.Error("one too many")
	}
	if !q.add("b", 0) {
		t.Error("no room for another host")
	}
	q.take()
	if !q.add("a", maxPerHost) || q.add("a", -1) || q.size != maxPerHost+1 {
		t.Errorf("after one was taken: %d wait", q.size)
	}
}
