package app

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
)

func printVersion(_ context.Context, args []string, _ func(string) string, stdout io.Writer) error {
	if err := noArgs("version", args, stdout); err != nil {
		return err
	}
	_, err := fmt.Fprintln(stdout, "linkwatch", version())
	return err
}

// version returns the version that the Go toolchain wrote into the program: a tag or a revision.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(12, len(s.Value))]
		}
	}
	return "devel"
}
