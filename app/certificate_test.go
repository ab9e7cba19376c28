package app

import (
	"crypto/tls"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"linkwatch/config"
	"linkwatch/models/modelstest"
)

// pair is a certificate and its key.
type pair struct{ cert, key []byte }

func newPair(t *testing.T, name string, to time.Time) pair {
	t.Helper()
	cert, key := modelstest.Certificate(t, name, to)
	return pair{cert, key}
}

// tlsFiles are the files of the settings.
type tlsFiles struct{ cert, key string }

func newTLSFiles(t *testing.T) tlsFiles {
	t.Helper()
	dir := t.TempDir()
	return tlsFiles{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
}

func put(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (f tlsFiles) load(t *testing.T) (*certificate, *modelstest.Log, error) {
	t.Helper()
	log := modelstest.NewLog(t)
	cfg := config.Config{HTTPTLSCert: f.cert, HTTPTLSKey: f.key}
	c, err := loadCertificate(cfg, slog.New(slog.NewJSONHandler(log, nil)))
	return c, log, err
}

// name returns the name in the certificate of new connections.
func (c *certificate) name(t *testing.T) string {
	t.Helper()
	served, err := c.tlsConfig().GetCertificate(&tls.ClientHelloInfo{})
	if err != nil {
		t.Fatal(err)
	}
	return served.Leaf.Subject.CommonName
}

func TestCertificateErrors(t *testing.T) {
	one, two := newPair(t, "one.example", time.Now().Add(time.Hour)), newPair(t, "two.example", time.Now().Add(time.Hour))
	for problem, given := range map[string]pair{
		"does not match": {one.cert, two.key}, "key input": {one.cert, nil}, "certificate input": {nil, one.key},
		"cannot be read": {},
	} {
		files := newTLSFiles(t)
		if problem != "cannot be read" {
			put(t, files.cert, given.cert)
			put(t, files.key, given.key)
		}
		_, _, err := files.load(t)
		if err == nil || !strings.Contains(err.Error(), problem) || !strings.Contains(err.Error(), "HTTP_TLS_CERT") {
			t.Errorf("%s: %v", problem, err)
		}
	}
	if c, err := loadCertificate(config.Config{}, nil); c != nil || err != nil {
		t.Error("without the settings there is a certificate", err)
	}
}

// Changed files are loaded within a minute. While they do not belong together, the old certificate is served.
func TestCertificateIsReloaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		later := time.Now().Add(90 * time.Minute)
		one, two := newPair(t, "one.example", later), newPair(t, "two.example", later.Add(time.Hour))
		files := newTLSFiles(t)
		put(t, files.cert, one.cert)
		put(t, files.key, one.key)
		c, log, err := files.load(t)
		if err != nil {
			t.Fatal(err)
		}
		hangups := make(chan os.Signal, 1)
		service := newReloader(c, hangups, c.log)
		service.Start()
		defer service.Stop(t.Context())
		after := func(wait time.Duration, name, logged string, count int) {
			t.Helper()
			time.Sleep(wait)
			synctest.Wait()
			if got := c.name(t); got != name || log.Count(logged) != count {
				t.Errorf("%s is served; %q is logged %d times, want %s and %d", got, logged, log.Count(logged), name, count)
			}
		}
		after(2*certificateInterval, "one.example", "certificate", 0)
		put(t, files.cert, two.cert)
		after(3*certificateInterval, "one.example", "not reloaded", 1)
		hangups <- os.Interrupt
		after(0, "one.example", "not reloaded", 2)
		put(t, files.key, two.key)
		after(certificateInterval, "two.example", `"certificate reloaded"`, 1)
		hangups <- os.Interrupt
		after(0, "two.example", `"changed":false`, 1)
		after(3*time.Hour, "two.example", "has expired", 1)
		if err := os.Remove(files.key); err != nil {
			t.Fatal(err)
		}
		after(2*certificateInterval, "two.example", "cannot be read", 1)
	})
}

func TestExpiredCertificate(t *testing.T) {
	now := time.Now()
	for problem, to := range map[string]time.Time{"has expired": now.Add(-time.Hour), "not valid yet": now.Add(72 * time.Hour)} {
		files, given := newTLSFiles(t), newPair(t, "one.example", to)
		put(t, files.cert, given.cert)
		put(t, files.key, given.key)
		if c, log, err := files.load(t); err != nil || c == nil || log.Count(problem) != 1 {
			t.Errorf("%s: %v", problem, err)
		}
	}
}
