package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// source is a commit, and what its files are called.
type source struct {
	dir     string    // a clone with nothing but the files of the commit
	commit  string    // its full hash
	date    time.Time // of the commit, the time of all files of the release
	version string    // without the v of its tag, such as 1.2.3; known when a program is built
}

// program is a built program of the release.
type program struct {
	platform
	path string
}

// platform is an operating system and an architecture, as Go names them.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "_" + p.arch }

var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

// cloneSource clones the commit that is checked out in root into dir, with all tags. Files that are not committed are
// not in a release, and the go command writes the version into programs only if it finds a folder .git.
func cloneSource(ctx context.Context, root, dir string) (source, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return source{}, err
	}
	clone := exec.CommandContext(ctx, "git", "clone", "--quiet", "--shared", root, dir)
	if out, err := clone.CombinedOutput(); err != nil {
		return source{}, fmt.Errorf("git clone: %w\n%s", err, out)
	}
	out, err := exec.CommandContext(ctx, "git", "-C", dir, "log", "-1", "--format=%H %ct").Output()
	if err != nil {
		return source{}, fmt.Errorf("git log: %w", err)
	}
	commit, seconds, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	return source{dir: dir, commit: commit, date: time.Unix(unix, 0).UTC()}, err
}

// buildLine is the build of deploy/Dockerfile, the one place that has the flags and tags of a release.
var buildLine = regexp.MustCompile(`(?m)^RUN (CGO_ENABLED=0 go build .*) -o /out/linkwatch \.`)

// buildAll builds the program for all platforms, into one folder per platform.
func (s source) buildAll(ctx context.Context, dir string) (programs []program, err error) {
	dockerfile, err := os.ReadFile(filepath.Join(s.dir, "deploy", "Dockerfile"))
	if err != nil {
		return nil, err
	}
	line := buildLine.FindSubmatch(dockerfile)
	if line == nil {
		return nil, errors.New("deploy/Dockerfile has no line like " + buildLine.String())
	}
	for _, p := range platforms {
		path := filepath.Join(dir, p.String(), "linkwatch")
		if p.os == "windows" {
			path += ".exe"
		}
		build := exec.CommandContext(ctx, "sh", "-c", string(line[1])+` -o "$OUT" .`)
		build.Dir = s.dir
		// The version is written into the program. Settings of the user must not change it.
		build.Env = append(os.Environ(), "OUT="+path, "GOOS="+p.os, "GOARCH="+p.arch, "GOFLAGS=-buildvcs=true",
			"GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off")
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("building for %s: %w\n%s", p, err, out)
		}
		programs = append(programs, program{p, path})
	}
	return programs, nil
}

// versionOf returns the version that the go command wrote into a program: a tag, or a pseudo-version of Go for a commit
// without a tag.
func versionOf(path, commit string) (string, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return "", err
	}
	version, ok := strings.CutPrefix(info.Main.Version, "v")
	if !ok || strings.HasSuffix(version, "+dirty") {
		return "", fmt.Errorf("the go command wrote the version %q for commit %s", info.Main.Version, commit)
	}
	return version, nil
}
