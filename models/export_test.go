package models

import "context"

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
