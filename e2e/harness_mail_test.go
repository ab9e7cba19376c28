//go:build e2e

package e2e

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http/httptest"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"linkwatch/models/modelstest"
)

// exim is a mail server that keeps all mails. It offers STARTTLS on one port and uses TLS from the start on another,
// and takes logins only with TLS.
type exim struct {
	dir              string
	ca               string // PEM file of its certificate
	starttls, direct int    // ports
}

const eximConfig = `
primary_hostname = mail.example.com
spool_directory = %[1]s
log_file_path = %[1]s/%%slog
pid_file_path = %[1]s/pid
exim_user = mail
exim_group = mail
keep_environment =
tls_advertise_hosts = *
tls_certificate = %[1]s/cert.pem
tls_privatekey = %[1]s/key.pem
tls_on_connect_ports = %[3]d
local_interfaces = 127.0.0.1
daemon_smtp_ports = %[2]d : %[3]d
auth_advertise_hosts = ${if eq{$tls_in_cipher}{}{}{*}}
acl_smtp_rcpt = accept authenticated = *
begin routers
all:
  driver = accept
  transport = file
begin transports
file:
  driver = appendfile
  directory = %[1]s/mail
  user = mail
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = ${if and{{eq{$auth2}{linkwatch}}{eq{$auth3}{secret}}}}
  server_set_id = $auth2
`

// newExim starts exim, which only root can, and ends it with the test.
func newExim(t *testing.T) *exim {
	t.Helper()
	program, err := exec.LookPath("exim4")
	if err != nil || os.Getuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("exim4 is not installed, or this is not root")
		}
		t.Skip("skipped: exim4 is not installed (package exim4-daemon-light), or this is not root")
	}
	// Not t.TempDir: only root may enter its parent, and exim stores mails as the user mail.
	dir, err := os.MkdirTemp("", "linkwatch-mail-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	x := &exim{dir: dir, ca: filepath.Join(dir, "cert.pem"), starttls: freePort(t), direct: freePort(t)}
	web := httptest.NewTLSServer(nil) // for its certificate for 127.0.0.1
	web.Close()
	pair := web.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"cert.pem": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}),
		"key.pem":  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
		"conf":     fmt.Appendf(nil, eximConfig, dir, x.starttls, x.direct),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{dir, filepath.Join(dir, "mail")} {
		_ = os.Mkdir(folder, 0o777) // the first one exists
		if err := os.Chmod(folder, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-C", filepath.Join(dir, "conf"), "-bdf")
	cmd.Stdout, cmd.Stderr = out, out
	server, err := launch(cmd)
	_ = out.Close() // the process has its own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.end(syscall.SIGTERM)
		if t.Failed() {
			for _, name := range []string{"out", "mainlog", "paniclog"} {
				text, _ := os.ReadFile(filepath.Join(dir, name))
				t.Logf("exim wrote to %s:\n%s", name, text)
			}
		}
	})
	modelstest.Eventually(t, "exim listens", func() bool {
		if server.hasEnded() {
			t.Fatal("exim ended")
		}
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", x.direct))
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	return x
}

// url returns the URL of a channel on a port.
func (x *exim) url(port int, query string) string {
	const addresses = "from=linkwatch@example.com&to=anna@example.com"
	return fmt.Sprintf("smtp://linkwatch:secret@127.0.0.1:%d/?%s&%s", port, addresses, query)
}

// mails waits for n mails and returns them by their id, oldest first.
func (x *exim) mails(t *testing.T, n int) (all []*mail.Message) {
	t.Helper()
	modelstest.Eventually(t, fmt.Sprintf("%d mails arrive", n), func() bool {
		all = nil
		found, _ := filepath.Glob(filepath.Join(x.dir, "mail", "q*")) // files that are not complete have other names
		for _, path := range found {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			m, err := mail.ReadMessage(bytes.NewReader(raw))
			if err != nil {
				t.Fatalf("%v: %s", err, raw)
			}
			all = append(all, m)
		}
		return len(all) >= n
	})
	slices.SortFunc(all, func(a, b *mail.Message) int {
		return strings.Compare(a.Header.Get("Message-Id"), b.Header.Get("Message-Id"))
	})
	return all
}
