package crawl

import (
	"context"

	"linkwatch/models/crawl"
	"linkwatch/models/crawl/textdiff"
)

// comparison is two versions of a page and their differences. From is zero if there is no
// older version.
type comparison struct {
	From, To crawl.Version
	Diff     textdiff.Diff
}

// compareSlots limits the number of concurrent comparisons: each holds a value.
var compareSlots = make(chan struct{}, 2)

// compare compares two versions of a page. to 0 is the newest version with text, from 0 the
// version with text before to. The error is CodeNotFound if a version does not exist.
func (d *Deps) compare(ctx context.Context, p crawl.Page, from, to int) (c comparison, err error) {
	if p.TextVersion == 0 && to == 0 {
		return c, nil
	}
	if to == 0 {
		to = p.TextVersion
	}
	if c.To, err = d.Crawl.PageVersion(ctx, p, to); err != nil {
		return c, err
	}
	if from == 0 {
		if from, err = d.versionBefore(ctx, p, to); err != nil {
			return c, err
		}
	}
	if from != 0 {
		if c.From, err = d.Crawl.PageVersion(ctx, p, from); err != nil {
			return c, err
		}
	}
	select { // comparing long texts uses about 20 MB
	case compareSlots <- struct{}{}:
		defer func() { <-compareSlots }()
	case <-ctx.Done():
		return c, ctx.Err()
	}
	before, err := c.From.Text.Decompress()
	if err != nil {
		return c, err
	}
	after, err := c.To.Text.Decompress()
	c.Diff = textdiff.Compare(before, after)
	return c, err
}

// versionBefore returns the number of the newest version with text before a version; 0 if there is
// none.
func (d *Deps) versionBefore(ctx context.Context, p crawl.Page, number int) (int, error) {
	all, err := d.Crawl.PageVersions(ctx, p)
	for _, v := range all {
		if v.Version < number && v.Change != crawl.PageGone {
			return v.Version, err
		}
	}
	return 0, err
}
