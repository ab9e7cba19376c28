//go:build !linux

package app

// releasePages does nothing: other systems release pages themselves.
func releasePages() error { return nil }
