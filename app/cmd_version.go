package app

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

func printVersion(_ context.Context, args []string, _ func(string) string, stdout io.Writer) error {
	if err := noArgs("version", args, stdout); err != nil {
		return err
	}
	info, _ := debug.ReadBuildInfo()
	_, err := fmt.Fprintf(stdout, "%s\ngo       %s %s/%s\n",
		buildOf(info), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// version returns the version of the program, as on pages, in the log and in the User-Agent.
func version() string {
	info, _ := debug.ReadBuildInfo()
	return buildOf(info).version
}

// build says what the program was built from. The go command writes it into programs that it builds in a Git
// repository.
type build struct {
	version string // a tag such as v1.2.3, a pseudo-version of Go for other commits, or "devel" if unknown
	commit  string // "" = unknown
	date    string // of the commit, RFC 3339; "" = unknown
}

// buildOf returns what info knows about the program. info may be nil.
func buildOf(info *debug.BuildInfo) build {
	b := build{version: "devel"}
	if info == nil {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.commit = s.Value
		case "vcs.time":
			b.date = s.Value
		}
	}
	return b
}

func (b build) String() string {
	const unknown = "unknown"
	return fmt.Sprintf("linkwatch %s\ncommit   %s\ndate     %s",
		b.version, cmp.Or(b.commit, unknown), cmp.Or(b.date, unknown))
}
