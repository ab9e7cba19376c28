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

// Faults of a database that responds but cannot store changes reliably.
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
	errPooler = &Error{
		Code: CodeUnavailable,
		Detail: "The database is behind a connection pooler that keeps no prepared statements. " +
			"The operator must set default_query_exec_mode=cache_describe in DATABASE_URL and restart the server.",
	}
	errDamaged = &Error{
		Code:   CodeUnavailable,
		Detail: "The database is damaged. Run \"linkwatch check\", restore a backup and restart the server.",
	}
)

// FaultOf returns the fault that caused an error of the database, worded for clients, or nil if there is none.
func FaultOf(err error) *Error {
	if err == nil {
		return nil
	}
	for _, fault := range []*Error{errMoved, errFull, errDisk, errPooler, errDamaged} {
		if errors.Is(err, fault) {
			return fault
		}
	}
	switch {
	case errors.Is(err, sqlite3.FULL),
		errors.Is(err, sqlite3.IOERR_SHMSIZE): // no space for the index of the write-ahead log
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
		case "26000", "42P05": // a prepared statement is missing, or exists already
			return errPooler
		}
	}
	return nil
}

// Damaged reports whether err says that the database is malformed.
func Damaged(err error) bool { return FaultOf(err) == errDamaged }

// final reports whether only a restart of the server can end a fault.
func final(fault *Error) bool { return fault == errDamaged || fault == errPooler }

// probeEvery is the shortest time between two tests of a database with a fault. The routes that trigger them are
// public.
var probeEvery = time.Second

// faults tracks whether the database has a fault that prevents writes. It is safe for concurrent use.
type faults struct {
	log   *slog.Logger
	file  string // of SQLite; "" = none to watch
	real  string // file, or the file that it links to: the write-ahead log is beside it
	main  openFile
	wal   openFile    // the write-ahead log, once it exists
	moved atomic.Bool // one of the files was moved; never reset

	mu      sync.Mutex
	current *Error // errFull, errDisk, errPooler or errDamaged; nil: none
	tried   time.Time
}

// openFile remembers the identity of a file when it was first seen.
type openFile struct{ seen atomic.Pointer[os.FileInfo] }

// inPlace reports whether name still refers to the same file.
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

// watch starts tracking the SQLite file that was just opened.
func (f *faults) watch(file string) error {
	f.main.inPlace(file)
	if f.main.seen.Load() == nil {
		return os.ErrNotExist
	}
	f.file, f.real = file, RealFile(file)
	return nil
}

// checkFile returns errMoved if the open files are not those that the next start would open: SQLite itself
// continues to write to deleted files. The error is final, because connections opened meanwhile may use other
// files.
func (f *faults) checkFile() error {
	if f.file == "" {
		return nil
	}
	if !f.moved.Load() {
		if f.main.inPlace(f.file) && f.wal.inPlace(f.real+"-wal") {
			return nil
		}
		if !f.moved.Swap(true) {
			f.log.Error("database file moved, deleted or replaced", "file", f.file)
		}
	}
	return errMoved
}

// note records the error of a statement or transaction. It returns the error, wrapped in its fault if it has one.
func (f *faults) note(err error) error {
	fault := FaultOf(err)
	if fault == nil || fault == errMoved {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if fault == errDisk && f.file != "" && (f.current == errFull || errors.Is(probeDisk(f.file), syscall.ENOSPC)) {
		fault = errFull // the driver reports both as a failed write
	}
	if f.current != fault && !final(f.current) {
		f.current = fault
		f.log.Error("database fault", "reason", fault.Detail, "error", err)
	}
	f.tried = time.Now()
	return fmt.Errorf("%w: %w", fault, err)
}

// check returns the current fault, if any. After a full or failing disk it calls probe, at most once per
// probeEvery, to find out whether writes work again. Damage and a pooler are final while the program runs.
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
	case final(fault) || !due || probe(ctx) != nil:
		return fault
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current == fault {
		f.current = nil
		f.log.Info("database is writable again")
	}
	return nil
}
