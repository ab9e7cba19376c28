package middleware

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"
)

func TestLimiter(t *testing.T) {
	l := NewLimiter("short links", 60) // one per second, with a burst of sixty
	now := time.Date(2026, 3, 24, 12, 0, 0, 0, time.UTC)
	one, other := netip.MustParseAddr("203.0.113.1"), netip.MustParseAddr("203.0.113.2")
	for i := range 60 {
		if wait := l.Take(one, now); wait != 0 {
			t.Fatalf("request %d: got a wait of %v", i+1, wait)
		}
	}
	if wait := l.Take(one, now); wait != time.Second {
		t.Errorf("got a wait of %v, want 1 s", wait)
	}
	if wait := l.Take(one, now.Add(500*time.Millisecond)); wait != 500*time.Millisecond {
		t.Errorf("a refused request must not count: got a wait of %v, want 0.5 s", wait)
	}
	if wait := l.Take(netip.MustParseAddr("::ffff:203.0.113.1"), now); wait == 0 {
		t.Error("another notation of the address is another client")
	}
	if wait := l.Take(other, now); wait != 0 {
		t.Errorf("other client: got a wait of %v", wait)
	}
	if wait := l.Take(one, now.Add(time.Second)); wait != 0 {
		t.Errorf("after a second: got a wait of %v", wait)
	}
	if wait := l.Take(one, now.Add(time.Second)); wait == 0 {
		t.Error("got more than one request after a second")
	}
}

// TestLimiterByNetwork: an IPv6 client is a whole network.
func TestLimiterByNetwork(t *testing.T) {
	l := NewLimiter("short links", 1)
	now := time.Now()
	for address, free := range map[string]bool{"2001:db8:0:1::1": true, "2001:db8:0:2::1": true, "fe80::1%eth0": true} {
		if wait := l.Take(netip.MustParseAddr(address), now); (wait == 0) != free {
			t.Errorf("%s: got a wait of %v", address, wait)
		}
	}
	for _, address := range []string{"2001:db8:0:1:ffff::2", "2001:db8:0:2::3", "fe80::2%eth1"} {
		if wait := l.Take(netip.MustParseAddr(address), now); wait == 0 {
			t.Errorf("%s is a separate client", address)
		}
	}
}

// TestLimiterIsBounded: the table has a maximum size, and recently seen clients are evicted last.
func TestLimiterIsBounded(t *testing.T) {
	l := NewLimiter("short links", 1)
	now := time.Now()
	address := func(i int) netip.Addr {
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], uint32(i))
		return netip.AddrFrom4(b)
	}
	for i := range maxClients {
		l.Take(address(i), now)
	}
	now = now.Add(time.Minute)
	for i := range maxClients / 2 { // they send another request
		l.Take(address(i), now)
	}
	l.Take(address(maxClients), now)
	if len(l.clients.entries) != maxClients/2+1 {
		t.Errorf("got %d clients in the table", len(l.clients.entries))
	}
	for i := range maxClients / 2 {
		if l.Take(address(i), now) == 0 {
			t.Fatalf("client %d was evicted", i)
		}
	}
	for i := range 5 * maxClients { // all at the same time
		l.Take(address(i), now)
		if len(l.clients.entries) > maxClients {
			t.Fatalf("got %d clients in the table", len(l.clients.entries))
		}
	}
}
