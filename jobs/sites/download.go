package sites

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"linkwatch/models"
	"linkwatch/models/sites"
	"linkwatch/outbound"
)

type download struct {
	file         *os.File // content, positioned at the start; nil = none
	unchanged    bool     // not changed since the last read
	failed       string   // why the content is missing or incomplete; "" = complete
	hash         []byte   // SHA-256 of the body
	etag         string
	lastModified string
}

func (r download) close() {
	if r.file != nil {
		_ = r.file.Close()
		_ = os.Remove(r.file.Name())
	}
}

// download downloads a sitemap to a temporary file. This keeps memory use low, does not make the server of the sitemap wait for
// the database, and detects an unchanged sitemap before anything is stored. The caller closes the result.
func (t *task) download(m sites.Sitemap) download {
	if u, err := models.ParseURL("url", m.URL); m.Origin == sites.FromUser && (err != nil || !t.site.Property().HasHost(u.Host)) {
		return download{failed: "The sitemap is on another host than the website. List it in robots.txt of the website to prove ownership."}
	}
	req := outbound.Request{URL: m.URL, MaxRedirects: readRedirects, Timeout: t.readTime, MaxBytes: sites.MaxSitemapBytes + 1}
	if m.Complete {
		req.IfNoneMatch, req.IfModifiedSince = m.ETag, m.LastModified
	}
	var r download
	var fileErr error
	sum := sha256.New()
	req.Stream = func(body io.Reader) error {
		if r.file, fileErr = os.CreateTemp(t.tempDir, "linkwatch-sitemap-*"); fileErr != nil {
			return fileErr
		}
		_ = os.Remove(r.file.Name()) // so that nothing is left after a crash; Windows cannot remove open files
		out := &errorFile{File: r.file}
		_, err := io.Copy(io.MultiWriter(out, sum), body)
		fileErr = out.err
		return err
	}
	res, err := t.Client.Fetch(t.ctx, req)
	if r.file != nil && fileErr == nil {
		_, fileErr = r.file.Seek(0, io.SeekStart)
	}
	switch {
	case fileErr != nil:
		t.Log.Error("temporary file not written", "website_id", t.site.ID, "error", fileErr)
		r.close()
		return download{failed: "The sitemap could not be written to a temporary file. See the log of this server."}
	case err != nil:
		r.failed = fetchError("The sitemap", err)
	case res.StatusCode == http.StatusNotModified && m.Complete:
		r.unchanged = true
	case res.StatusCode != http.StatusOK:
		r.failed = fmt.Sprintf("The server responded with status %d.", res.StatusCode)
	default:
		r.hash, r.etag, r.lastModified = sum.Sum(nil), validator(res, "ETag"), validator(res, "Last-Modified")
		r.unchanged = m.Complete && bytes.Equal(r.hash, m.ContentHash)
	}
	return r
}

// validator returns a response header for conditional requests; "" if it cannot be stored and sent back unchanged.
func validator(res *outbound.Response, name string) string {
	v := res.Header.Get(name)
	if len(v) > maxValidator || v != models.CleanLine(v) {
		return ""
	}
	return v
}

// errorFile is a file that keeps its write error, to tell it from errors of the body.
type errorFile struct {
	*os.File
	err error
}

// Write implements io.Writer.
func (f *errorFile) Write(p []byte) (n int, err error) {
	n, f.err = f.File.Write(p)
	return n, f.err
}

func fetchError(file string, err error) string {
	if e, ok := errors.AsType[*outbound.Error](err); ok && !errors.Is(err, context.Canceled) {
		return file + " could not be fetched: " + e.Error() + "."
	}
	return file + " could not be fetched."
}
