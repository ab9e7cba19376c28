package shortlinks

import (
	"strings"
	"testing"
)

func FuzzLocation(f *testing.F) {
	for _, s := range []string{"https://example.com/ü", "https://xn--exmple-cua.com", "http://[::1]/%zz", "https://a/\x7f"} {
		f.Add(s)
	}
	store := &Store{}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := store.rules.destination(s)
		if err != nil {
			return
		}
		to := u.Location()
		if strings.ContainsFunc(to, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Errorf("%q: got %q", s, to)
		}
		again, err := store.rules.destination(to)
		if err != nil || again.Host != u.Host || again.Location() != to {
			t.Errorf("%q: got host %q, and %q: got host %q, %v", s, u.Host, to, again.Host, err)
		}
	})
}

// BenchmarkDestination measures the check of a destination before it is cached.
func BenchmarkDestination(b *testing.B) {
	for name, o := range map[string]Options{
		"public": {BlockedHosts: []string{"spam.example", "casino.example"}, Own: []string{"links.example"}, ShortHost: "go.example"},
		"local":  {Own: []string{"127.0.0.1:8080", "localhost:8080", "[::1]:8080", "127.0.0.1:8080"}},
	} {
		r := NewRules(o)
		for _, u := range []string{"https://www.example.com/a/page?q=1", "https://links.example/status/shop", "http://192.0.2.7:8080/x", "http://127.1:8080/x"} {
			b.Run(name+" "+u, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, _ = r.destination(u)
				}
			})
		}
	}
}
