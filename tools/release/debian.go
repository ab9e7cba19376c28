package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
)

const description = `Saves links, watches URLs, shortens URLs and crawls sites
One program with web pages for people and a JSON API for programs. It keeps
everything in one SQLite file or in a PostgreSQL database.`

// writeDebian writes a Debian package: the program, the systemd unit and its settings.
func (s source) writeDebian(p program, tmp, out string) error {
	unit := filepath.Join(tmp, "linkwatch.service")
	if err := s.writeUnit(unit); err != nil {
		return err
	}
	scripts := filepath.Join(s.dir, "tools", "release", "debian")
	const docs = "/usr/share/doc/linkwatch/"
	settings := s.packaged(filepath.Join(scripts, "linkwatch.env"), "/etc/linkwatch/linkwatch.env", 0o600)
	settings.Type = files.TypeConfig
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "linkwatch", Version: s.version, Arch: p.arch, Section: "web", Priority: "optional",
		Maintainer: "The Linkwatch authors", License: "MIT", Description: description, MTime: s.date,
		Overridables: nfpm.Overridables{
			Recommends: []string{"ca-certificates"},
			Contents: files.Contents{
				s.packaged(p.path, "/usr/bin/linkwatch", 0o755),
				s.packaged(unit, "/usr/lib/systemd/system/linkwatch.service", 0o644),
				s.packaged(filepath.Join(s.dir, "LICENSE"), docs+"copyright", 0o644),
				s.packaged(filepath.Join(s.dir, "CHANGELOG.md"), docs+"CHANGELOG.md", 0o644),
				settings,
			},
			Scripts: nfpm.Scripts{
				PostInstall: filepath.Join(scripts, "postinst"),
				PreRemove:   filepath.Join(scripts, "prerm"),
				PostRemove:  filepath.Join(scripts, "postrm"),
			},
		},
	})
	file := filepath.Join(out, s.name(p.arch)+".deb")
	return writeFile(file, func(w io.Writer) error { return deb.Default.Package(info, w) })
}

// packaged returns a file of the package.
func (s source) packaged(from, to string, mode os.FileMode) *files.Content {
	return &files.Content{
		Source: from, Destination: to, Type: files.TypeFile,
		FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: s.date},
	}
}

// writeUnit writes deploy/linkwatch.service with the path of a packaged program.
func (s source) writeUnit(to string) error {
	unit, err := os.ReadFile(filepath.Join(s.dir, "deploy", "linkwatch.service"))
	if err != nil {
		return err
	}
	packaged := bytes.ReplaceAll(unit, []byte("/usr/local/bin/linkwatch"), []byte("/usr/bin/linkwatch"))
	if bytes.Equal(packaged, unit) {
		return errors.New("deploy/linkwatch.service does not run /usr/local/bin/linkwatch")
	}
	if err := os.WriteFile(to, packaged, 0o644); err != nil {
		return fmt.Errorf("writing the unit: %w", err)
	}
	return nil
}
