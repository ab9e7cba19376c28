package models_test

import (
	"strings"
	"testing"

	"linkwatch/models"
)

func TestCanonicalHost(t *testing.T) {
	for in, want := range map[string]string{
		"go.example": "go.example", "Go.EXAMPLE": "go.example", "go.example.": "go.example", "localhost.": "localhost",
		"ｇｏ．ｅｘａｍｐｌｅ": "go.example", "go。example": "go.example", "%67o.ex%61mple": "go.example", "lo\u00adcalhost": "localhost",
		"bücher.example": "xn--bcher-kva.example", "BÜCHER.example.": "xn--bcher-kva.example", "xn--bcher-kva.example": "xn--bcher-kva.example",
		"my_host.example": "my_host.example", "a--b.example": "a--b.example", "-a.example": "-a.example",
		"127.0.0.1": "127.0.0.1", "127.1": "127.0.0.1", "127.1.": "127.0.0.1", "2130706433": "127.0.0.1", "0x7f.1": "127.0.0.1", "0X7F000001": "127.0.0.1",
		"0177.0.0.1": "127.0.0.1", "１２７．１": "127.0.0.1", "%31%32%37.1": "127.0.0.1", "0": "0.0.0.0", "0x": "0.0.0.0",
		"::1": "::1", "[::1]": "::1", "[0:0:0:0:0:0:0:1]": "::1", "[::FFFF:127.0.0.1]": "127.0.0.1", "::ffff:7f00:1": "127.0.0.1", "[2001:DB8::0:1]": "2001:db8::1",
	} {
		if got, ok := models.CanonicalHost(in); got != want || !ok {
			t.Errorf("%q is %q %v, want %q", in, got, ok, want)
		}
	}
	for _, in := range []string{
		"", ".", "..", ".example", "a..example", "example..", "127.1..", "256.1.1.1", "1.2.3.4.5", "4294967296", "foo.0x4", "127.0.0.0.33", "09.example.1",
		"127.0.0.-1", "127.0.0.+1", "127.0.0.%2B1", "0x-1", "a b", "a%20b", "a%", "a%25", "a/b", `a\b`, "a?b", "a#b", "a@b", "a:80", "[::1]:80", "[::1", "::1]", "[127.0.0.1]",
		"[fe80::1%25eth0]", "fe80::1%eth0", "1::2::3", "xn--", "xn--a", "a\x00b", "\xff", strings.Repeat("a", 254), strings.Repeat("ä", 5000),
	} {
		if got, ok := models.CanonicalHost(in); ok {
			t.Errorf("%.40q is taken as %q", in, got)
		}
	}
}

func FuzzCanonicalHost(f *testing.F) {
	for _, s := range []string{
		"Go.Example.", "127.1", "0x7f.0.0.1", "2130706433", "[::ffff:127.0.0.1]", "ｌｏｃａｌｈｏｓｔ", "%6c.example", "xn--bcher-kva.example", "a\u2260b.example", "127.0.0.-1", "١.example",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		host, ok := models.CanonicalHost(s)
		if !ok {
			return
		}
		if again, ok := models.CanonicalHost(host); again != host || !ok {
			t.Fatalf("%q is %q, and that is %q %v", s, host, again, ok)
		}
		if host == "" || host != strings.ToLower(host) || strings.ContainsAny(host, "/\\?#@[]% \t\r\n") || strings.HasSuffix(host, ".") {
			t.Fatalf("%q is %q", s, host)
		}
		if u, err := models.ParseURL("url", "http://"+s+"/"); err == nil {
			if read, ok := models.CanonicalHost(u.Host); ok && read != host {
				t.Fatalf("%q is %q, but as the host of a URL %q", s, host, read)
			}
		}
	})
}
