package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"linkwatch/config"
	"linkwatch/jobs"
	"linkwatch/models/accounts"
	"linkwatch/outbound"
)

// Limits of a request. A handler may run longer than readTimeout, which ends when the body is read (middleware.Errors.Body).
const (
	readHeaderTimeout = 5 * time.Second  // also of a TLS handshake
	readTimeout       = 15 * time.Second // headers and body together
	writeTimeout      = 60 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
)

// serve runs the server until ctx ends, then stops it within SHUTDOWN_GRACE. It returns nil then, even if requests or jobs were
// canceled. SIGHUP reloads the TLS certificate.
func serve(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) (err error) {
	// It is never undone, so that SIGHUP does not end the program while it starts, stops or exits.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	if err := noArgs("serve", args, stdout); err != nil {
		return err
	}
	cfg, from, err := config.LoadSources(getenv)
	if err != nil {
		return fmt.Errorf("invalid setting: %w", err)
	}
	if err := checkOpen(ctx, cfg); err != nil {
		return err
	}
	if cfg.BackupDir != "" {
		if err := backupFolder(cfg).CheckDatabase(); err != nil {
			return err
		}
	}
	logs := newLogWriter(stdout)
	defer logs.Close()
	log := newLogger(cfg, stdout, logs)
	if len(from.Exposed) > 0 {
		log.Warn("every user of this machine can read secrets in the settings file",
			"file", getenv(config.FileVariable), "settings", from.Exposed)
	}
	cert, err := loadCertificate(cfg, log)
	if err != nil {
		return err
	}
	db, err := openStore(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer closeStore(db, &err)
	secrets, err := newSecretBox(cfg)
	if err != nil {
		return err
	}
	outbound.GuardDefault(cfg.OutboundAllowCIDRs)
	a, err := New(Options{Config: cfg, DB: db, Log: log, Secrets: secrets})
	if err != nil {
		return err
	}
	defer a.Close()
	if err := a.Systems.Accounts.Store.RefreshInUse(ctx); err != nil {
		return err
	}
	if err := a.runner.Declare(ctx); err != nil {
		return err
	}
	stopPprof, err := startPprof(ctx, cfg.PprofPort)
	if err != nil {
		return err
	}
	defer stopPprof()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", cfg.Addr())
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w: set HTTP_PORT to another port, or stop the program that uses it", err)
	}
	if err != nil {
		return err // such as "listen tcp 127.0.0.1:80: bind: permission denied"
	}
	beat := a.core.lease.Beat(ctx) // services claim as soon as they start
	if id, _, _ := a.core.lease.Current(); id == "" {
		return errors.Join(beat, listener.Close())
	}
	if beat != nil { // other instances were not checked; the next heartbeat checks them
		jobs.LogError(log, "heartbeat failed", beat)
	}
	server := &http.Server{
		Handler:           a.Router,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug), // mostly broken connections of clients
	}
	serveHTTP := server.Serve
	if cert != nil {
		server.TLSConfig = cert.tlsConfig()
		serveHTTP = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	served := make(chan error, 1)
	go func() { served <- serveHTTP(listener) }()
	a.services = append(a.services, newReloader(cert, hangups, log))
	a.heartbeat.Start()
	a.services.Start()
	a.last.Start()
	address := listener.Addr().String()
	log.Info("listening", "address", address, "url", cfg.Scheme()+"://"+address, "version", version())
	defer runtime.KeepAlive(newBallast())
	debug.FreeOSMemory() // a third of the heap is garbage of the startup
	if err := releasePages(); err != nil {
		log.Debug("pages of the program not released", "error", err)
	}

	select {
	case err = <-served: // the listener failed
		err = fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
		log.Info("stopping", "grace", cfg.ShutdownGrace.String())
	}
	a.Health.Stopping()
	// The last tenth is for services to clean up after their work is canceled.
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), cfg.ShutdownGrace*9/10)
	defer cancel()
	// Jobs stop while requests finish, so a slow download takes no time from them.
	var background sync.WaitGroup
	background.Go(func() { a.services.Stop(grace) })
	// Load balancers see /readyz fail before the listener closes.
	select {
	case <-time.After(cfg.ShutdownGrace / 20):
	case e := <-served:
		err = fmt.Errorf("serve: %w", e)
	}
	if e := server.Shutdown(grace); e != nil {
		log.Warn("requests canceled at shutdown", "error", e)
		err = errors.Join(err, server.Close())
	}
	a.last.Stop(grace)
	background.Wait()
	a.heartbeat.Stop(grace)
	log.Info("stopped")
	return err
}

// ballastBytes is the size of the ballast. The heap grows by as much more before each garbage collection.
const ballastBytes = 16 << 20

// newBallast returns memory that counts as part of the heap. It is never touched, so it takes no memory itself. Without
// it, a busy server with a small heap spends a tenth of its CPU time on garbage collection, with it a third of that. A
// higher GOGC would also let large heaps grow. With GOMEMLIMIT there is no ballast, because that counts it as memory.
func newBallast() []byte {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return nil
	}
	return make([]byte, ballastBytes)
}

// checkOpen returns an error if the server would be open to other machines without a login. If the settings do not decide that,
// it looks for accounts in an existing database. It changes nothing.
func checkOpen(ctx context.Context, cfg config.Config) error {
	openErr := cfg.CheckOpen(false)
	if openErr == nil {
		return nil
	}
	db, err := openExisting(ctx, cfg)
	if err != nil {
		return openErr // no database, so no accounts
	}
	store := accounts.NewStore(db, nil, accounts.Options{})
	err = store.RefreshInUse(ctx) // fails for an older schema, which has no accounts
	if err := errors.Join(err, db.Close()); err != nil || !store.InUse() {
		return openErr
	}
	return nil
}
