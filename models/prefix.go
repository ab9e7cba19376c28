package models

import "strings"

// NewestSearched is the number of objects of a kind, newest first, that the global search searches for any part
// of a text if no index supports that. Older ones are found only by the start of an indexed column. The list of
// the kind searches all: see MaxSearched.
const NewestSearched = MaxSearched

// Span is the range of texts from From up to, but not including, Till, in the order of both
// engines for columns with COLLATE "C".
type Span struct{ From, Till string }

// Beginning returns the span of texts that start with prefix.
func Beginning(prefix string) Span { return Span{prefix, prefix + "\U0010FFFF"} }

// AddressSpans returns the spans of canonical URLs that start with typed, with or without a scheme and "www.". It
// returns nil if typed is not the start of a URL.
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

// HostSpans returns the spans of hosts that start with the host in typed, or nil if there is none.
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
