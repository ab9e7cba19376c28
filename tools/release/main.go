// Command release builds the files of a release from the commit that is checked out: archives, Debian packages, the
// image, the Helm chart, SBOMs and checksums. The same commit and the same Go version give the same bytes.
//
//	go -C tools/release run . [-out DIR]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	out := flag.String("out", "../../dist", "folder for the files; an earlier release in it is replaced")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := release(ctx, "../..", *out); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release writes the release of the commit that is checked out in the repository root to the folder out.
func release(ctx context.Context, root, out string) error {
	tmp, err := os.MkdirTemp("", "linkwatch-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	src, err := cloneSource(ctx, root, filepath.Join(tmp, "src"))
	if err != nil {
		return err
	}
	var programs []program
	for _, p := range platforms {
		built, err := src.build(ctx, p, filepath.Join(tmp, "bin", p.String()))
		if err != nil {
			return fmt.Errorf("building for %s: %w", p, err)
		}
		programs = append(programs, built)
		if src.version != "" {
			continue
		}
		if src.version, err = versionOf(built.path, src.commit); err != nil {
			return err
		}
		if err := src.checkChangelog(); err != nil { // before all other programs are built
			return err
		}
	}
	if err := emptyFolder(out); err != nil {
		return err
	}
	for _, p := range programs {
		if err := errors.Join(src.writeArchive(p, out), src.writeSBOM(p, out)); err != nil {
			return fmt.Errorf("%s: %w", p.platform, err)
		}
		if p.os == "linux" {
			if err := src.writeDebian(p, tmp, out); err != nil {
				return fmt.Errorf("package for %s: %w", p.platform, err)
			}
		}
	}
	if err := src.writeImage(programs, tmp, out); err != nil {
		return fmt.Errorf("image: %w", err)
	}
	if err := src.writeChart(out); err != nil {
		return fmt.Errorf("chart: %w", err)
	}
	sums, err := writeSums(out)
	fmt.Printf("Linkwatch %s in %s:\n%s", src.version, filepath.Clean(out), sums)
	return err
}

// emptyFolder makes an empty folder. It removes only an earlier release: files that the checksums list, and these.
func emptyFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(dir, sumsFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if e.Name() != sumsFile && !strings.Contains(string(sums), "  "+e.Name()+"\n") || !e.Type().IsRegular() {
			return fmt.Errorf("%s has %s, which is not of an earlier release: choose another folder", dir, e.Name())
		}
	}
	return errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755))
}

// checkChangelog checks that the changelog has a section for the version, with a date. Prereleases need none. A commit
// without a tag needs none either: its pseudo-version looks like a prerelease.
func (s source) checkChangelog() error {
	if strings.Contains(s.version, "-") {
		return nil
	}
	changelog, err := os.ReadFile(filepath.Join(s.dir, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	heading := "## [" + s.version + "] - "
	if !strings.Contains(string(changelog), "\n"+heading+"20") { // the year of a date
		return fmt.Errorf("CHANGELOG.md has no section %q with the date of the release", heading)
	}
	return nil
}
