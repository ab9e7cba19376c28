package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"time"
)

// sumsFile has the checksums of all other files, in the format of sha256sum.
const sumsFile = "SHA256SUMS"

// entry is a file or a folder in an archive.
type entry struct {
	name string // with a slash at the end for a folder
	mode int64
	user int    // and group
	path string // of the file to copy, or
	data []byte // the content
}

func (e entry) open() (io.ReadCloser, int64, error) {
	if e.path == "" {
		return io.NopCloser(bytes.NewReader(e.data)), int64(len(e.data)), nil
	}
	f, err := os.Open(e.path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// writeTar writes entries in their order, all of one date.
func writeTar(w io.Writer, entries []entry, date time.Time) error {
	out := tar.NewWriter(w)
	for _, e := range entries {
		content, size, err := e.open()
		if err != nil {
			return err
		}
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: e.name, Mode: e.mode, Uid: e.user, Gid: e.user,
			Size: size, ModTime: date, Format: tar.FormatUSTAR,
		}
		if e.name[len(e.name)-1] == '/' {
			h.Typeflag = tar.TypeDir
		}
		err = out.WriteHeader(h)
		if err == nil {
			_, err = io.Copy(out, content)
		}
		if err := errors.Join(err, content.Close()); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return out.Close()
}

// writeTarGz writes a compressed tar archive.
func writeTarGz(w io.Writer, entries []entry, date time.Time) error {
	out, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(writeTar(out, entries, date), out.Close())
}

// writeZip writes a zip archive. It has no folders and no users.
func writeZip(w io.Writer, entries []entry, date time.Time) error {
	out := zip.NewWriter(w)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: date}
		h.SetMode(fs.FileMode(e.mode))
		to, err := out.CreateHeader(h)
		if err != nil {
			return err
		}
		content, _, err := e.open()
		if err != nil {
			return err
		}
		_, err = io.Copy(to, content)
		if err := errors.Join(err, content.Close()); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return out.Close()
}

// writeFile writes a file by a function.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// name returns the name of a file of the release for a platform or an architecture.
func (s source) name(suffix string) string {
	return "linkwatch_" + s.version + "_" + suffix
}

// writeArchive writes the program with its texts: a zip file for Windows, else a tar archive.
func (s source) writeArchive(p program, out string) error {
	folder := s.name(p.String())
	entries := []entry{{name: path.Join(folder, filepath.Base(p.path)), mode: 0o755, path: p.path}}
	texts := []string{"README.md", "LICENSE", "CHANGELOG.md"}
	if p.os == "linux" {
		texts = append(texts, "deploy/linkwatch.service")
	}
	for _, text := range texts {
		from := filepath.Join(s.dir, filepath.FromSlash(text))
		entries = append(entries, entry{name: path.Join(folder, path.Base(text)), mode: 0o644, path: from})
	}
	write, end := writeTarGz, ".tar.gz"
	if p.os == "windows" {
		write, end = writeZip, ".zip"
	}
	return writeFile(filepath.Join(out, folder+end), func(w io.Writer) error { return write(w, entries, s.date) })
}

// chartVersion matches the two versions in Chart.yaml.
var chartVersion = regexp.MustCompile(`(?m)^(version|appVersion): .*$`)

// writeChart writes the Helm chart, with the version of the release.
func (s source) writeChart(out string) error {
	var entries []entry
	dir := filepath.Join(s.dir, "deploy", "helm")
	err := filepath.WalkDir(filepath.Join(dir, "linkwatch"), func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "ci" {
			return fs.SkipDir // values of tests
		}
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(file)
		if d.Name() == "Chart.yaml" {
			data = chartVersion.ReplaceAll(data, []byte(`$1: "`+s.version+`"`))
		}
		name, relErr := filepath.Rel(dir, file)
		entries = append(entries, entry{name: filepath.ToSlash(name), mode: 0o644, data: data})
		return errors.Join(err, relErr)
	})
	if err != nil {
		return err
	}
	name := filepath.Join(out, "linkwatch-"+s.version+".tgz")
	return writeFile(name, func(w io.Writer) error { return writeTarGz(w, entries, s.date) })
}

// writeSums writes and returns the checksums of all files in a folder.
func writeSums(dir string) (string, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	sums := ""
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return "", err
		}
		sums += fmt.Sprintf("%x  %s\n", sha256.Sum256(data), f.Name())
	}
	return sums, os.WriteFile(filepath.Join(dir, sumsFile), []byte(sums), 0o644)
}
