package ui

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"linkwatch/models"
)

// Host returns the host of a URL for display, with port and without "www.".
func Host(address string) string {
	host := ""
	if u, err := url.Parse(address); err == nil {
		host = u.Host
	} else if u, err := models.ParseURL("url", address); err == nil { // net/url rejects more URLs than browsers
		_, host, _ = strings.Cut(u.Origin(), "://")
	}
	if host == "" {
		return address
	}
	if bare, ok := strings.CutPrefix(host, "www."); ok && bare != "" {
		return bare
	}
	return host
}

// Count formats a number with thousands separators: "12,804".
func Count[N int | int64](n N) string {
	return humanize.Comma(int64(n))
}

// Size formats a number of bytes: "18 kB".
func Size(bytes int) string { return humanize.Bytes(uint64(max(0, bytes))) }

// Percent formats a ratio from 0 to 1 with two decimals: "99.98%". Only 1 is "100%" and only 0 is
// "0%": other ratios are not rounded to them.
func Percent(ratio float64) string {
	switch {
	case ratio >= 1:
		return "100%"
	case ratio <= 0:
		return "0%"
	}
	return strconv.FormatFloat(min(max(ratio*100, 0.01), 99.99), 'f', 2, 64) + "%"
}

// Plural returns a count with its noun: "1 link", "12 links".
func Plural[N int | int64](n N, noun string) string {
	return Count(n) + " " + Noun(n, noun)
}

// Noun returns the noun for a count: "link", "links".
func Noun[N int | int64](n N, noun string) string {
	return english.PluralWord(int(n), noun, "")
}

// Sentence returns s with its first letter in upper case.
func Sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
