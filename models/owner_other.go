//go:build !unix

package models

import "io/fs"

// giveTo does nothing on this system, where files get the permissions of their folder.
func giveTo(string, fs.FileInfo) error { return nil }
