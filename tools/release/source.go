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

// build builds the program for a platform into a folder.
func (s source) build(ctx context.Context, p platform, dir string) (program, error) {
	dockerfile, err := os.ReadFile(filepath.Join(s.dir, "deploy", "Dockerfile"))
	if err != nil {
		return program{}, err
	}
	line := buildLine.FindSubmatch(dockerfile)
	if line == nil {
		return program{}, errors.New("deploy/Dockerfile has no line like " + buildLine.String())
	}
	path := filepath.Join(dir, "linkwatch")
	if p.os == "windows" {
		path += ".exe"
	}
	build := exec.CommandContext(ctx, "sh", "-c", string(line[1])+` -o "$OUT" .`)
	build.Dir = s.dir
	// The same program whatever the go command of the user is set to. -buildvcs=true writes the version into it.
	build.Env = append(os.Environ(), "OUT="+path, "GOOS="+p.os, "GOARCH="+p.arch, "GOFLAGS=-buildvcs=true",
		"GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return program{}, fmt.Errorf("%w\n%s", err, out)
	}
	return program{p, path}, nil
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
