package models_test

import (
	"testing"

	"linkwatch/models"
)

func TestRepairURL(t *testing.T) {
	for in, want := range map[string]string{
		"http://example.com/x": "http://example.com/x", "HTTPS://Example.com": "HTTPS://Example.com", " https://example.com\n": "https://example.com",
		"http:/example.com/x": "http://example.com/x", "http:example.com": "http://example.com", "HTTPS:/example.com": "HTTPS://example.com", "http:///example.com": "http://example.com",
		`http:\\example.com\a`: `http://example.com\a`, `https:\example.com`: "https://example.com", `https:/\/example.com`: "https://example.com",
		"example.com/x": "https://example.com/x", "example.com": "https://example.com", "Example.COM:8443/x": "https://Example.COM:8443/x",
		"example.com?q=a:b": "https://example.com?q=a:b", "example.com#a@b": "https://example.com#a@b", "example.com/@user": "https://example.com/@user",
		`example.com\a`: `https://example.com\a`, "example.com.": "https://example.com.", "bücher.example/ü": "https://bücher.example/ü",
		"//example.com/x": "https://example.com/x", `\\example.com\x`: `https://example.com\x`, "//localhost/x": "http://localhost/x",
		"localhost:3000/x": "http://localhost:3000/x", "localhost": "http://localhost", "app.localhost:3000": "http://app.localhost:3000",
		"127.0.0.1:8080": "http://127.0.0.1:8080", "192.168.0.1": "http://192.168.0.1", "8.8.8.8/x": "http://8.8.8.8/x",
		"[::1]:80/x": "http://[::1]:80/x", "https://https://example.com/x": "https://example.com/x", "http:https:///a.b": "https://a.b", "[2001:db8::1]": "http://[2001:db8::1]", "exam\tple.com/\r\nx": "https://example.com/x",
	} {
		got := models.RepairURL(in)
		if got != want {
			t.Errorf("%q is repaired to %q, want %q", in, got, want)
		}
		if _, err := models.ParseURL("url", got); err != nil {
			t.Errorf("%q is repaired to %q: %v", in, got, err)
		}
	}
}

// Text that is not a URL stays unchanged, so that the form shows the error.
func TestRepairURLLeavesOthers(t *testing.T) {
	for _, in := range []string{
		"", " ", "foo", "foo bar", "foo bar.com", "hello. world", "mailto:x@example.com", "mailto:x", "javascript:alert(1)", "JavaScript:alert(1.5)", "ftp://example.com/", "file:///etc/passwd",
		"data:text/html,x", "tel:5551234", "tel:123", "user@host", "user@example.com", "user:pw@example.com/x", "/path", "?q=example.com", "#a.b", "example.com:port/", "example.com:", "htp://example.com",
		`C:\file.txt`, "3.14", "v1.2.3", "127.1", "256.1.1.1", "foo.0x4", "::1", "a..b", ".example", "e.g.,x", "(example.com)", "http:", "http://", "https:///", "[::1", "[x]:1", "intranet:8080",
	} {
		got := models.RepairURL(in)
		if u, err := models.ParseURL("url", got); models.CodeOf(err) != models.CodeInvalid {
			t.Errorf("%q became %q and was taken as %+v (%v)", in, got, u, err)
		}
	}
}

func FuzzRepairURL(f *testing.F) {
	for _, s := range []string{"http:/host", "example.com:80/x", "//a.b", "[::1]:80", "user@host", "javascript:1", `\\a.b\c`, "localhost", "::1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if again := models.RepairURL(models.RepairURL(s)); again != models.RepairURL(s) {
			t.Errorf("%q is repaired to %q and that to %q", s, models.RepairURL(s), again)
		}
		if want, err := models.ParseURL("url", s); err == nil { // a good URL needs no repair
			if got, err := models.ParseURL("url", models.RepairURL(s)); err != nil || got != want {
				t.Errorf("%q is %+v, repaired %+v (%v)", s, want, got, err)
			}
		}
	})
}
