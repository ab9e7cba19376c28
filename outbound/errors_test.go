package outbound

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"
)

// certificate returns a self-signed certificate for 127.0.0.1 or another host.
func certificate(t *testing.T, ip string, from, to time.Time) (tls.Certificate, *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: from, NotAfter: to,
		IPAddresses: []net.IP{net.ParseIP(ip)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, of, of, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, leaf
}

func TestTLS(t *testing.T) {
	now := time.Now()
	day := 24 * time.Hour
	for _, tc := range []struct {
		name, ip, want string
		from, to       time.Time
		trusted        bool
		version        uint16 // the highest that the server speaks; 0 = any
	}{
		{name: "good", ip: "127.0.0.1", from: now.Add(-day), to: now.Add(day), trusted: true},
		{name: "unknown authority", ip: "127.0.0.1", from: now.Add(-day), to: now.Add(day), want: "TLS: certificate is from an unknown authority"},
		{name: "expired", ip: "127.0.0.1", from: now.Add(-2 * day), to: now.Add(-day), trusted: true, want: "TLS: certificate has expired"},
		{name: "early", ip: "127.0.0.1", from: now.Add(day), to: now.Add(2 * day), trusted: true, want: "TLS: certificate is not yet valid"},
		{name: "other host", ip: "10.0.0.1", from: now.Add(-day), to: now.Add(day), trusted: true, want: "TLS: certificate is for another host"},
		{name: "old version", ip: "127.0.0.1", from: now.Add(-day), to: now.Add(day), trusted: true, version: tls.VersionTLS10, want: "TLS: handshake failed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cert, leaf := certificate(t, tc.ip, tc.from, tc.to)
			plain := serve(t, func(http.ResponseWriter, *http.Request) {})
			srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, r.Proto)
			}))
			srv.Config.ErrorLog = log.New(io.Discard, "", 0)
			srv.EnableHTTP2 = true
			srv.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS10, MaxVersion: tc.version}
			srv.StartTLS()
			defer srv.Close()
			c := testClient(t, Options{})
			roots := x509.NewCertPool()
			if tc.trusted {
				roots.AddCert(leaf)
			}
			c.transport.base.TLSClientConfig = &tls.Config{RootCAs: roots}
			res, err := c.Fetch(t.Context(), Request{URL: srv.URL})
			if tc.want != "" {
				fails(t, err, KindTLS, tc.want)
				return
			}
			if err != nil || string(res.Body) != "HTTP/2.0" || !res.TLSExpiresAt.Equal(leaf.NotAfter) {
				t.Errorf("got %+v, %v", res, err)
			}
			if res := get(t, c, Request{URL: plain.URL}); !res.TLSExpiresAt.IsZero() {
				t.Errorf("a response without TLS: %v", res.TLSExpiresAt)
			}
		})
	}
}

// The first certificate that expires counts, whichever hop or chain it belongs to.
func TestCertificatesOfAllHops(t *testing.T) {
	now := time.Now()
	day := 24 * time.Hour
	roots := x509.NewCertPool()
	var to string // Location; "" = none
	start := func(protocol string, expires time.Time) *httptest.Server {
		cert, leaf := certificate(t, "127.0.0.1", now.Add(-day), expires)
		roots.AddCert(leaf)
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/to" {
				http.Redirect(w, r, to, http.StatusFound)
			}
		}))
		srv.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{protocol}}
		srv.EnableHTTP2 = protocol == "h2"
		srv.StartTLS()
		t.Cleanup(srv.Close)
		return srv
	}
	plain := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/to" {
			http.Redirect(w, r, to, http.StatusFound)
		}
	})
	for _, protocol := range []string{"h2", "http/1.1"} {
		soon, late := now.Add(3*day).Truncate(time.Second), now.Add(90*day).Truncate(time.Second)
		first, last := start(protocol, soon), start(protocol, late)
		c := testClient(t, Options{})
		c.transport.base.TLSClientConfig.RootCAs = roots
		for _, tc := range []struct {
			name, from, to string
			want           time.Time
		}{
			{"none", last.URL, "", late},
			{"to a later one", first.URL + "/to", last.URL, soon},
			{"to an earlier one", last.URL + "/to", first.URL, soon},
			{"to plain HTTP", first.URL + "/to", plain.URL, soon},
			{"from plain HTTP", plain.URL + "/to", first.URL, soon},
			{"on a connection that is kept", first.URL + "/to", last.URL, soon},
		} {
			to = tc.to
			for _, discard := range []bool{false, true} {
				if res := get(t, c, Request{URL: tc.from, MaxRedirects: 1, Discard: discard}); !res.TLSExpiresAt.Equal(tc.want) {
					t.Errorf("%s, redirect %s: got %v, want %v", protocol, tc.name, res.TLSExpiresAt, tc.want)
				}
			}
		}
	}
}

