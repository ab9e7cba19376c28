package outbound

import (
	"net/netip"
	"strings"
	"testing"
)

// A page must not make the user's browser send requests to the user's own network.
func TestImagesOfPrivateHostsAreDropped(t *testing.T) {
	image := func(src string) string {
		page := `<meta property=og:image content="` + src + `">`
		return ParseMetadata([]byte(page), "https://example.com/a/", nil).OG.Image
	}
	for _, host := range []string{
		"127.0.0.1", "127.0.0.1:8080", "127.1", "127.0.1", "127.0.0.1.", "127.1.", "2130706433", "017700000001", "0x7f000001", "0x7f.1", "0177.0.0.1",
		"0x7f.0x0.0x0.0x1", "127.0.0.0x1", "0", "0.0.0.0", "10.0.0.1", "10.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "192.168.257",
		"169.254.169.254", "100.64.0.1", "198.18.0.1", "224.0.0.1", "255.255.255.255",
		"[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[::ffff:a00:1]", "[::127.0.0.1]", "[fe80::1]", "[fc00::1]",
		"[fd12:3456::1]", "[64:ff9b::10.0.0.1]", "[64:ff9b:1::1]", "[2002:7f00:1::]", "[ff02::1]", "[fe80::1%25eth0]",
		"%31%32%37.0.0.1", "127%2e0%2e0%2e1", "１２７.0.0.1", "127。0。0。1", "①②⑦.0.0.1", "%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1",
		"localhost", "LocalHost", "localhost.", "localhost..", "a.localhost", "ｌｏｃａｌｈｏｓｔ", "loc%61lhost", "l\u00adocalhost",
		"router", "router.", "printer.local", "Printer.LOCAL.", "db.internal", "metadata.google.internal", "nas.home.arpa", "home.arpa", "box.localdomain",
		"box.lan", "box.home", "box.corp", "wiki.intranet", "box.private", "box.private.", "a:b@127.0.0.1", "example.com@127.0.0.1", "user@router.lan",
		"", ".", "256.256.256.256", "1.2.3.4.5",
	} {
		for _, src := range []string{"http://" + host + "/i.png", "https://" + host + "/i.png", "//" + host + "/i.png", "https:\\\\" + host + "/i.png"} {
			// A path with backslashes is one on the page's own host here.
			if got := image(src); got != "" && !strings.HasPrefix(got, "https://example.com/") {
				t.Errorf("%s is kept as %s", src, got)
			}
		}
	}
	for _, src := range []string{
		"https://example.com/i.png", "http://93.184.216.34/i.png", "https://1.1.1.1/", "https://[2606:4700:4700::1111]/i.png", "https://cdn.example.com:8443/i?u=http://127.0.0.1/",
		"https://localhost.example.com/i.png", "https://home.example/i.png", "https://b\u00fccher.example/i.png", "https://xn--bcher-kva.example/", "https://10.example.com/",
		"https://internal.example.com/", "https://arpa.example/", "https://example.com./i.png", "https://lan.example.org/10.0.0.1",
	} {
		if image(src) == "" {
			t.Errorf("%s is dropped", src)
		}
	}
	if got := ParseMetadata([]byte(`<meta property=og:image content=/i.png>`), "http://127.0.0.1/a", nil).OG.Image; got != "" {
		t.Errorf("the image of a private page is kept as %s", got)
	}
	if got := ParseMetadata([]byte(`<base href=//router/><meta property=og:image content=i.png>`), "http://example.com/a", nil).OG.Image; got != "" {
		t.Errorf("the image at a private base is kept as %s", got)
	}
	other := `<meta property=og:image content=http://router/i.png><meta property=og:image:secure_url content=https://example.com/i.png>`
	if got := ParseMetadata([]byte(other), "http://example.com/a", nil).OG.Image; got != "https://example.com/i.png" {
		t.Errorf("beside a private image the public one is not found, but %q", got)
	}
}

func FuzzPublicHost(f *testing.F) {
	for _, host := range []string{"127.1", "[::ffff:7f00:1]", "0x7f.1", "localhost.", "１２７.0.0.1", "%31.0.0.1", "example.com", "a.home.arpa", "xn--a", "[1::"} {
		f.Add(host)
	}
	f.Fuzz(func(t *testing.T, host string) {
		raw := "http://" + host + "/"
		if !publicHost(raw) {
			return
		}
		u, err := browserURLs.Parse(raw)
		if err != nil {
			t.Fatalf("%q is public, and no URL: %v", raw, err)
		}
		// The host as the parser writes it is one that means the same.
		if again := "http://" + u.Hostname() + "/"; !publicHost(again) {
			t.Errorf("%q is public, %q is not", raw, again)
		}
		if ip, err := netip.ParseAddr(strings.Trim(u.Hostname(), "[]")); err == nil && (ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()) {
			t.Errorf("%q is public", raw)
		}
	})
}
