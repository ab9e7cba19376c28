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
		if len(k) != madeKey || !isKey(k) || seen[k] {
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

func TestLocation(t *testing.T) {
	for given, want := range map[string]string{
		"https://example.com":                     "https://example.com",
		"HTTP://Example.com:80/A/?b=%20c&d=[e]#f": "HTTP://Example.com:80/A/?b=%20c&d=[e]#f",
		"https://exämple.com:8443/ü?ö=ß#ä":        "https://xn--exmple-cua.com:8443/%C3%BC?%C3%B6=%C3%9F#%C3%A4",
		"https://ex%C3%A4mple.com/a":              "https://xn--exmple-cua.com/a",
		"https://example.com/a b\"c":              "https://example.com/a%20b\"c",
		"https://[::1]:81/x":                      "https://[::1]:81/x",
		"https://a_b.example/":                    "https://a_b.example/",
	} {
		if got, err := location(given); err != nil || got != want {
			t.Errorf("%s becomes %s (%v), want %s", given, got, err, want)
		}
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
		to, err := location(u.Given)
		if err != nil {
			t.Fatalf("%q was taken: %v", s, err)
		}
		if strings.ContainsFunc(to, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Errorf("%q becomes %q", s, to)
		}
		again, err := store.rules.destination(to)
		if len(to) <= 2048 && (err != nil || again.Host != u.Host) {
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
		r := newRules(o)
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
