package models

import "strings"

// NewestSearched is how many of the newest things of a kind the search over everything
// looks into for any part of a text, where no index finds parts. Older ones are found by
// the beginning of what has an index.
const NewestSearched = 5000

// Span are the texts from From up to, and without, Till: those that begin with a prefix,
// as both engines order columns with COLLATE "C".
type Span struct{ From, Till string }

// Beginning is the span of the texts that begin with a prefix.
func Beginning(prefix string) Span { return Span{prefix, prefix + "\U0010FFFF"} }

// AddressSpans are the spans of the canonical URLs that begin with what somebody typed of
// an address, with or without its scheme and "www."; none if it is no beginning of one.
func AddressSpans(typed string) (spans []Span) {
	scheme, rest, whole := strings.Cut(typed, "://")
	if !whole {
		rest = typed
	}
	host, path, slash := strings.Cut(rest, "/")
	if host == "" || strings.ContainsAny(host, ` "<>\^|{}@?#`) {
		return nil
	}
	rest = strings.ToLower(host)
	if slash && path != "" { // canonical URLs do not end with the slash of an empty path
		rest += "/" + path
	}
	if whole {
		spans = append(spans, Beginning(strings.ToLower(scheme)+"://"+rest))
		if u, err := ParseURL("url", typed); err == nil {
			spans = append(spans, Beginning(u.Canonical))
		}
		return spans
	}
	for _, before := range []string{"https://", "https://www.", "http://", "http://www."} {
		spans = append(spans, Beginning(before+rest))
	}
	return spans
}

// HostSpans are the spans of the hosts that begin with the host of what somebody typed of
// an address; none if it is no beginning of one.
func HostSpans(typed string) []Span {
	_, rest, whole := strings.Cut(typed, "://")
	if !whole {
		rest = typed
	}
	host, _, _ := strings.Cut(strings.ToLower(rest), "/")
	if host == "" || strings.ContainsAny(host, ` "<>\^|{}@?#:`) {
		return nil
	}
	return []Span{Beginning(host), Beginning("www." + host)}
}
