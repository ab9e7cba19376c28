package sitemap

import (
	"errors"

	"github.com/dustin/go-humanize"

	"linkwatch/models"
	"linkwatch/models/sites"
)

const maxReasons = 5

var urlTooLong = "the URL must have at most " + humanize.Comma(models.MaxURL) + " bytes"

// collector validates entries, passes them on, and counts skipped ones.
type collector struct {
	Result
	each        func(sites.Kind, sites.Entry) error
	entryNumber int // number of the current entry or line, from 1
	tooMany     bool
	reasons     []reason
}

type reason struct {
	text  string
	count int
	first int // the number of the first entry
}

func (c *collector) full() bool { return c.Entries >= sites.MaxSitemapURLs }

func (c *collector) add(address []byte, lastmod models.Time) error {
	switch {
	case c.full():
		c.tooMany = true
		c.skip("the file has more than " + humanize.Comma(sites.MaxSitemapURLs) + " URLs")
		return nil
	case len(address) == 0:
		c.skip("the URL is missing")
		return nil
	case hasControl(address):
		c.skip("the URL has a control character")
		return nil
	}
	u, err := models.ParseURL("url", string(address))
	if err != nil {
		c.skip("the URL " + message(err))
		return nil
	}
	if err := c.each(c.Kind, sites.Entry{URL: u, Lastmod: lastmod}); err != nil {
		return err
	}
	c.Entries++
	return nil
}

func message(err error) string {
	if e, ok := errors.AsType[*models.Error](err); ok && len(e.Fields) > 0 {
		return e.Fields[0].Message
	}
	return "is not valid"
}

// hasControl reports whether b has control characters other than those that ParseURL removes.
func hasControl(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f {
			return true
		}
	}
	return false
}

func (c *collector) skip(why string) {
	c.Skipped++
	c.note(why)
}

func (c *collector) note(why string) {
	for i := range c.reasons {
		if c.reasons[i].text == why {
			c.reasons[i].count++
			return
		}
	}
	if len(c.reasons) < maxReasons {
		c.reasons = append(c.reasons, reason{why, 1, c.entryNumber})
	}
}

// reasonLines returns the reasons, such as "3 entries, first at entry 12: the URL is missing".
func (c *collector) reasonLines() []string {
	one, many := "entry", "entries"
	if c.Kind == sites.KindText {
		one, many = "line", "lines"
	}
	var lines []string
	for _, r := range c.reasons {
		at := one + " " + humanize.Comma(int64(r.first))
		if r.count > 1 {
			at = humanize.Comma(int64(r.count)) + " " + many + ", first at " + at
		} else {
			at = string(at[0]-'a'+'A') + at[1:]
		}
		lines = append(lines, at+": "+r.text)
	}
	return lines
}
