package shortlinks

import "testing"

func TestShortHostURL(t *testing.T) {
	for _, c := range []struct{ host, base, want string }{
		{"", "https://links.example", ""},
		{"go.example", "https://links.example", "https://go.example/abc"},
		{"go.example", "http://127.0.0.1:8080", "http://go.example:8080/abc"},
		{"go.example", "http://[::1]:8080", "http://go.example:8080/abc"},
		{"::2", "http://[::1]:8080", "http://[::2]:8080/abc"},
		{"::2", "http://[::1]", "http://[::2]/abc"},
	} {
		if got := shortHostURL(c.host, c.base, "abc"); got != c.want {
			t.Errorf("%s at %s: got %q, want %q", c.host, c.base, got, c.want)
		}
	}
}
