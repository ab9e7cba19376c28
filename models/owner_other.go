//go:build !unix

package models

import "io/fs"

// chownLike does nothing on this system, where files get the permissions of their folder.
func chownLike(string, fs.FileInfo) error { return nil }
