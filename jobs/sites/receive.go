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

// received is what a server sent for a sitemap.
type received struct {
	file         *os.File // its content, to be read from the beginning; nil = there is none
	unchanged    bool     // it is as it was when it was last read
	failed       string   // why there is no content, or not all of it; "" = it is complete
	hash         []byte   // SHA-256 of what was sent
	etag         string
	lastModified string
}

// close removes the file.
func (r received) close() {
	if r.file != nil {
		_ = r.file.Close()
		_ = os.Remove(r.file.Name())
	}
}

// receive requests a sitemap and keeps what is sent in a temporary file. So a sitemap needs
// little memory, its server does not wait for the database, and one that is unchanged is
// known before anything is stored. The caller closes what is returned.
func (t *task) receive(m sites.Sitemap) received {
	if u, err := models.ParseURL("url", m.URL); m.Origin == sites.Given && (err != nil || !t.site.Property().HasHost(u.Host)) {
		return received{failed: "It is on another host than the website. List it in the robots.txt of the website, which proves that it is the website's own."}
	}
	req := outbound.Request{URL: m.URL, MaxRedirects: readRedirects, Timeout: t.readTime, MaxBytes: sites.MaxSitemapBytes + 1}
	if m.Complete {
		req.IfNoneMatch, req.IfModifiedSince = m.ETag, m.LastModified
	}
	var r received
	var ours error // what is wrong with the file
	sum := sha256.New()
	req.Stream = func(body io.Reader) error {
		if r.file, ours = os.CreateTemp(t.tempDir, "linkwatch-sitemap-*"); ours != nil {
			return ours
		}
		_ = os.Remove(r.file.Name()) // nothing is left when the program is killed; Windows removes only what is closed
		to := &file{File: r.file}
		_, err := io.Copy(io.MultiWriter(to, sum), body)
		ours = to.err
		return err
	}
	res, err := t.Client.Fetch(t.ctx, req)
	if r.file != nil && ours == nil {
		_, ours = r.file.Seek(0, io.SeekStart)
	}
	switch {
	case ours != nil:
		t.Log.Error("sitemap not kept in a temporary file", "website_id", t.site.ID, "error", ours)
		r.close()
		return received{failed: "This server could not keep it in a temporary file. Its log says why."}
	case err != nil:
		r.failed = fetchError("It", err)
	case res.StatusCode == http.StatusNotModified && m.Complete:
		r.unchanged = true
	case res.StatusCode != http.StatusOK:
		r.failed = fmt.Sprintf("The server answered with status %d.", res.StatusCode)
	default:
		r.hash, r.etag, r.lastModified = sum.Sum(nil), validator(res, "ETag"), validator(res, "Last-Modified")
		r.unchanged = m.Complete && bytes.Equal(r.hash, m.ContentHash)
	}
	return r
}

// validator is a header by which a server is asked whether a sitemap has changed; "" if it
// cannot be stored and sent back as it is.
func validator(res *outbound.Response, name string) string {
	v := res.Header.Get(name)
	if len(v) > maxValidator || v != models.CleanLine(v) {
		return ""
	}
	return v
}

// file remembers its error, by which it is told from one of the body.
type file struct {
	*os.File
	err error
}

// Write implements io.Writer.
func (f *file) Write(p []byte) (n int, err error) {
	n, f.err = f.File.Write(p)
	return n, f.err
}

// fetchError is what a failed request for a file means, as a sentence.
func fetchError(file string, err error) string {
	if e, ok := errors.AsType[*outbound.Error](err); ok && !errors.Is(err, context.Canceled) {
		return file + " could not be fetched: " + e.Error() + "."
	}
	return file + " could not be fetched."
}
