package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"linkwatch/config"
	"linkwatch/models/accounts"
	"linkwatch/outbound"
)

// The limits of one request on the way in and out. A handler may take longer
// than readTimeout, since that ends when the body is read (middleware.Errors.Body).
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 15 * time.Second // headers and body together
	writeTimeout      = 60 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeader         = 64 << 10 // bytes
)

// serve runs the program until ctx ends, then lets it end in good order within
// SHUTDOWN_GRACE. It is nil then, even if something had to be cut short.
func serve(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) (err error) {
	if err := noArgs(args, stdout); err != nil {
		return err
	}
	cfg, err := config.Load(getenv)
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	if err := checkOpen(ctx, cfg); err != nil {
		return err
	}
	if cfg.BackupDir != "" {
		if err := backupFolder(cfg).CheckDatabase(); err != nil {
			return err
		}
	}
	lines := newLogWriter(stdout)
	defer lines.Close()
	log := newLogger(cfg, stdout, lines)
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
	if err := a.Systems.Accounts.Store.Look(ctx); err != nil {
		return err
	}
	if err := a.runner.Declare(ctx); err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", cfg.Addr())
	if err != nil {
		return err // "listen tcp 127.0.0.1:8080: bind: address already in use" says it all
	}
	if err := a.core.lease.Beat(ctx); err != nil { // services claim from the first moment
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{
		Handler:           a.Router,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug), // strangers' broken connections
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	a.heartbeat.Start()
	a.services.Start()
	a.last.Start()
	log.Info("listening", "address", listener.Addr().String(), "url", "http://"+listener.Addr().String(), "version", version())

	select {
	case err = <-served: // the listener broke
		err = fmt.Errorf("serving: %w", err)
	case <-ctx.Done():
		log.Info("stopping", "grace", cfg.ShutdownGrace.String())
	}
	a.Health.Stopping()
	// What is given up needs a moment to be put away: that is part of the grace too.
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), cfg.ShutdownGrace*9/10)
	defer cancel()
	// Side by side: whoever downloads slowly takes nothing of the time that jobs have to finish.
	var background sync.WaitGroup
	background.Go(func() { a.services.Stop(grace) })
	// Whoever sends requests here sees first that no more are wanted.
	select {
	case <-time.After(cfg.ShutdownGrace / 20):
	case e := <-served: // it broke only now
		err = fmt.Errorf("serving: %w", e)
	}
	if e := server.Shutdown(grace); e != nil {
		log.Warn("requests were cut short", "error", e)
		err = errors.Join(err, server.Close())
	}
	a.last.Stop(grace)
	background.Wait()
	a.heartbeat.Stop(grace)
	log.Info("stopped")
	return err
}

// checkOpen refuses to serve other machines if nobody has to sign in. It changes nothing: only
// if the settings alone do not allow it, it looks for accounts in the database that is there.
func checkOpen(ctx context.Context, cfg config.Config) error {
	refusal := cfg.CheckOpen(false)
	if refusal == nil {
		return nil
	}
	db, err := openExisting(ctx, cfg)
	if err != nil {
		return refusal // without a database there is no account
	}
	store := accounts.NewStore(db, nil, accounts.Options{})
	err = store.Look(ctx) // of an older schema it fails: that has no accounts
	if err := errors.Join(err, db.Close()); err != nil || !store.InUse() {
		return refusal
	}
	return nil
}
