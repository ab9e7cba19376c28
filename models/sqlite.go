package models

import (
	"log/slog"
	"net/url"
	"runtime"
	"strings"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
)

// sqlitePragmas are set on every connection. WAL lets readers go on while one
// writes; synchronous NORMAL makes a commit survive the death of the process
// (not of the machine's power in that second); both from seed 002, ADR-001.
var sqlitePragmas = []string{
	"busy_timeout(30000)",
	"journal_mode(WAL)",
	"synchronous(NORMAL)",
	"foreign_keys(ON)",
	"temp_store(MEMORY)",
}

func (db *DB) openSQLite(file string, log *slog.Logger) error {
	var err error
	// The writer's cache (16 MB) holds what a bulk store changes until it commits.
	if db.write, err = gorm.Open(sqlite.Open(sqliteDSN(file, "cache_size(-16000)")), gormConfig(log)); err != nil {
		return err
	}
	pool, err := db.write.DB()
	if err != nil {
		return err
	}
	pool.SetMaxOpenConns(1)

	if db.read, err = gorm.Open(sqlite.Open(sqliteDSN(file, "query_only(ON)")), gormConfig(log)); err != nil {
		return err
	}
	if pool, err = db.read.DB(); err != nil {
		return err
	}
	// A reader is bound by the CPU, so more than a few only cost memory.
	n := max(4, runtime.NumCPU())
	pool.SetMaxOpenConns(n)
	pool.SetMaxIdleConns(n)
	return nil
}

// sqliteDSN adds what every connection needs to the file's own options.
func sqliteDSN(file string, pragmas ...string) string {
	file = strings.TrimPrefix(strings.TrimPrefix(file, "sqlite://"), "sqlite:")
	file, query, _ := strings.Cut(strings.TrimPrefix(file, "file:"), "?")
	opts, err := url.ParseQuery(query)
	if err != nil {
		opts = url.Values{}
	}
	opts.Set("_txlock", "immediate") // take the write lock first: no deadlock on upgrade
	for _, p := range append(sqlitePragmas, pragmas...) {
		opts.Add("_pragma", p)
	}
	return "file:" + (&url.URL{Path: file}).EscapedPath() + "?" + opts.Encode()
}
