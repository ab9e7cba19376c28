package targets_test

import (
	"os"
	"regexp"
	"testing"

	"linkwatch/app/apptest"
)

var feedURN = regexp.MustCompile(`urn:uuid:[0-9a-f-]{36}`)

// Readers of feeds show an entry again when its bytes change, so the form of the feed is fixed. Its ids are random.
func TestStatusFeedForm(t *testing.T) {
	s := apptest.New(t, apptest.Set("PUBLIC_URL", "https://status.example.org"))
	shop := s.Watch("https://shop.example", "Shop & <b> \"ü\"", foundUp, foundDown, foundUp, foundDown)
	publish(s, "ours", "Ours & theirs", shop)
	_, a := feed(s, "/status/ours/feed")
	got := feedURN.ReplaceAllString(a.HTML, "urn:uuid:id")
	want, err := os.ReadFile("testdata/statusfeed.xml")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
