package sites

import (
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"

	"linkwatch/jobs/sites/sitemap"
	"linkwatch/models"
	"linkwatch/models/sites"
)

// Memory limits while a sitemap is read.
const (
	batchBytes = 1 << 20 // of page URLs stored in one transaction
	indexBytes = 2 << 20 // of sitemap URLs of an index; enough for MaxSitemaps of MaxURL bytes
)

// readSitemap reads a sitemap and stores its entries. Problems of the sitemap are stored as its error; the returned error is
// one of the store.
func (t *task) readSitemap(m sites.Sitemap) error {
	r := t.download(m)
	defer r.close()
	if t.ctx.Err() != nil {
		return t.ctx.Err()
	}
	read := sites.ReadResult{Unchanged: r.unchanged, Error: r.failed}
	if !r.unchanged && r.file != nil {
		s := &storer{task: t, sitemap: m, read: &read}
		if err := s.store(r); errors.Is(err, errStopping) {
			return nil // the next run stores the rest
		} else if err != nil {
			return err
		}
	}
	if err := t.Store.RecordRead(t.ctx, m, read); err != nil {
		return err
	}
	t.summary.add(func(d *summary) {
		switch {
		case read.Unchanged:
			d.unchanged++
		case read.Kind == sites.KindUnread:
			d.unread++
		default:
			d.read++
			if read.Kind != sites.KindIndex {
				d.pages += read.Pages
			}
		}
	})
	return nil
}

// storer stores the entries of a sitemap while it is parsed.
type storer struct {
	*task
	sitemap  sites.Sitemap
	read     *sites.ReadResult
	batch    []sites.Entry   // pages not stored yet
	urls     []string        // distinct sitemap URLs of an index
	seen     map[string]bool // the same URLs
	bytes    int             // of the URLs in batch and urls
	started  bool            // something was stored
	outside  int             // entries outside the website
	overflow int             // index entries that exceed indexBytes
}

// errStopping ends a reading when no new work may start.
var errStopping = errors.New("stopping")

func (s *storer) store(r download) error {
	result, err := sitemap.Read(r.file, s.add)
	if bad, ok := errors.AsType[*sitemap.Error](err); ok {
		if r.failed == "" {
			s.read.Error = bad.Error() + "."
		}
	} else if err != nil {
		return err
	}
	s.read.Kind, s.read.Skipped, s.read.Reasons = result.Kind, result.Skipped, result.Reasons
	if s.read.Error == "" && result.Kind != sites.KindUnread && !result.Complete {
		s.read.Error = fmt.Sprintf("The sitemap has more than %s URLs. The rest was not read.", humanize.Comma(sites.MaxSitemapURLs))
	}
	switch result.Kind {
	case sites.KindUnread:
		return nil
	case sites.KindIndex:
		err = s.finishIndex()
	default:
		err = s.flush()
		addSkipped(s.read, s.outside, "outside the website")
	}
	if err != nil {
		return err
	}
	s.read.Stored, s.read.ContentHash = true, r.hash
	if s.read.Error != "" { // missing pages may be in the unread part
		return nil
	}
	if s.sitemap.Kind == sites.KindIndex && result.Kind != sites.KindIndex { // no longer an index
		if _, _, err := s.Store.AddFound(s.ctx, s.site, &s.sitemap, nil); err != nil {
			return err
		}
	}
	// An index has no pages. It may still have those of a time when it was a sitemap.
	if err := s.detach(s.sitemap, result.Kind == sites.KindIndex); err != nil {
		return err
	}
	if s.stopping() {
		return errStopping
	}
	s.read.Complete, s.read.ETag, s.read.LastModified = true, r.etag, r.lastModified
	return nil
}

func (s *storer) add(kind sites.Kind, e sites.Entry) error {
	property := s.site.Property()
	switch {
	case kind != sites.KindIndex && !property.Contains(e.URL),
		kind == sites.KindIndex && !property.HasHost(e.URL.Host) && models.HostPort(e.URL.Canonical) != models.HostPort(s.sitemap.URL):
		s.outside++
		return nil
	case kind != sites.KindIndex:
		s.batch = append(s.batch, e)
	case s.seen[e.URL.Requested]:
		return nil
	case s.bytes < indexBytes:
		if s.seen == nil {
			s.seen = map[string]bool{}
		}
		s.seen[e.URL.Requested] = true
		s.urls = append(s.urls, e.URL.Requested)
	default:
		s.overflow++
		return nil
	}
	s.bytes += len(e.URL.Requested)
	if kind != sites.KindIndex && (len(s.batch) == sites.StoreBatch || s.bytes >= batchBytes) {
		return s.flush()
	}
	return nil
}

// start starts a new generation before the first entry is stored.
func (s *storer) start() error {
	if s.stopping() {
		return errStopping
	}
	if s.started {
		return nil
	}
	s.started = true
	return s.Store.BeginReading(s.ctx, s.sitemap)
}

func (s *storer) flush() error {
	if err := s.start(); err != nil || len(s.batch) == 0 {
		return err
	}
	n, err := s.Store.StoreEntries(s.ctx, s.site, s.sitemap, s.batch)
	if err != nil {
		return err
	}
	s.read.Pages += n
	clear(s.batch)
	s.batch, s.bytes = s.batch[:0], 0
	return nil
}

func (s *storer) finishIndex() error {
	addSkipped(s.read, s.outside, "on another host than the website")
	if s.sitemap.Depth >= sites.MaxDepth {
		addSkipped(s.read, len(s.urls)+s.overflow, fmt.Sprintf("nested more than %d indexes deep", sites.MaxDepth))
		s.urls, s.overflow = nil, 0
	}
	if err := s.start(); err != nil {
		return err
	}
	add := s.Store.AddFound
	if s.read.Error != "" || s.overflow > 0 { // missing sitemaps may be in the unread part
		add = s.Store.AddFoundPart
	}
	_, refused, err := add(s.ctx, s.site, &s.sitemap, s.urls)
	if err != nil {
		return err
	}
	addSkipped(s.read, refused+s.overflow, fmt.Sprintf("over the limit of %s sitemaps per website", humanize.Comma(sites.MaxSitemaps)))
	s.read.Pages = len(s.urls) - refused
	return nil
}

func addSkipped(read *sites.ReadResult, n int, why string) {
	if n == 0 {
		return
	}
	read.Skipped += n
	verb := "are"
	if n == 1 {
		verb = "is"
	}
	noun := "entries"
	if n == 1 {
		noun = "entry"
	}
	read.Reasons = append([]string{fmt.Sprintf("%s %s %s %s", humanize.Comma(int64(n)), noun, verb, why)}, read.Reasons...)
}
