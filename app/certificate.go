package app

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"linkwatch/config"
	"linkwatch/jobs"
)

const (
	// certificateInterval is how often the files of the certificate are compared with the certificate in use.
	certificateInterval = time.Minute
	maxPEM              = 1 << 20 // bytes of a file
)

// certificate is the TLS certificate of the server. Connections may use it while one goroutine reloads it.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger
	current           atomic.Pointer[tls.Certificate]
	tried             [sha256.Size]byte // of the files that were read last
	failure           string            // the last one, so that it is logged once
	warned            bool              // that it is not valid now
}

// loadCertificate loads the files HTTP_TLS_CERT and HTTP_TLS_KEY. Without them it returns nil.
func loadCertificate(cfg config.Config, log *slog.Logger) (*certificate, error) {
	if cfg.HTTPTLSCert == "" {
		return nil, nil
	}
	c := &certificate{certFile: cfg.HTTPTLSCert, keyFile: cfg.HTTPTLSKey, log: log}
	if _, err := c.load(); err != nil {
		return nil, err
	}
	c.warnInvalid(time.Now())
	return c, nil
}

// tlsConfig returns the settings of connections. Each uses the certificate that was loaded last.
func (c *certificate) tlsConfig() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current.Load(), nil },
	}
}

// load reads the files, unless they are those of the last call. After an error, the certificate in use stays: one file
// may have been replaced before the other. The error has no part of the files.
func (c *certificate) load() (changed bool, err error) {
	cert, err := readPEM("HTTP_TLS_CERT", c.certFile)
	if err != nil {
		return false, err
	}
	key, err := readPEM("HTTP_TLS_KEY", c.keyFile)
	if err != nil {
		return false, err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", cert, key))
	if sum == c.tried && c.failure == "" {
		return false, nil
	}
	c.tried = sum
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return false, fmt.Errorf("HTTP_TLS_CERT and HTTP_TLS_KEY are not a certificate and its private key: %w", err)
	}
	c.current.Store(&pair)
	c.warned = false
	return true, nil
}

// reload loads changed files and logs the result. Without asked, it logs only what is new.
func (c *certificate) reload(asked bool) {
	changed, err := c.load()
	switch {
	case err == nil:
		c.failure = ""
		if changed || asked {
			c.log.Info("certificate reloaded", "changed", changed, "expires_at", c.current.Load().Leaf.NotAfter.UTC())
		}
	case asked || err.Error() != c.failure:
		c.failure = err.Error()
		c.log.Warn("certificate not reloaded, the old one stays in use", "error", err)
	}
	c.warnInvalid(time.Now())
}

// warnInvalid logs once that the certificate is not valid at a time.
func (c *certificate) warnInvalid(now time.Time) {
	switch leaf := c.current.Load().Leaf; {
	case c.warned:
	case now.After(leaf.NotAfter):
		c.warned = true
		c.log.Warn("certificate has expired", "file", c.certFile, "expired_at", leaf.NotAfter.UTC())
	case now.Before(leaf.NotBefore):
		c.warned = true
		c.log.Warn("certificate is not valid yet", "file", c.certFile, "valid_from", leaf.NotBefore.UTC())
	}
}

// readPEM reads the file of a setting.
func readPEM(setting, file string) (content []byte, err error) {
	f, err := os.Open(file) //nolint:gosec // the operator names the file
	if err == nil {
		content, err = io.ReadAll(io.LimitReader(f, maxPEM))
		err = errors.Join(err, f.Close())
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	if err != nil {
		return nil, fmt.Errorf("%s=%q cannot be read: %w", setting, file, err)
	}
	return content, nil
}

// newReloader returns a Service that reloads the certificate when its files change and at each SIGHUP, which hangups
// receives. c is nil without TLS.
func newReloader(c *certificate, hangups <-chan os.Signal, log *slog.Logger) jobs.Service {
	return jobs.NewBackground(func(taking, _ context.Context) {
		ticks := time.NewTicker(certificateInterval)
		defer ticks.Stop()
		for {
			asked := false
			select {
			case <-taking.Done():
				return
			case <-hangups:
				asked = true
			case <-ticks.C:
			}
			switch {
			case c != nil:
				c.reload(asked)
			case asked:
				log.Info("nothing to reload", "reason", "HTTP_TLS_CERT is not set. Settings are read only at start")
			}
		}
	})
}
