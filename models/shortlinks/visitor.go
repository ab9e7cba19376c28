package shortlinks

import (
	"strings"

	"linkwatch/models/useragent"

	"linkwatch/models"
)

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

// visitors knows the visitors' headers of late, for most come again and again.
type visitors struct {
	devices map[string]useragent.Family
	hosts   map[string]string
}

// maxVisitors is how many headers of either kind are known, each of maxHeader at most.
const maxVisitors = 4096

func newVisitors() visitors {
	return visitors{devices: map[string]useragent.Family{}, hosts: map[string]string{}}
}

func (v visitors) device(userAgent string) useragent.Family {
	return known(v.devices, userAgent, useragent.Parse)
}

func (v visitors) referrer(referrer string) string {
	if referrer == "" {
		return ""
	}
	return known(v.hosts, referrer, hostOf)
}

// known is what find makes of s. A full map starts anew: the headers that come
// often are soon there again.
func known[T any](m map[string]T, s string, find func(string) T) T {
	if t, ok := m[s]; ok {
		return t
	}
	if len(m) >= maxVisitors {
		clear(m)
	}
	s = strings.Clone(s) // it may be a piece of a long header
	t := find(s)
	m[s] = t
	return t
}
