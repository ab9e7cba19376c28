package outbound

import (
	"regexp"
	"strings"
	"time"
)

// Names of <meta> with the dates and the author of a page, the most reliable first. "itemprop:" marks microdata.
var (
	publishedNames = [...]string{
		"article:published_time", "itemprop:datepublished", "og:published_time", "datepublished", "citation_publication_date", "citation_date",
		"dc.date.issued", "dcterms.issued", "dcterms.created", "dc.date.created", "dc.date", "dcterms.date", "parsely-pub-date", "sailthru.date",
		"publish-date", "publication_date", "pubdate", "date",
	}
	modifiedNames = [...]string{
		"article:modified_time", "itemprop:datemodified", "og:updated_time", "datemodified", "dcterms.modified", "dc.date.modified", "last-modified",
	}
	authorNames = [...]string{
		"author", "article:author", "dc.creator", "dcterms.creator", "citation_author", "parsely-author", "sailthru.author", "itemprop:author",
	}
)

const authorLimit = 200 // runes

// author returns the authors of the page, from JSON-LD or else from <meta>. It skips URLs of profiles.
func (p *pageScanner) author() string {
	for _, t := range p.things.all {
		if len(t.Author) == 0 {
			continue
		}
		names := make([]string, 0, len(t.Author))
		for _, a := range t.Author {
			if !strings.Contains(a.Name, "://") {
				names = append(names, a.Name)
			}
		}
		if all := cleanText(strings.Join(names, ", "), authorLimit); all != "" {
			return all
		}
	}
	for _, name := range authorNames {
		if v := cleanText(p.values[name], authorLimit); v != "" && !strings.Contains(v, "://") {
			return v
		}
	}
	return ""
}

// dates returns when the page was published and modified; zero if unknown.
func (p *pageScanner) dates() (published, modified time.Time) {
	now := time.Now()
	first := func(to *time.Time, value string) {
		if to.IsZero() && value != "" {
			*to = parseDate(value, now)
		}
	}
	first(&published, p.values[publishedNames[0]])
	first(&modified, p.values[modifiedNames[0]])
	for _, t := range p.things.all {
		first(&published, t.DatePublished)
		first(&modified, t.DateModified)
	}
	for _, name := range publishedNames {
		first(&published, p.values[name])
	}
	for _, name := range modifiedNames {
		first(&modified, p.values[name])
	}
	return published, modified
}

// dateLayouts are the date formats of pages. time.Parse accepts fractions of a second without a layout.
var dateLayouts = [...]string{
	time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04Z0700", "2006-01-02T15:04",
	"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 Z0700", "2006-01-02 15:04:05 Z07:00", "2006-01-02 15:04:05 UTC", "2006-01-02 15:04:05",
	"2006-01-02 15:04", "2006-01-02", "2006-1-2", "2006/01/02 15:04:05", "2006/01/02", "2006/1/2", "2006.01.02", "20060102", "2006-01",
	time.RFC1123, time.RFC1123Z, "Mon, 2 Jan 2006 15:04:05 MST", "Mon, 2 Jan 2006 15:04:05 Z0700", time.RFC850, time.ANSIC, time.UnixDate,
	"January 2, 2006", "Jan 2, 2006", "2 January 2006", "2 Jan 2006", "Monday, January 2, 2006", "Monday, 2 January 2006",
}

// lowerRFC3339 matches times with a lower-case t or z, which RFC 3339 allows (5.6).
var lowerRFC3339 = regexp.MustCompile(`^\d{4}-\d\d-\d\d[tT ][\d:.+-]+[zZ]?$`)

// parseDate returns a date in UTC, or zero if s is not a date, is before 1990, or is more than a year after now. The default
// zone is UTC.
func parseDate(s string, now time.Time) time.Time {
	s = strings.TrimSpace(s)
	if len(s) < len("2006-01") || len(s) > 64 {
		return time.Time{}
	}
	s = lowerRFC3339.ReplaceAllStringFunc(s, strings.ToUpper)
	for _, layout := range dateLayouts {
		t, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		if t = t.UTC(); t.Year() < 1990 || t.After(now.AddDate(1, 0, 0)) {
			return time.Time{}
		}
		return t
	}
	return time.Time{}
}
