package main

import (
	"archive/zip"
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
)

// A second build, from another folder, has the same bytes. The checksums are those of the files.
func TestReleaseIsReproducible(t *testing.T) {
	again := t.TempDir()
	if err := release(t.Context(), "../..", again); err != nil {
		t.Fatal(err)
	}
	want := string(read(t, sumsFile))
	if got, err := os.ReadFile(filepath.Join(again, sumsFile)); err != nil || string(got) != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, got, want)
	}
	if err := os.Remove(filepath.Join(again, sumsFile)); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(want), "\n") {
		_, name, _ := strings.Cut(line, "  ")
		copied := filepath.Join(again, name)
		if err := os.WriteFile(copied, read(t, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := writeSums(again); err != nil || got != want {
		t.Errorf("the files have other checksums: %v\n%s", err, got)
	}
	files, err := os.ReadDir(*dist)
	if err != nil || len(files) != strings.Count(want, "\n")+1 {
		t.Errorf("got %d files, want those of %s: %v", len(files), sumsFile, err)
	}
}

// Each archive has the texts and a static program for its platform. Programs for macOS and Windows are only read.
func TestArchives(t *testing.T) {
	src := released(t)
	for _, p := range platforms {
		files := archiveOf(t, src, p)
		want := []string{"README.md", "LICENSE", "CHANGELOG.md"}
		name := "linkwatch"
		switch p.os {
		case "linux":
			want = append(want, "linkwatch.service")
		case "windows":
			name = "linkwatch.exe"
		}
		for _, text := range append(want, name) {
			if len(files[text]) == 0 {
				t.Errorf("%s has no %s", p, text)
			}
		}
		if len(files) != len(want)+1 {
			t.Errorf("%s has %d files", p, len(files))
		}
		program := files[name]
		if err := headerOf(p, program); err != nil {
			t.Errorf("%s: %v", p, err)
		}
		info, err := buildinfo.Read(bytes.NewReader(program))
		if err != nil {
			t.Fatal(err)
		}
		settings := map[string]string{}
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		for key, value := range map[string]string{
			"GOOS": p.os, "GOARCH": p.arch, "CGO_ENABLED": "0", "-trimpath": "true", "vcs.modified": "false",
			"vcs.revision": src.commit, "vcs.time": src.date.Format(time.RFC3339),
		} {
			if settings[key] != value {
				t.Errorf("%s: %s is %q, want %q", p, key, settings[key], value)
			}
		}
		if info.Main.Version != "v"+src.version {
			t.Errorf("%s: got version %s, want v%s", p, info.Main.Version, src.version)
		}
		checkSBOM(t, src, p, info)
	}
}

// archiveOf returns the files of the archive for a platform by name.
func archiveOf(t *testing.T, src source, p platform) map[string][]byte {
	t.Helper()
	folder, dir, files := src.name(p.String()), t.TempDir(), map[string][]byte{}
	if p.os == "windows" {
		archive, err := zip.OpenReader(filepath.Join(*dist, folder+".zip"))
		if err != nil {
			t.Fatal(err)
		}
		defer archive.Close()
		if err := os.CopyFS(dir, archive); err != nil {
			t.Fatal(err)
		}
	} else {
		unpack(t, gunzip(t, read(t, folder+".tar.gz")), dir)
	}
	entries, err := os.ReadDir(filepath.Join(dir, folder))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, folder, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// headerOf checks by its header that a program is for a platform, and static on Linux.
func headerOf(p platform, program []byte) error {
	r := bytes.NewReader(program)
	switch p.os {
	case "linux":
		f, err := elf.NewFile(r)
		if err != nil {
			return err
		}
		for _, part := range f.Progs {
			if part.Type == elf.PT_INTERP || part.Type == elf.PT_DYNAMIC {
				return fmt.Errorf("it is not static: %s", part.Type)
			}
		}
		if want := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[p.arch]; f.Machine != want {
			return fmt.Errorf("got %s, want %s", f.Machine, want)
		}
	case "darwin":
		f, err := macho.NewFile(r)
		if err != nil {
			return err
		}
		if want := map[string]macho.Cpu{"amd64": macho.CpuAmd64, "arm64": macho.CpuArm64}[p.arch]; f.Cpu != want {
			return fmt.Errorf("got %s, want %s", f.Cpu, want)
		}
	case "windows":
		f, err := pe.NewFile(r)
		if err != nil {
			return err
		}
		want := map[string]uint16{"amd64": pe.IMAGE_FILE_MACHINE_AMD64, "arm64": pe.IMAGE_FILE_MACHINE_ARM64}[p.arch]
		if f.Machine != want {
			return fmt.Errorf("got machine %#x, want %#x", f.Machine, want)
		}
	}
	return nil
}

// checkSBOM checks that the SBOM lists the modules in the program (go version -m), and no others.
func checkSBOM(t *testing.T, src source, p platform, info *debug.BuildInfo) {
	t.Helper()
	var bom cyclonedx.BOM
	data := read(t, src.name(p.String())+".cdx.json")
	if err := cyclonedx.NewBOMDecoder(bytes.NewReader(data), cyclonedx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	want := []string{"std " + info.GoVersion}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		want = append(want, m.Path+" "+m.Version)
	}
	var got []string
	for _, c := range *bom.Components {
		got = append(got, c.Name+" "+c.Version)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || len(want) < 20 {
		t.Errorf("%s: the SBOM has\n%v\nwant\n%v", p, got, want)
	}
	if main := bom.Metadata.Component; main.Name != "linkwatch" || main.Version != "v"+src.version {
		t.Errorf("%s: the SBOM is for %s %s", p, main.Name, main.Version)
	}
}

// The program of the archive starts, and says from which commit it was built.
func TestArchiveStarts(t *testing.T) {
	src, p := released(t), host(t)
	dir := t.TempDir()
	unpack(t, gunzip(t, read(t, src.name(p.String())+".tar.gz")), dir)
	program := filepath.Join(dir, src.name(p.String()), "linkwatch")
	version := output(t, program, "version")
	date := src.date.Format(time.RFC3339)
	want := fmt.Sprintf("linkwatch v%s\ncommit   %s\ndate     %s\n", src.version, src.commit, date)
	if !strings.HasPrefix(version, want) {
		t.Errorf("got %s, want %s", version, want)
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Dir = t.TempDir()
	starts(t, cmd)
}
