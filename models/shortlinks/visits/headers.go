package visits

import (
	"strings"

	"linkwatch/models"
	"linkwatch/models/shortlinks"
	"linkwatch/models/useragent"
)

// maxHeader is the number of bytes of a header that are read.
const maxHeader = 512

// truncate limits the headers of a queued visit. Of the Referer, only the origin is kept.
func truncate(v shortlinks.Visitor) shortlinks.Visitor {
	if i := strings.Index(v.Referrer, "://"); i >= 0 {
		if j := strings.IndexAny(v.Referrer[i+3:], "/?#"); j >= 0 {
			v.Referrer = v.Referrer[:i+3+j]
		}
	}
	v.Referrer, v.UserAgent = v.Referrer[:min(len(v.Referrer), maxHeader)], v.UserAgent[:min(len(v.UserAgent), maxHeader)]
	return v
}

// hostOf returns the canonical host of a Referer without "www.", or "".
func hostOf(referrer string) string {
	u, err := models.ParseURL("", referrer)
	if err != nil {
		return ""
	}
	host, ok := models.CanonicalHost(u.Host)
	if !ok || strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789-._:") != "" { // not a host name, for example "*"
		return ""
	}
	if bare := strings.TrimPrefix(host, "www."); strings.Contains(bare, ".") {
		return bare
	}
	return host
}

// maxCached is the number of cached results per header.
const maxCached = 4096

// headers caches the meaning of header values, because most repeat.
type headers struct {
	families map[string]useragent.Family
	hosts    map[string]string
}

func newHeaders() headers {
	return headers{families: map[string]useragent.Family{}, hosts: map[string]string{}}
}

func (h headers) family(userAgent string) useragent.Family {
	return cached(h.families, userAgent, useragent.Parse)
}

func (h headers) referrer(referrer string) string {
	if referrer == "" {
		return ""
	}
	return cached(h.hosts, referrer, hostOf)
}

// cached returns find(s) from a map. A full map is cleared: frequent values are soon
// cached again.
func cached[T any](m map[string]T, s string, find func(string) T) T {
	if t, ok := m[s]; ok {
		return t
	}
	if len(m) >= maxCached {
		clear(m)
	}
	s = strings.Clone(s) // s may be a substring of a long header
	t := find(s)
	m[s] = t
	return t
}
