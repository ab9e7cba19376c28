package sites

import (
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"

	"linkwatch/jobs/sites/sitemap"
	"linkwatch/models"
	"linkwatch/models/sites"
)

// What a sitemap keeps in memory while it is read.
const (
	batchBytes = 1 << 20 // of the URLs of pages that are stored together
	indexBytes = 2 << 20 // of the URLs that an index names, which MaxSitemaps of MaxURL do not exceed
)

// readOne reads a sitemap and stores what it has. Whatever is wrong with it is stored as
// its error; an error is one of the store.
func (t *task) readOne(m sites.Sitemap) error {
	r := t.receive(m)
	defer r.close()
	if t.ctx.Err() != nil {
		return t.ctx.Err()
	}
	read := sites.Read{Unchanged: r.unchanged, Error: r.failed}
	if !r.unchanged && r.file != nil {
		s := &storer{task: t, sitemap: m, read: &read}
		if err := s.store(r); errors.Is(err, errEnding) {
			return nil // the rest is stored the next time
		} else if err != nil {
			return err
		}
	}
	if err := t.Store.RecordRead(t.ctx, m, read); err != nil {
		return err
	}
	t.did.add(func(d *did) {
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

// storer stores what a sitemap has while it is parsed.
type storer struct {
	*task
	sitemap sites.Sitemap
	read    *sites.Read
	batch   []sites.Entry   // pages that are not stored yet
	urls    []string        // that an index names, each once
	named   map[string]bool // the same
	bytes   int             // of the URLs in both
	begun   bool            // something was stored
	outside int             // entries that do not belong to the website
	beyond  int             // entries of an index that do not fit into indexBytes
}

// errEnding ends a sitemap when nothing further is to be begun.
var errEnding = errors.New("sites: ending")

// store parses what was received and stores it.
func (s *storer) store(r received) error {
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
		s.read.Error = fmt.Sprintf("It has more than %s URLs. The rest was not read.", humanize.Comma(sites.MaxSitemapURLs))
	}
	switch result.Kind {
	case sites.KindUnread:
		return nil
	case sites.KindIndex:
		err = s.finishIndex()
	default:
		err = s.flush()
		skip(s.read, s.outside, "outside the website")
	}
	if err != nil {
		return err
	}
	s.read.Stored, s.read.ContentHash = true, r.hash
	if s.read.Error != "" { // a page that is missing may be in the part that was not read
		return nil
	}
	if s.sitemap.Kind == sites.KindIndex && result.Kind != sites.KindIndex { // it names no sitemaps any more
		if _, _, err := s.Store.AddFound(s.ctx, s.site, &s.sitemap, nil); err != nil {
			return err
		}
	}
	// The pages of an index are those of a time when it was none.
	if err := s.detach(s.sitemap, result.Kind == sites.KindIndex); err != nil {
		return err
	}
	if s.ending() {
		return errEnding
	}
	s.read.Complete, s.read.ETag, s.read.LastModified = true, r.etag, r.lastModified
	return nil
}

// add takes an entry of the sitemap.
func (s *storer) add(kind sites.Kind, e sites.Entry) error {
	property := s.site.Property()
	switch {
	case kind != sites.KindIndex && !property.Contains(e.URL),
		kind == sites.KindIndex && !property.HasHost(e.URL.Host) && models.HostPort(e.URL.Canonical) != models.HostPort(s.sitemap.URL):
		s.outside++
		return nil
	case kind != sites.KindIndex:
		s.batch = append(s.batch, e)
	case s.named[e.URL.Requested]:
		return nil
	case s.bytes < indexBytes:
		if s.named == nil {
			s.named = map[string]bool{}
		}
		s.named[e.URL.Requested] = true
		s.urls = append(s.urls, e.URL.Requested)
	default:
		s.beyond++
		return nil
	}
	s.bytes += len(e.URL.Requested)
	if kind != sites.KindIndex && (len(s.batch) == sites.StoreBatch || s.bytes >= batchBytes) {
		return s.flush()
	}
	return nil
}

// begin is called before anything is stored.
func (s *storer) begin() error {
	if s.ending() {
		return errEnding
	}
	if s.begun {
		return nil
	}
	s.begun = true
	return s.Store.BeginReading(s.ctx, s.sitemap)
}

// flush stores the pages of the batch.
func (s *storer) flush() error {
	if err := s.begin(); err != nil || len(s.batch) == 0 {
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

// finishIndex stores the sitemaps that an index names.
func (s *storer) finishIndex() error {
	skip(s.read, s.outside, "on another host than the website")
	if s.sitemap.Depth >= sites.MaxDepth {
		skip(s.read, len(s.urls)+s.beyond, fmt.Sprintf("more than %d indexes deep", sites.MaxDepth))
		s.urls, s.beyond = nil, 0
	}
	if err := s.begin(); err != nil {
		return err
	}
	add := s.Store.AddFound
	if s.read.Error != "" || s.beyond > 0 { // one that is missing may be in the part that was not read
		add = s.Store.AddSome
	}
	_, refused, err := add(s.ctx, s.site, &s.sitemap, s.urls)
	if err != nil {
		return err
	}
	skip(s.read, refused+s.beyond, fmt.Sprintf("beyond the limit of %s sitemaps for a website", humanize.Comma(sites.MaxSitemaps)))
	s.read.Pages = len(s.urls) - refused
	return nil
}

// skip notes entries that are passed over.
func skip(read *sites.Read, n int, why string) {
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
