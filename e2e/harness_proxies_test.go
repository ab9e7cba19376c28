//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"linkwatch/models/modelstest"
)

// proxiedHosts are the host names in the files.
var proxiedHosts = []string{"links.example", "example.com", "go.example"}

// proxy is a reverse proxy with TLS that runs a file of deploy/.
type proxy struct {
	*http.Client     // with cookies. It resolves all host names to the proxy, and follows no redirects
	http, https  int // ports
}

// installed returns the path of a program. Without it, the test is skipped, but fails in CI.
func installed(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(name + " is not installed")
		}
		t.Skip("skipped: " + name + " is not installed")
	}
	return path
}

// nginx runs a file of deploy/ in front of s, as it is but for ports and the paths of files. change are more
// replacements.
func nginx(t *testing.T, s *Server, name string, change ...string) *proxy {
	t.Helper()
	path, dir, p := installed(t, "nginx"), t.TempDir(), newProxy(t)
	cert, key := certificate(t, dir)
	conf := readDeployed(t, name)
	for _, site := range proxiedHosts {
		conf = strings.ReplaceAll(conf, "/etc/letsencrypt/live/"+site+"/fullchain.pem", cert)
		conf = strings.ReplaceAll(conf, "/etc/letsencrypt/live/"+site+"/privkey.pem", key)
	}
	change = append(change,
		"127.0.0.1:8080", strings.TrimPrefix(s.URL, "http://"),
		"listen 80;", fmt.Sprintf("listen 127.0.0.1:%d;", p.http), "listen 443 ", fmt.Sprintf("listen 127.0.0.1:%d ", p.https),
		"listen [::]:80;", fmt.Sprintf("listen 127.0.0.1:%d;", freePort(t)), "listen [::]:443 ", fmt.Sprintf("listen 127.0.0.1:%d ", freePort(t)),
	)
	write(t, filepath.Join(dir, "site.conf"), strings.NewReplacer(change...).Replace(conf))
	main := "daemon off;\nworker_processes 1;\npid nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\n  access_log off;\n  include site.conf;\n"
	if os.Getuid() == 0 {
		main = "user root;\n" + main // another user cannot read the folder
	}
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		main += "  " + kind + "_temp_path " + kind + ";\n"
	}
	write(t, filepath.Join(dir, "nginx.conf"), main+"}\n")
	p.run(t, exec.Command(path, "-p", dir, "-c", "nginx.conf", "-e", "stderr"), conf)
	return p
}

// caddy runs a file of deploy/ in front of s, as it is but for ports. The certificates are from a CA that Caddy makes.
// change are more replacements.
func caddy(t *testing.T, s *Server, name string, change ...string) *proxy {
	t.Helper()
	path, dir, p := installed(t, "caddy"), t.TempDir(), newProxy(t)
	global := fmt.Sprintf("{\n\tadmin off\n\thttp_port %d\n\thttps_port %d\n\tlocal_certs\n\tskip_install_trust\n\tdefault_bind 127.0.0.1\n}\n", p.http, p.https)
	change = append(change, "127.0.0.1:8080", strings.TrimPrefix(s.URL, "http://"))
	conf := strings.NewReplacer(change...).Replace(readDeployed(t, name))
	write(t, filepath.Join(dir, "Caddyfile"), global+conf)
	cmd := exec.Command(path, "run", "--config", "Caddyfile", "--adapter", "caddyfile")
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "XDG_DATA_HOME=" + dir, "XDG_CONFIG_HOME=" + dir}
	p.run(t, cmd, conf)
	return p
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{http: freePort(t), https: freePort(t)}
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // the certificate is made for the test
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			port := p.http
			if strings.HasSuffix(address, ":443") {
				port = p.https
			}
			return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	p.Client = &http.Client{
		Jar: jar, Transport: transport, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return p
}

// run starts the proxy and waits until it has certificates of all hosts in conf. The proxy ends with the test.
func (p *proxy) run(t *testing.T, cmd *exec.Cmd, conf string) {
	t.Helper()
	log := &tail{}
	cmd.Stdout, cmd.Stderr = log, log
	started, err := launch(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		started.end(syscall.SIGTERM)
		if t.Failed() {
			t.Logf("%s wrote:\n%s", filepath.Base(cmd.Path), strings.Join(log.lines, "\n"))
		}
	})
	modelstest.Eventually(t, "the proxy listens", func() bool {
		if started.hasEnded() {
			t.Fatalf("the proxy ended at its start")
		}
		for _, host := range proxiedHosts {
			if !strings.Contains(conf, host) {
				continue
			}
			res, err := p.Get("https://" + host + "/healthz")
			if err != nil {
				return false
			}
			_ = res.Body.Close()
		}
		return true
	})
}

// send sends a request. headers alternate names and values.
func (p *proxy) send(t *testing.T, method, url, body string, headers ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := p.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

// get requests a URL, and fails the test unless the status is want and the body contains text. It returns the response.
func (p *proxy) get(t *testing.T, url string, want int, text string, headers ...string) *http.Response {
	t.Helper()
	res := p.send(t, http.MethodGet, url, "", headers...)
	var body strings.Builder
	if _, err := bufio.NewReader(res.Body).WriteTo(&body); err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != want || !strings.Contains(body.String(), text) {
		t.Errorf("GET %s: got %s, want %d with %q: %.500s", url, res.Status, want, text, body.String())
	}
	return res
}

// certificate writes a new certificate and its key to dir.
func certificate(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: proxiedHosts, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	write(t, cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	write(t, key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	return cert, key
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
