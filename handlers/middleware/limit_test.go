package middleware

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"
)

func TestLimiter(t *testing.T) {
	l := NewLimiter("short links", 60) // one a second, sixty at once
	now := time.Date(2026, 3, 24, 12, 0, 0, 0, time.UTC)
	one, other := netip.MustParseAddr("203.0.113.1"), netip.MustParseAddr("203.0.113.2")
	for i := range 60 {
		if wait := l.Take(one, now); wait != 0 {
			t.Fatalf("number %d waits %v", i+1, wait)
		}
	}
	if wait := l.Take(one, now); wait != time.Second {
		t.Errorf("waits %v, want a second", wait)
	}
	if wait := l.Take(one, now.Add(500*time.Millisecond)); wait != 500*time.Millisecond {
		t.Errorf("asking again costs nothing: waits %v, want half a second", wait)
	}
	if wait := l.Take(netip.MustParseAddr("::ffff:203.0.113.1"), now); wait == 0 {
		t.Error("the same client by another notation is another one")
	}
	if wait := l.Take(other, now); wait != 0 {
		t.Errorf("another client waits %v", wait)
	}
	if wait := l.Take(one, now.Add(time.Second)); wait != 0 {
		t.Errorf("a second later it waits %v", wait)
	}
	if wait := l.Take(one, now.Add(time.Second)); wait == 0 {
		t.Error("a second brings more than one")
	}
}

// TestLimiterByNetwork: of IPv6 a client has a whole network.
func TestLimiterByNetwork(t *testing.T) {
	l := NewLimiter("short links", 1)
	now := time.Now()
	for address, free := range map[string]bool{"2001:db8:0:1::1": true, "2001:db8:0:2::1": true, "fe80::1%eth0": true} {
		if wait := l.Take(netip.MustParseAddr(address), now); (wait == 0) != free {
			t.Errorf("%s waits %v", address, wait)
		}
	}
	for _, address := range []string{"2001:db8:0:1:ffff::2", "2001:db8:0:2::3", "fe80::2%eth1"} {
		if wait := l.Take(netip.MustParseAddr(address), now); wait == 0 {
			t.Errorf("%s is a client of its own", address)
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
	for i := range maxClients / 2 { // they come again
		l.Take(address(i), now)
	}
	l.Take(address(maxClients), now)
	if len(l.clients.entries) != maxClients/2+1 {
		t.Errorf("table has %d clients", len(l.clients.entries))
	}
	for i := range maxClients / 2 {
		if l.Take(address(i), now) == 0 {
			t.Fatalf("client %d was evicted", i)
		}
	}
	for i := range 5 * maxClients { // all at the same time
		l.Take(address(i), now)
		if len(l.clients.entries) > maxClients {
			t.Fatalf("table has %d clients", len(l.clients.entries))
		}
	}
}
