// Package static holds the files that pages load: one style sheet, three scripts
// of ours, and htmx. They are part of the program.
package static

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"strings"
)

//go:embed app.css app.js palette.js stale.js icon.svg favicon.ico vendor/htmx.min.js
var files embed.FS

// Prefix is the path under which Handler serves.
const Prefix = "/static/"

// version names the content of all files: it changes with any of them.
var version = contentHash()

// Path is the address of a file: "/static/1f0c9a3b7d21/app.css". The version in
// it lets browsers cache the file forever.
func Path(name string) string { return Prefix + version + "/" + name }

// Handler serves the files at their versioned paths. A path with another
// version, from a page that an older program made, gets today's file and is not
// kept. It is for paths that Has knows.
func Handler() http.Handler {
	server := http.FileServerFS(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, name := split(r.URL.Path)
		w.Header().Set("Cache-Control", "no-cache")
		if v == version {
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		r = r.Clone(r.Context())
		r.URL.Path = "/" + name
		server.ServeHTTP(w, r)
	})
}

// Favicon serves favicon.ico, icon.svg in 16, 32 and 48 pixels, for clients that
// ask for it without reading a page. Its path cannot have a version, so it may
// be kept for a day only.
func Favicon(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "public, max-age=86400")
	w.Header().Set("Content-Type", "image/x-icon") // systems differ in what they call it
	http.ServeFileFS(w, r, files, "favicon.ico")
}

// Has says whether there is a file at a path, whatever its version.
func Has(path string) bool {
	_, name := split(path)
	info, err := fs.Stat(files, name)
	return err == nil && !info.IsDir()
}

func split(path string) (version, name string) {
	version, name, _ = strings.Cut(strings.TrimPrefix(path, Prefix), "/")
	return version, name
}

func contentHash() string {
	sum := sha256.New()
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(files, name)
		sum.Write([]byte(name))
		sum.Write(b)
		return err
	})
	if err != nil {
		panic("static: reading an embedded file: " + err.Error()) // cannot happen: they are in the program
	}
	return hex.EncodeToString(sum.Sum(nil))[:12]
}
