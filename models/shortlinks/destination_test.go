package shortlinks_test

import (
	"testing"

	"linkwatch/models"
	"linkwatch/models/shortlinks"
)

// spellings are other ways to write links.example, lw.example and spam.example.
var spellings = []string{
	"https://links.example./s/abcd", "https://LINKS.example.:443/s/abcd", "https://ｌｉｎｋｓ.example/s/abcd", "https://links。example/s/abcd",
	"https://li\u00adnks.example/s/abcd", "https://%EF%BD%8Cinks.example/s/abcd", `https://links.example/.\s/abcd`, `https://links.example/x/..\s\abcd`,
	"http://lw.example./abcd", "http://ｌｗ.example/abcd", "http://lw.example:8080/abcd", "https://www.ｓｐａｍ.example./",
}

func TestOtherSpellingsOfOwnHosts(t *testing.T) {
	each(t, func(f fixture) {
		for _, u := range spellings {
			_, _, err := f.Add(f.Context(), shortlinks.New{LongURL: u})
			f.wantError(err, models.CodeInvalid, "long_url")
		}
	})
}

// Without PUBLIC_URL, the own hosts are all names of this machine.
func TestOtherNamesOfThisMachine(t *testing.T) {
	each(t, func(f fixture) {
		f.opts.Own, f.opts.ShortHost = []string{"127.0.0.1:8080", "localhost:8080", "[::1]:8080", "links.lan:8080"}, ""
		f = f.another()
		for _, host := range []string{
			"127.0.0.1", "localhost", "[::1]", "links.lan", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "[::ffff:127.0.0.1]", "[0:0:0:0:0:ffff:7f00:1]",
			"localhost.", "LOCALHOST", "ｌｏｃａｌｈｏｓｔ", "１２７.1", "127.0.0.2", "127.255.255.254", "0.0.0.0", "0", "[::]", "links.localhost", "Links.Lan.",
		} {
			_, _, err := f.Add(f.Context(), shortlinks.New{LongURL: "http://" + host + ":8080/s/abcd"})
			f.wantError(err, models.CodeInvalid, "long_url")
			f.add(func(n *shortlinks.New) { n.LongURL = "http://" + host + ":8080/links" })  // a page
			f.add(func(n *shortlinks.New) { n.LongURL = "http://" + host + ":9090/s/abcd" }) // another server
		}
		for _, host := range []string{"192.0.2.7", "localhost.example", "notlocalhost", "128.0.0.1", "[2001:db8::1]", "1.127"} {
			f.add(func(n *shortlinks.New) { n.LongURL = "http://" + host + ":8080/s/abcd" })
		}
	})
}

// Blocked and own hosts match in any spelling of the settings.
func TestSpellingsOfHostsInSettings(t *testing.T) {
	each(t, func(f fixture) {
		f.opts.Own, f.opts.ShortHost, f.opts.BlockedHosts = []string{"links.example."}, "0x7f.1", []string{"3221225991", "BAD.example.", "::ffff:192.0.2.8"}
		f = f.another()
		for _, u := range []string{
			"https://links.example/s/abcd", "http://127.0.0.1:99/abcd", "http://192.0.2.7/", "http://a.bad.example/", "http://192.0.2.8/",
		} {
			_, _, err := f.Add(f.Context(), shortlinks.New{LongURL: u})
			f.wantError(err, models.CodeInvalid, "long_url")
		}
		f.add(func(n *shortlinks.New) { n.LongURL = "http://192.0.2.9/" })
	})
}

// A short link does not redirect if its host has become one of ours.
func TestStoredLinksToOwnHosts(t *testing.T) {
	each(t, func(f fixture) {
		f.opts.Own, f.opts.ShortHost, f.opts.BlockedHosts = nil, "", nil
		before := f.another()
		var keys []string
		for _, u := range append([]string{"http://127.1:8080/s/abcd", "http://[::ffff:127.0.0.1]:8080/s/abcd"}, spellings...) {
			keys = append(keys, before.add(func(n *shortlinks.New) { n.LongURL = u }).Key)
		}
		f.opts.Own, f.opts.ShortHost, f.opts.BlockedHosts = []string{"links.example", "127.0.0.1:8080"}, "lw.example", []string{"spam.example"}
		now := f.another()
		for _, key := range keys {
			now.redirectsTo(key, "gone")
		}
	})
}
