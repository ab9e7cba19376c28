package outbound

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"testing"

	"code.dny.dev/ssrf"
	"golang.org/x/net/dns/dnsmessage"
)

func TestGuard(t *testing.T) {
	allow := []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00:1::/32")}
	for _, tc := range []struct {
		address          string
		closed, narrowed bool // may it be dialed with nothing allowed; with the above allowed
	}{
		{"93.184.215.14:80", true, true},
		{"93.184.215.14:8443", true, true}, // any port
		{"[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:443", true, true},
		{"0.0.0.0:80", false, false}, {"0.1.2.3:80", false, false}, // unspecified, "this network"
		{"10.0.0.1:80", false, false}, {"172.16.0.1:80", false, false}, {"172.31.255.255:80", false, false}, {"192.168.1.1:80", false, false}, // private
		{"10.1.2.3:80", false, true}, {"10.2.0.0:80", false, false}, // only the allowed range
		{"127.0.0.1:80", false, false}, {"127.255.255.254:80", false, false}, {"[::1]:80", false, false}, // loopback
		{"169.254.169.254:80", false, false}, {"[fe80::1]:80", false, false}, {"[fe80::1%eth0]:80", false, false}, // link-local
		{"100.64.0.1:80", false, false}, {"100.127.255.254:80", false, false}, {"100.128.0.1:80", true, true}, // CGNAT
		{"[64:ff9b::10.0.0.1]:80", false, false}, {"[64:ff9b:1::1]:80", false, false}, // NAT64
		{"224.0.0.1:80", false, false}, {"239.255.255.255:80", false, false}, {"[ff02::1]:80", false, false}, // multicast
		{"240.0.0.1:80", false, false}, {"255.255.255.255:80", false, false}, {"[::]:80", false, false},
		{"[fc00::1]:80", false, false}, {"[fd00:1::1]:80", false, true}, {"[fd00:1::1%eth0]:80", false, true}, // unique local
		{"[::ffff:127.0.0.1]:80", false, false}, {"[::ffff:10.1.2.3]:80", false, true}, {"[::ffff:93.184.215.14]:80", true, true}, // mapped
		{"[::127.0.0.1]:80", false, false}, {"[2002:7f00:1::]:80", false, false}, {"[2001::1]:80", false, false}, // compatible, 6to4, Teredo
		{"192.0.2.1:80", false, false}, {"198.18.0.1:80", false, false}, {"[2001:db8::1]:80", false, false},
		{"not an address", false, false},
	} {
		if err := guard(nil)("tcp", tc.address, nil); (err == nil) != tc.closed {
			t.Errorf("%s with nothing allowed: %v", tc.address, err)
		}
		if err := guard(allow)("tcp", tc.address, nil); (err == nil) != tc.narrowed {
			t.Errorf("%s with some allowed: %v", tc.address, err)
		}
	}
}

func TestBlockedAddresses(t *testing.T) {
	asked := false
	srv := serve(t, func(http.ResponseWriter, *http.Request) { asked = true })
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	c := New(Options{})
	defer c.Close()
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433", "0x7f.1", "127.1", "[::1]"} {
		_, err := c.Fetch(t.Context(), Request{URL: "http://" + host + ":" + port})
		fails(t, err, KindBlocked, "address not allowed")
		if !errors.Is(err, ssrf.ErrProhibitedIP) {
			t.Errorf("%s: the cause is lost", host)
		}
	}
	if asked {
		t.Error("the server was reached")
	}
}

// A name that first resolves to a public address and then to a private one: only the dialed address counts.
func TestRebinding(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Connection", "close") })
	dns, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	answer := make(chan byte, 1) // the last byte of the address
	answer <- 1
	go nameServer(dns, answer)
	t.Cleanup(func() { _ = dns.Close() })
	c := testClient(t, Options{})
	c.transport.dialer.Resolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("udp", dns.LocalAddr().String())
	}}
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	get(t, c, Request{URL: "http://rebind.example.:" + port})
	<-answer
	answer <- 2 // 127.0.0.2 is not allowed
	_, err = c.Fetch(t.Context(), Request{URL: "http://rebind.example.:" + port})
	fails(t, err, KindBlocked, "address not allowed")
	<-answer
	answer <- 0 // no such name
	_, err = c.Fetch(t.Context(), Request{URL: "http://rebind.example.:" + port})
	fails(t, err, KindDNS, "host not found")
}

// nameServer answers every A question with 127.0.0.x, where x is what waits in answer, or with NXDOMAIN for 0.
func nameServer(conn net.PacketConn, answer chan byte) {
	buf := make([]byte, 1500)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:n]) != nil || len(m.Questions) == 0 {
			continue
		}
		last := <-answer
		answer <- last
		q := m.Questions[0]
		m.Response, m.Additionals = true, nil
		switch {
		case last == 0:
			m.RCode = dnsmessage.RCodeNameError
		case q.Type == dnsmessage.TypeA:
			m.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
				Body:   &dnsmessage.AResource{A: [4]byte{127, 0, 0, last}},
			}}
		}
		reply, err := m.Pack()
		if err == nil {
			_, _ = conn.WriteTo(reply, from)
		}
	}
}

func TestHostKey(t *testing.T) {
	for in, want := range map[string]string{
		"http://Example.COM/a": "example.com", "https://example.com:443": "example.com", "http://example.com:80": "example.com",
		"http://example.com:443": "example.com:443", "http://[::1]:8080/": "[::1]:8080",
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := hostKey(u); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
