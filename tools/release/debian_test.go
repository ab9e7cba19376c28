package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// needs skips the test if a program is missing, except in CI.
func needs(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("skipped: %s is not installed", name)
	}
}

// The packages have the program, the unit, the settings and the license, each with its mode.
func TestDebianContents(t *testing.T) {
	needs(t, "dpkg-deb")
	src := released(t)
	for _, p := range platforms {
		if p.os != "linux" {
			continue
		}
		file := filepath.Join(*dist, src.name(p.arch)+".deb")
		fields := output(t, "dpkg-deb", "-f", file, "Package", "Architecture")
		if fields != "Package: linkwatch\nArchitecture: "+p.arch+"\n" {
			t.Errorf("got %s", fields)
		}
		contents := output(t, "dpkg-deb", "-c", file)
		for path, mode := range map[string]string{
			"./usr/bin/linkwatch":                        "-rwxr-xr-x root/root",
			"./usr/lib/systemd/system/linkwatch.service": "-rw-r--r-- root/root",
			"./usr/share/doc/linkwatch/copyright":        "-rw-r--r-- root/root",
			"./etc/linkwatch/linkwatch.env":              "-rw------- root/root",
		} {
			at := strings.Index(contents, path+"\n")
			line := contents[strings.LastIndex(contents[:max(at, 0)], "\n")+1 : max(at, 0)]
			if !strings.HasPrefix(line, mode) {
				t.Errorf("%s: got %q, want %s", path, line, mode)
			}
		}
		if got := output(t, "dpkg-deb", "-I", file, "conffiles"); got != "/etc/linkwatch/linkwatch.env\n" {
			t.Errorf("conffiles: got %q", got)
		}
	}
}

// The package installs into another root and enables its service. There the program starts as the unit says. Removal
// keeps the settings, and a purge keeps the database.
func TestDebianInstall(t *testing.T) {
	needs(t, "dpkg")
	src, p, root := released(t), host(t), t.TempDir()
	if os.Getuid() != 0 {
		t.Skip("skipped: only root can install packages")
	}
	for _, dir := range []string{"info", "updates"} {
		if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dpkg := func(args ...string) {
		args = append([]string{"--root=" + root, "--force-script-chrootless", "--log=/dev/null"}, args...)
		output(t, "dpkg", args...)
	}
	exists := func(name string) bool {
		_, err := os.Lstat(filepath.Join(root, name))
		return err == nil
	}
	dpkg("-i", filepath.Join(*dist, src.name(p.arch)+".deb"))
	const enabled = "etc/systemd/system/multi-user.target.wants/linkwatch.service"
	if _, err := exec.LookPath("deb-systemd-helper"); err == nil && !exists(enabled) {
		t.Error("the service is not enabled")
	}
	unit := map[string]string{}
	text, err := os.ReadFile(filepath.Join(root, "usr/lib/systemd/system/linkwatch.service"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		unit[name] = value
	}
	start, settings := strings.Fields(unit["ExecStart"]), strings.TrimPrefix(unit["EnvironmentFile"], "-")
	if len(start) == 0 || !exists(start[0]) || !exists(settings) {
		t.Fatalf("the unit has ExecStart=%s and EnvironmentFile=%s", start, settings)
	}
	state := filepath.Join(root, unit["WorkingDirectory"])
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(root, start[0]), start[1:]...)
	cmd.Dir = state
	starts(t, cmd, "LINKWATCH_CONFIG="+filepath.Join(root, settings))
	dpkg("-r", "linkwatch")
	if exists("usr/bin/linkwatch") || !exists("etc/linkwatch/linkwatch.env") {
		t.Error("removal keeps the settings and nothing else")
	}
	dpkg("-P", "linkwatch")
	if exists("etc/linkwatch") || exists(enabled) {
		t.Error("a purge removes the settings")
	}
	if !exists("var/lib/linkwatch/linkwatch.db") {
		t.Error("a purge keeps the database")
	}
}

// The examples in the packaged settings file are settings of the program.
func TestDebianSettings(t *testing.T) {
	src := released(t)
	docs, err := os.ReadFile(filepath.Join(src.dir, "docs/settings.md"))
	if err != nil {
		t.Fatal(err)
	}
	settings, err := os.ReadFile(filepath.Join(src.dir, "tools/release/debian/linkwatch.env"))
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for line := range strings.Lines(string(settings)) {
		if name, _, ok := strings.Cut(strings.TrimPrefix(line, "#"), "="); ok && name == strings.ToUpper(name) {
			count++
			if !strings.Contains(string(docs), "\n| `"+name+"` |") {
				t.Errorf("%s is not a setting", name)
			}
		}
	}
	if count < 5 {
		t.Errorf("got %d settings", count)
	}
}
