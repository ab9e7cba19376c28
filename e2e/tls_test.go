//go:build e2e

package e2e

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	sqlite "github.com/ncruces/go-sqlite3/driver"

	"linkwatch/models/modelstest"
)

// tlsFiles are the files of HTTP_TLS_CERT and HTTP_TLS_KEY.
type tlsFiles struct{ cert, key string }

func newTLSFiles(t *testing.T) tlsFiles {
	t.Helper()
	dir := t.TempDir()
	return tlsFiles{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
}

func (f tlsFiles) env() []string {
	return []string{"HTTP_TLS_CERT=" + f.cert, "HTTP_TLS_KEY=" + f.key}
}

func writeFile(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// trusting returns an HTTPS client that trusts only these certificates.
func trusting(t *testing.T, certs ...[]byte) *http.Client {
	t.Helper()
	pool := x509.NewCertPool()
	for _, cert := range certs {
		pool.AppendCertsFromPEM(cert)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: transport, CheckRedirect: stay}
}

// HTTP_TLS_CERT serves HTTPS with HTTP/2, and everything that depends on the scheme follows.
func TestTLS(t *testing.T) {
	t.Parallel()
	files, port := newTLSFiles(t), freePort(t)
	cert, key := modelstest.Certificate(t, "links.example", time.Now().Add(24*time.Hour))
	writeFile(t, files.cert, cert)
	writeFile(t, files.key, key)
	env := append(files.env(), "HTTP_PORT="+strconv.Itoa(port), "ADMIN_PASSWORD=correct horse")
	s := Start(t, env...)
	if want := "https://127.0.0.1:" + strconv.Itoa(port); s.URL != want {
		t.Fatalf("the log has the URL %s, want %s", s.URL, want)
	}
	client := trusting(t, cert)
	do := func(method, path, kind, body string) (*http.Response, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", kind)
		if !strings.HasPrefix(path, "/login") {
			req.SetBasicAuth("admin", "correct horse")
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.Header.Get("Content-Type") == "text/event-stream" {
			line, err := bufio.NewReader(res.Body).ReadString('\n')
			return res, line + errorText(err)
		}
		text, err := io.ReadAll(res.Body)
		return res, string(text) + errorText(err)
	}
	if res, body := do("GET", "/readyz", "", ""); res.StatusCode != http.StatusOK || res.ProtoMajor != 2 {
		t.Errorf("/readyz: %s %s %s", res.Proto, res.Status, body)
	}
	if res, body := do("GET", "/sse/health/events", "", ""); res.ProtoMajor != 2 || !strings.HasPrefix(body, "retry: ") {
		t.Errorf("event stream: %s %s %s", res.Proto, res.Status, body)
	}
	res, _ := do("POST", "/login", "application/x-www-form-urlencoded", "username=admin&password=correct+horse")
	cookies := res.Cookies()
	if len(cookies) == 0 || !cookies[0].Secure || !strings.HasPrefix(cookies[0].Name, "__Host-") {
		t.Errorf("login: %s, cookies %v", res.Status, cookies)
	}
	_, body := do("POST", "/v1/shortlinks", "application/json", `{"long_url":"https://go.dev/"}`)
	if !strings.Contains(body, `"short_url":"`+s.URL+`/s/`) {
		t.Errorf("short link: %s", body)
	}
	plain, err := http.Get("http" + strings.TrimPrefix(s.URL, "https") + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Body.Close()
	if plain.StatusCode != http.StatusBadRequest {
		t.Errorf("HTTP on the port of HTTPS: %s", plain.Status)
	}
	if out, code := Command(t, []string{"health"}, env...); code != 0 {
		t.Errorf("health: %d %s", code, out)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return " error: " + err.Error()
}

// SIGHUP loads a new certificate. Until both files are new, the old one is served.
func TestHangupReloadsCertificate(t *testing.T) {
	t.Parallel()
	files := newTLSFiles(t)
	cert, key := modelstest.Certificate(t, "old.example", time.Now().Add(24*time.Hour))
	newCert, newKey := modelstest.Certificate(t, "new.example", time.Now().Add(24*time.Hour))
	writeFile(t, files.cert, cert)
	writeFile(t, files.key, key)
	s := Start(t, files.env()...)
	served := func() string {
		t.Helper()
		client := trusting(t, cert, newCert)
		res, err := client.Get(s.URL + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		return res.TLS.PeerCertificates[0].Subject.CommonName
	}
	for _, step := range []struct {
		file          string
		content       []byte
		logged, after string
	}{
		{files.cert, newCert, "certificate not reloaded", "old.example"},
		{files.key, newKey, "certificate reloaded", "new.example"},
	} {
		writeFile(t, step.file, step.content)
		s.signal(syscall.SIGHUP)
		modelstest.Eventually(t, step.logged, func() bool { return strings.Contains(s.log(), `"msg":"`+step.logged) })
		if got := served(); got != step.after {
			t.Errorf("%s: the certificate of %s is served, want %s", step.logged, got, step.after)
		}
	}
	for problem, env := range map[string][]string{
		"HTTP_TLS_KEY":   {"HTTP_TLS_CERT=" + files.cert},
		"does not match": {"HTTP_TLS_CERT=" + files.cert, "HTTP_TLS_KEY=" + writeTemp(t, key)},
		"no such file":   {"HTTP_TLS_CERT=" + files.cert, "HTTP_TLS_KEY=/nonexistent"},
	} {
		out, code := Command(t, nil, append(env, storeIn(t), "HTTP_PORT=0")...)
		if code != 1 || !strings.Contains(out, problem) || strings.Contains(out, "PRIVATE") {
			t.Errorf("%s: %d %s", problem, code, out)
		}
	}
}

func writeTemp(t *testing.T, content []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	writeFile(t, file, content)
	return file
}

// SIGHUP never ends the server: not while it starts, here on a locked database, and not while it stops.
func TestHangup(t *testing.T) {
	t.Parallel()
	files, database, log := newTLSFiles(t), filepath.Join(t.TempDir(), "linkwatch.db"), filepath.Join(t.TempDir(), "log")
	// It has expired, which the program logs at start.
	cert, key := modelstest.Certificate(t, "links.example", time.Now().Add(-time.Hour))
	writeFile(t, files.cert, cert)
	writeFile(t, files.key, key)
	unlock := lockFile(t, database)
	out, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	cmd := exec.Command(binary, "serve")
	cmd.Env = environ(append(files.env(), "DATABASE_URL="+database, "HTTP_PORT=0")...)
	cmd.Stdout, cmd.Stderr = out, out
	p, err := launch(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	s := &Server{t: t, cmd: cmd, logFile: log, ended: p.ended}
	logged := func(text string) {
		t.Helper()
		modelstest.Eventually(t, text, func() bool {
			if p.hasEnded() && !strings.Contains(s.log(), text) {
				t.Fatalf("the program has ended: %s\n%s", cmd.ProcessState, s.log())
			}
			return strings.Contains(s.log(), text)
		})
	}
	logged("certificate has expired")
	s.signal(syscall.SIGHUP)
	unlock()
	logged(`"msg":"listening"`)
	logged(`"msg":"certificate reloaded"`)

	s.signal(syscall.SIGTERM)
	logged(`"msg":"stopping"`)
	s.signal(syscall.SIGHUP)
	logged(`"msg":"stopped"`)
	<-p.ended
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d: %s", code, s.log())
	}
}

// lockFile creates an SQLite file that no other program can open until unlock is called.
func lockFile(t *testing.T, file string) (unlock func()) {
	t.Helper()
	db, err := sqlite.Open("file:" + file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	conn, err := db.Conn(t.Context())
	if err == nil {
		_, err = conn.ExecContext(t.Context(), "BEGIN EXCLUSIVE")
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
			t.Error(err)
		}
	}
}

// Without TLS, SIGHUP has nothing to reload and is logged.
func TestHangupWithoutTLS(t *testing.T) {
	t.Parallel()
	s := Start(t)
	s.signal(syscall.SIGHUP)
	modelstest.Eventually(t, "the signal is logged", func() bool {
		return strings.Contains(s.log(), `"msg":"nothing to reload"`)
	})
	if status := s.Call("GET", "/readyz", nil, nil); status != http.StatusOK {
		t.Errorf("/readyz: %d", status)
	}
}
