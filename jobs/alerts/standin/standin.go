// Package standin is a fake of notification services and a mail server for tests. It answers like the services and records the requests.
// Tests can replace its answers.
package standin

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"linkwatch/outbound"
)

// Request is a received request.
type Request struct {
	Method, Host, Path, Query string
	Header                    http.Header
	Body                      string
}

// Server is a fake of all HTTPS services, for any host. It is safe for concurrent use.
type Server struct {
	*httptest.Server
	Mail     *Mail
	CA       []byte // PEM of the CA that signed its certificate, for SSL_CERT_FILE of a program
	mu       sync.Mutex
	requests []Request
	instead  http.HandlerFunc
	roots    *x509.CertPool
}

// New starts a server and stops it at the end of the test.
func New(t testing.TB) *Server {
	t.Helper()
	cert, roots := certificate(t)
	s := &Server{
		roots: roots, Mail: newMail(t, cert), CA: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]}),
	}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	s.StartTLS()
	t.Cleanup(func() {
		s.CloseClientConnections() // ends requests that still hang
		s.Close()
	})
	return s
}

// RelayOptions resolve every host name to the server: ports 25, 465 and 587 to its mail server, all others to its services. IP addresses
// are dialed as they are, and only 127.0.0.1 is allowed.
func (s *Server) RelayOptions() outbound.RelayOptions {
	return outbound.RelayOptions{
		AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Roots: s.roots,
		Resolve: func(address string) string {
			host, port, err := net.SplitHostPort(address)
			if err != nil {
				return address
			}
			if _, err := netip.ParseAddr(host); err == nil {
				return address
			}
			switch port {
			case "25", "587":
				return s.Mail.Addr
			case "465":
				return s.Mail.encrypted
			}
			return s.Listener.Addr().String()
		},
	}
}

// Relay returns a relay with RelayOptions and closes it at the end of the test.
func (s *Server) Relay(t testing.TB) *outbound.Relay {
	r := outbound.NewRelay(s.RelayOptions())
	t.Cleanup(r.Close)
	return r
}

// Instead makes h handle all requests. nil restores the answers of the services.
func (s *Server) Instead(h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.instead = h
}

// Requests returns the requests received since the last call, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.requests
	s.requests = nil
	return out
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.requests = append(s.requests, Request{r.Method, r.Host, r.URL.Path, r.URL.RawQuery, r.Header, string(body)})
	instead := s.instead
	s.mu.Unlock()
	if instead != nil {
		instead(w, r)
		return
	}
	answer(w, r)
}

// answer writes the success response of the service of a host and path.
func answer(w http.ResponseWriter, r *http.Request) {
	status, text := http.StatusOK, "ok"
	switch host, _, _ := strings.Cut(r.Host, ":"); {
	case host == "slack.com", host == "api.telegram.org":
		text = `{"ok":true}`
	case host == "discord.com":
		status, text = http.StatusNoContent, ""
	case host == "events.pagerduty.com":
		status, text = http.StatusAccepted, `{"status":"success","message":"Event processed"}`
	case host == "api.opsgenie.com":
		status, text = http.StatusAccepted, `{"result":"Request will be processed"}`
	case host == "api.pushover.net":
		text = `{"status":1,"request":"r1"}`
	case host == "chat.googleapis.com":
		text = `{"name":"spaces/A/messages/B"}`
	case strings.HasSuffix(host, ".webhook.office.com"):
		text = "1"
	case strings.HasSuffix(host, ".logic.azure.com"):
		status, text = http.StatusAccepted, ""
	case strings.HasPrefix(host, "ntfy"):
		text = `{"id":"m1","event":"message"}`
	case strings.HasPrefix(host, "gotify"):
		text = `{"id":1,"appid":1}`
	case strings.HasPrefix(host, "matrix"):
		text = matrix(r)
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

func matrix(r *http.Request) string {
	switch {
	case strings.HasSuffix(r.URL.Path, "/login") && r.Method == http.MethodGet:
		return `{"flows":[{"type":"m.login.password"}]}`
	case strings.HasSuffix(r.URL.Path, "/login"):
		return `{"access_token":"matrix-session-token"}`
	case strings.Contains(r.URL.Path, "/join/"):
		return `{"room_id":"!room:example.com"}`
	}
	return `{"event_id":"$e1"}`
}

// certificate returns a certificate for all hosts of the tests, and a pool that trusts it.
func certificate(t testing.TB) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "stand-in"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true, IsCA: true,
		DNSNames: []string{
			"slack.com", "*.slack.com", "discord.com", "*.telegram.org", "*.webhook.office.com", "*.logic.azure.com", "*.pagerduty.com", "*.pushover.net",
			"*.googleapis.com", "*.opsgenie.com", "*.example.com", "ntfy.sh",
		},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
}
