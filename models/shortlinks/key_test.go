package shortlinks

import (
	"strings"
	"testing"
)

func TestMadeKeys(t *testing.T) {
	const n = 20_000
	seen, signs := map[string]bool{}, map[rune]int{}
	for range n {
		k := makeKey()
		if len(k) != madeKey || !IsKey(k) || seen[k] {
			t.Fatalf("%q", k)
		}
		seen[k] = true
		for _, sign := range k {
			signs[sign]++
		}
	}
	if strings.ContainsAny(madeSigns, "0O1lIio") {
		t.Error("signs that look alike")
	}
	// Each sign is as likely as any other: the counts are within six standard deviations.
	want := float64(n*madeKey) / float64(len(madeSigns))
	for _, sign := range madeSigns {
		if d := float64(signs[sign]) - want; d*d > 36*want {
			t.Errorf("%c was drawn %d times, want about %.0f", sign, signs[sign], want)
		}
	}
}

func TestReserved(t *testing.T) {
	for _, word := range []string{"admin", "HealthZ", "login", "shorten", "www"} {
		if !Reserved(word) {
			t.Errorf("%s is free", word)
		}
	}
	if Reserved("admin1") || Reserved("") {
		t.Error("too much is reserved")
	}
}

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
			t.Errorf("%q becomes %q", s, to)
		}
		again, err := store.rules.destination(to)
		if err != nil || again.Host != u.Host || again.Location() != to {
			t.Errorf("%q leads to %q, %q to %q (%v)", s, u.Host, to, again.Host, err)
		}
	})
}

// BenchmarkDestination is the check that every short link passes on its way into a cache.
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
