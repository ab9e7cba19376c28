package models

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// The faults of a database that answers but cannot be trusted with writes.
// Each is CodeUnavailable: what a client sends now is not stored.
var (
	errMoved = &Error{
		Code:   CodeUnavailable,
		Detail: "The database file was moved, deleted or replaced. Nothing can be stored until the operator restores it and restarts the server.",
	}
	errFull = &Error{
		Code:   CodeUnavailable,
		Detail: "The database has no disk space left. Nothing can be stored until there is some.",
	}
	errDisk = &Error{
		Code:   CodeUnavailable,
		Detail: "The disk of the database reports errors. Nothing can be stored until it works again.",
	}
	errDamaged = &Error{
		Code:   CodeUnavailable,
		Detail: "The database is damaged. Run \"linkwatch check\", restore a backup and restart the server.",
	}
)

// FaultOf is the fault that an error of the database tells of, worded for
// clients; nil: it tells of none.
func FaultOf(err error) *Error {
	if err == nil {
		return nil
	}
	for _, fault := range []*Error{errMoved, errFull, errDisk, errDamaged} {
		if errors.Is(err, fault) {
			return fault
		}
	}
	switch {
	case errors.Is(err, sqlite3.FULL),
		errors.Is(err, sqlite3.IOERR_SHMSIZE): // no room for the index of the write-ahead log
		return errFull
	case errors.Is(err, sqlite3.IOERR):
		return errDisk
	case errors.Is(err, sqlite3.CORRUPT), errors.Is(err, sqlite3.NOTADB):
		return errDamaged
	}
	if pg, ok := errors.AsType[postgresError](err); ok {
		switch pg.SQLState() {
		case "53100": // disk_full
			return errFull
		case "XX001", "XX002": // data_corrupted, index_corrupted
			return errDamaged
		case "58030": // io_error
			return errDisk
		}
	}
	return nil
}

// Damaged reports whether err says that the database is malformed.
func Damaged(err error) bool { return FaultOf(err) == errDamaged }

// probeEvery is how often a database with a fault is tried again at most: the
// routes that ask are public.
var probeEvery = time.Second

// faults knows why a database cannot be trusted with writes, if so, since when
// a statement showed it. It is safe for concurrent use.
type faults struct {
	log   *slog.Logger
	file  string // of SQLite; "": there is none to look after
	main  openFile
	wal   openFile    // the write-ahead log beside it, once there is one
	moved atomic.Bool // one of them is no longer in its place; stays true

	mu      sync.Mutex
	current *Error // errFull, errDisk or errDamaged; nil: none
	tried   time.Time
}

// openFile is a file as it was when it was first seen under its name.
type openFile struct{ seen atomic.Pointer[os.FileInfo] }

// inPlace reports whether a name still stands for the file.
func (o *openFile) inPlace(name string) bool {
	now, err := os.Stat(name)
	if seen := o.seen.Load(); seen != nil {
		return err == nil && os.SameFile(now, *seen)
	}
	if err == nil {
		o.seen.CompareAndSwap(nil, &now)
	}
	return true
}

// watch looks after the SQLite file that has just been opened.
func (f *faults) watch(file string) error {
	f.main.inPlace(file)
	if f.main.seen.Load() == nil {
		return os.ErrNotExist
	}
	f.file = file
	return nil
}

// checkFile returns errMoved unless the files that are open are those that the
// next start will open: SQLite itself goes on writing to deleted files. It is
// final, because connections that are opened meanwhile may have other files.
func (f *faults) checkFile() error {
	if f.file == "" {
		return nil
	}
	if !f.moved.Load() {
		if f.main.inPlace(f.file) && f.wal.inPlace(f.file+"-wal") {
			return nil
		}
		if !f.moved.Swap(true) {
			f.log.Error("database file moved, deleted or replaced", "file", f.file)
		}
	}
	return errMoved
}

// note takes in the error of a statement or transaction and returns it, in the
// words of the fault that it tells of.
func (f *faults) note(err error) error {
	fault := FaultOf(err)
	if fault == nil || fault == errMoved {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if fault == errDisk && f.file != "" && (f.current == errFull || errors.Is(tryFile(f.file), syscall.ENOSPC)) {
		fault = errFull // the driver says of both that a write failed
	}
	if f.current != fault && f.current != errDamaged {
		f.current = fault
		f.log.Error("database fault", "reason", fault.Detail, "error", err)
	}
	f.tried = time.Now()
	return fmt.Errorf("%w: %w", fault, err)
}

// check returns the fault that the database has. A full or failing disk is
// tried again with probe, at most once per probeEvery; damage does not heal
// while the program runs.
func (f *faults) check(ctx context.Context, probe func(context.Context) error) error {
	if err := f.checkFile(); err != nil {
		return err
	}
	f.mu.Lock()
	fault, due := f.current, time.Since(f.tried) >= probeEvery
	if due {
		f.tried = time.Now()
	}
	f.mu.Unlock()
	switch {
	case fault == nil:
		return nil
	case fault == errDamaged || !due || probe(ctx) != nil:
		return fault
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current == fault {
		f.current = nil
		f.log.Info("database can be written again")
	}
	return nil
}
