package visits

import (
	"strings"

	"linkwatch/models"
	"linkwatch/models/shortlinks"
	"linkwatch/models/useragent"
)

// maxHeader is how many bytes of a header are read.
const maxHeader = 512

// cut limits what is kept of a visitor's headers while the visit waits. Of a
// Referer only the origin is read.
func cut(v shortlinks.Visitor) shortlinks.Visitor {
	if i := strings.Index(v.Referrer, "://"); i >= 0 {
		if j := strings.IndexAny(v.Referrer[i+3:], "/?#"); j >= 0 {
			v.Referrer = v.Referrer[:i+3+j]
		}
	}
	return shortlinks.Visitor{Referrer: v.Referrer[:min(len(v.Referrer), maxHeader)], UserAgent: v.UserAgent[:min(len(v.UserAgent), maxHeader)]}
}

// hostOf returns the canonical host of a Referer, without the "www." that many
// sites have as well as not; "" if it has none.
func hostOf(referrer string) string {
	u, err := models.ParseURL("", referrer)
	if err != nil {
		return ""
	}
	host, ok := models.CanonicalHost(u.Host)
	if !ok || strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789-._:") != "" { // no host of a real site, as "*" is
		return ""
	}
	if bare := strings.TrimPrefix(host, "www."); strings.Contains(bare, ".") {
		return bare
	}
	return host
}

// maxKnown is how many headers of either kind are known, each of maxHeader at most.
const maxKnown = 4096

// headers remembers what recent headers mean, since most come again and again.
type headers struct {
	families map[string]useragent.Family
	hosts    map[string]string
}

func newHeaders() headers {
	return headers{families: map[string]useragent.Family{}, hosts: map[string]string{}}
}

func (h headers) family(userAgent string) useragent.Family {
	return known(h.families, userAgent, useragent.Parse)
}

func (h headers) referrer(referrer string) string {
	if referrer == "" {
		return ""
	}
	return known(h.hosts, referrer, hostOf)
}

// known is what find makes of s. A full map is cleared: frequent headers are
// soon known again.
func known[T any](m map[string]T, s string, find func(string) T) T {
	if t, ok := m[s]; ok {
		return t
	}
	if len(m) >= maxKnown {
		clear(m)
	}
	s = strings.Clone(s) // it may be a piece of a long header
	t := find(s)
	m[s] = t
	return t
}
