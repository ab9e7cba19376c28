package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// dist is the release under test, which task release has built from the commit that is checked out.
var dist = flag.String("dist", "../../dist", "folder with the release to check")

// patience is how long a test waits for anything before it fails.
const patience = time.Minute

// released returns the source of the release, with its version.
func released(t *testing.T) source {
	t.Helper()
	src, err := cloneSource(t.Context(), "../..", filepath.Join(t.TempDir(), "src"))
	if err != nil {
		t.Fatal(err)
	}
	charts, err := filepath.Glob(filepath.Join(*dist, "linkwatch-*.tgz"))
	if err != nil || len(charts) != 1 {
		t.Fatalf("%s has no release: run task release first: %v", *dist, err)
	}
	src.version = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(charts[0]), "linkwatch-"), ".tgz")
	return src
}

// read returns a file of the release.
func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(*dist, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// gunzip opens a compressed stream.
func gunzip(t *testing.T, data []byte) io.Reader {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// unpack unpacks a tar archive. Only root can set the owners of files.
func unpack(t *testing.T, r io.Reader, dir string) {
	t.Helper()
	in := tar.NewReader(r)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(to, 0o755)
		} else {
			err = writeFile(to, func(w io.Writer) error { _, err := io.Copy(w, in); return err })
		}
		err = errors.Join(err, os.Chmod(to, h.FileInfo().Mode()))
		if os.Getuid() == 0 {
			err = errors.Join(err, os.Lchown(to, h.Uid, h.Gid))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// host is the platform of the tests. They are skipped where no program of the release is started.
func host(t *testing.T) platform {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("skipped: needs Linux")
	}
	return platform{runtime.GOOS, runtime.GOARCH}
}

// starts starts the program on a free port, waits until it is ready, and stops it. env is NAME=value.
func starts(t *testing.T, cmd *exec.Cmd, env ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd.Env = append([]string{"LOG_FORMAT=json"}, append(env, "HTTP_HOST=127.0.0.1", "HTTP_PORT=0")...)
	logs, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var problems bytes.Buffer
	cmd.Stderr = &problems
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	url, seen := "", ""
	lines := bufio.NewScanner(logs)
	for url == "" && lines.Scan() {
		var line struct{ Msg, URL string }
		_ = json.Unmarshal(lines.Bytes(), &line) // other lines have no URL
		url, seen = line.URL, seen+lines.Text()+"\n"
	}
	if url == "" {
		t.Fatalf("the program ended: %v\n%s%s", cmd.Wait(), seen, problems.String())
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("/readyz: got %d", res.StatusCode)
	}
	err = cmd.Process.Signal(syscall.SIGTERM)
	_, _ = io.Copy(io.Discard, logs)
	if err := errors.Join(err, cmd.Wait()); err != nil {
		t.Errorf("stopping: %v\n%s", err, problems.String())
	}
}

// output runs a command and returns what it prints.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", cmd, err, out, problems.String())
	}
	return string(out)
}
