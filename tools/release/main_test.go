package main

import (
	"os"
	"path/filepath"
	"testing"
)

// A version that users get needs a section with a date in the changelog.
func TestChangelogOfTheVersion(t *testing.T) {
	dir := t.TempDir()
	text := "# Changelog\n\n## [1.1.0] - Unreleased\n\n- More.\n\n## [1.0.0] - 2026-11-29\n\n- All.\n"
	if err := os.WriteFile(filepath.Join(dir, "CHANGELOG.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for version, ok := range map[string]bool{
		"1.0.0": true, "1.1.0": false, "1.0": false, "2.0.0": false, "2.0.0-rc.1": true,
		"0.0.0-20261129060032-3628f4504ed7": true,
	} {
		if err := (source{dir: dir, version: version}).checkChangelog(); (err == nil) != ok {
			t.Errorf("%s: got %v", version, err)
		}
	}
}

// An earlier release is replaced, but no other files.
func TestOtherFilesStay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dist")
	file := filepath.Join(dir, "file")
	if err := emptyFolder(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := emptyFolder(dir); err == nil {
		t.Error("a folder with other files was emptied")
	}
	if _, err := writeSums(dir); err != nil {
		t.Fatal(err)
	}
	if err := emptyFolder(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the earlier release is still there")
	}
}
