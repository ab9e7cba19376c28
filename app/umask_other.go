//go:build !unix

package app

// setUmask does nothing on this system, where files get the permissions of their folder.
func setUmask() {}