// A chain expires with its first certificate. Of several chains the best counts, because one is enough.
func TestChainsExpire(t *testing.T) {
	at := func(days ...int) (chain []*x509.Certificate) {
		for _, d := range days {
			chain = append(chain, &x509.Certificate{NotAfter: time.Unix(0, 0).AddDate(0, 0, d)})
		}
		return chain
	}
	for _, tc := range []struct {
		chains [][]*x509.Certificate
		want   int
	}{
		{[][]*x509.Certificate{at(90)}, 90},
		{[][]*x509.Certificate{at(90, 30, 3650)}, 30},
		{[][]*x509.Certificate{at(90, 3650, 20)}, 20},
		{[][]*x509.Certificate{at(90, 30, 20), at(90, 365, 3650)}, 90},
		{[][]*x509.Certificate{at(90, 365), at(90, 10)}, 90},
		{[][]*x509.Certificate{at(5, 365), at(5, 10)}, 5},
	} {
		if got, want := chainsExpire(tc.chains), time.Unix(0, 0).AddDate(0, 0, tc.want); !got.Equal(want) {
			t.Errorf("%d chains: got %v, want %v", len(tc.chains), got, want)
		}
	}
}

func TestPlainAndTLSMixedUp(t *testing.T) {
	plain := serve(t, func(http.ResponseWriter, *http.Request) {})
	c := testClient(t, Options{})
	_, err := c.Fetch(t.Context(), Request{URL: strings.Replace(plain.URL, "http:", "https:", 1)})
	fails(t, err, KindTLS, "TLS: the server does not support TLS")
}

func TestClassify(t *testing.T) {
	for _, tc := range []struct {
		err  error
		kind Kind
		text string
	}{
		{&net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH}, KindNetwork, "host unreachable"},
		{&net.OpError{Op: "dial", Err: syscall.ENETUNREACH}, KindNetwork, "host unreachable"},
		{&net.OpError{Op: "dial", Err: syscall.ETIMEDOUT}, KindTimeout, "timed out"},
		{&net.OpError{Op: "dial", Err: syscall.EACCES}, KindNetwork, "network error"},
		{&net.OpError{Op: "write", Err: syscall.EPIPE}, KindReset, "connection reset"},
		{&net.DNSError{Err: "server misbehaving", Name: "secret.example"}, KindDNS, "host lookup failed"},
		{&net.DNSError{Err: "no such host", IsNotFound: true}, KindDNS, "host not found"},
		{&net.DNSError{Err: "i/o timeout", IsTimeout: true}, KindTimeout, "timed out"},
		{x509.CertificateInvalidError{Reason: x509.NotAuthorizedToSign}, KindTLS, "TLS: certificate is not valid"},
		{&tls.CertificateVerificationError{Err: io.EOF}, KindTLS, "TLS: certificate is not valid"},
	} {
		e := classify(tc.err)
		fails(t, e, tc.kind, tc.text)
		if !errors.Is(e, tc.err) {
			t.Errorf("%s: the cause is lost", tc.text)
		}
	}
}
