package modelstest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// Redis is a Redis server with TLS and a password.
type Redis struct {
	Plain, TLS string // addresses
	CA         string // file with its certificate
}

// RedisPassword is the password of a Redis server.
const RedisPassword = "right-secret"

// StartRedis starts Redis on free ports of 127.0.0.1 for a test, with additional arguments. Without redis-server it
// skips the test, or fails it in CI.
func StartRedis(t testing.TB, args ...string) Redis {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	switch {
	case err != nil && os.Getenv("CI") == "true":
		t.Fatal("redis-server is not installed")
	case err != nil:
		t.Skip("skipped: redis-server is not installed")
	}
	dir := t.TempDir()
	r := Redis{freeAddress(t), freeAddress(t), filepath.Join(dir, "ca.pem")}
	cert, key := Certificate(t, "redis.example", time.Now().Add(24*time.Hour))
	keyFile := filepath.Join(dir, "key.pem")
	for file, content := range map[string][]byte{r.CA: cert, keyFile: key} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, append([]string{
		"--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", dir, "--logfile", filepath.Join(dir, "log"),
		"--requirepass", RedisPassword, "--port", portOf(r.Plain), "--tls-port", portOf(r.TLS), "--tls-auth-clients", "no",
		"--tls-cert-file", r.CA, "--tls-key-file", keyFile, "--tls-ca-cert-file", r.CA,
	}, args...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	Eventually(t, "Redis listens", func() bool {
		conn, err := net.Dial("tcp", r.TLS)
		return err == nil && conn.Close() == nil
	})
	return r
}

// freeAddress returns an address of this machine on which nothing listens.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // only the number is needed
	return "127.0.0.1:" + strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}
