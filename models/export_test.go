package models

import (
	"context"
	"errors"
	"strings"
	"time"
)

// LockMigrations is the lock that migrations take.
const LockMigrations = lockMigrations

// MaxMigration sets the limit of the wait for another instance that migrates.
func MaxMigration(limit time.Duration) (undo func()) {
	before := maxMigration
	maxMigration = limit
	return func() { maxMigration = before }
}

// Revert is MigrateDown that reverts baselines too, and everything if steps is 0.
func (db *DB) Revert(ctx context.Context, steps int) error { return db.revert(ctx, steps, 0) }

// RunMigration runs a script as the migration to the next version.
func (db *DB) RunMigration(ctx context.Context, script string) error {
	pool, err := db.writer()
	if err != nil {
		return err
	}
	drv := &migrationDriver{ctx: ctx, engine: db.Engine, pool: pool, log: db.faults.log}
	have, _, err := drv.Version()
	return errors.Join(err, drv.SetVersion(have+1, true), drv.Run(strings.NewReader(script)))
}

// ServerProblems returns the problems of a PostgreSQL server with a version.
func ServerProblems(version string, number int) []string {
	return postgresServer{Version: version, VersionNum: number, Encoding: "UTF8", SchemaName: "public", MayCreate: true}.problems(true)
}

// ProbeAtOnce lets a database with a fault be tried again at each look.
func ProbeAtOnce() (undo func()) {
	before := probeEvery
	probeEvery = 0
	return func() { probeEvery = before }
}

// VerifyFile examines a file as Restore does.
func VerifyFile(ctx context.Context, file string) (schema int, err error) {
	return verify(ctx, file, fullCheck)
}

// SmallWritesWaiting returns the number of calls of WriteSmall that wait for the writer.
func (db *DB) SmallWritesWaiting() int {
	db.small.mu.Lock()
	defer db.small.mu.Unlock()
	return len(db.small.waiting)
}
