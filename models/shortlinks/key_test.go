package shortlinks

import (
	"strings"
	"testing"
)

func TestRandomKeys(t *testing.T) {
	const n = 20_000
	seen, signs := map[string]bool{}, map[rune]int{}
	for range n {
		k := generateKey()
		if len(k) != generatedLength || !IsKey(k) || seen[k] {
			t.Fatalf("%q", k)
		}
		seen[k] = true
		for _, sign := range k {
			signs[sign]++
		}
	}
	if strings.ContainsAny(generatedAlphabet, "0O1lIio") {
		t.Error("got characters that look alike")
	}
	// All characters are equally likely: the counts are within six standard deviations.
	want := float64(n*generatedLength) / float64(len(generatedAlphabet))
	for _, sign := range generatedAlphabet {
		if d := float64(signs[sign]) - want; d*d > 36*want {
			t.Errorf("%c: got %d times, want about %.0f", sign, signs[sign], want)
		}
	}
}

func TestReserved(t *testing.T) {
	s := &Store{own: map[string]bool{}}
	if s.Reserved("crawler") {
		t.Error("crawler is reserved")
	}
	s.Reserve("Crawler")
	for _, word := range []string{"admin", "HealthZ", "login", "shorten", "www", "cRawler"} {
		if !s.Reserved(word) {
			t.Errorf("%s is not reserved", word)
		}
	}
	if s.Reserved("admin1") || s.Reserved("") {
		t.Error("too many words are reserved")
	}
}
