//go:build !unix

package models

import "io/fs"

// giveTo does nothing: files get the permissions of their folder here.
func giveTo(string, fs.FileInfo) error { return nil }
