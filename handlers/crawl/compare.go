package crawl

import (
	"context"

	"linkwatch/models/crawl"
	"linkwatch/models/crawl/textdiff"
)

// comparison is two versions of a page and what is different between them. From is the
// zero Version if there is no older one.
type comparison struct {
	From, To crawl.Version
	Diff     textdiff.Diff
}

// comparing has a value for each comparison that runs now.
var comparing = make(chan struct{}, 2)

// compare compares two versions of a page: to 0 is the newest one that has a text, and
// from 0 the one before that with a text. CodeNotFound if one is not kept.
func (d *Deps) compare(ctx context.Context, p crawl.Page, from, to int) (c comparison, err error) {
	if p.TextVersion == 0 && to == 0 {
		return c, nil
	}
	if to == 0 {
		to = p.TextVersion
	}
	if c.To, err = d.Crawl.VersionOf(ctx, p, to); err != nil {
		return c, err
	}
	if from == 0 {
		if from, err = d.before(ctx, p, to); err != nil {
			return c, err
		}
	}
	if from != 0 {
		if c.From, err = d.Crawl.VersionOf(ctx, p, from); err != nil {
			return c, err
		}
	}
	select { // a comparison of long texts takes some 20 MB
	case comparing <- struct{}{}:
		defer func() { <-comparing }()
	case <-ctx.Done():
		return c, ctx.Err()
	}
	before, err := c.From.Text.Unpack()
	if err != nil {
		return c, err
	}
	after, err := c.To.Text.Unpack()
	c.Diff = textdiff.Compare(before, after)
	return c, err
}

// before is the number of the newest version before another one that has a text; 0 =
// none is kept.
func (d *Deps) before(ctx context.Context, p crawl.Page, number int) (int, error) {
	all, err := d.Crawl.Versions(ctx, p)
	for _, v := range all {
		if v.Version < number && v.Change != crawl.PageGone {
			return v.Version, err
		}
	}
	return 0, err
}
