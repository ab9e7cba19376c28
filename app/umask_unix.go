//go:build unix

package app

import "syscall"

// setUmask makes all files that this process creates private to its user. SQLite's driver creates the index of the
// write-ahead log (-shm) with the mode of the umask, and does so again later, so setting modes afterward is not enough.
func setUmask() { syscall.Umask(0o077) }
