package ui

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestKeysOfSeveralSystemsAreOneEntry(t *testing.T) {
	n := Nav{
		Sections: []Section{{ID: "a", Label: "Alpha", Path: "/a", Key: "a"}, {ID: "b", Label: "Beta", Path: "/b"}},
		Keys:     []Key{{[]string{"p"}, "Pause a target"}, {[]string{"c"}, "Check now"}, {[]string{"p"}, "Disable a short link"}},
	}
	var got []string
	for _, k := range n.keys() {
		got = append(got, strings.Join(k.Keys, " ")+": "+k.What)
	}
	at := slices.Index(got, "p: Pause a target, disable a short link")
	if at < 0 || got[at+1] != "c: Check now" || !slices.Contains(got, "g a: Go to Alpha") || len(got) != len(rowKeys)+len(pageKeys)+len(helpKeys)+3 {
		t.Errorf("%q", got)
	}
	if again := n.keys(); len(again) != len(got) { // the frame's own entries are shared
		t.Errorf("%d entries, then %d", len(got), len(again))
	}
}

// TestFrameKnowsNoSystem: without a navigation the frame has no way into any system.
func TestFrameKnowsNoSystem(t *testing.T) {
	var b bytes.Buffer
	if err := Layout(Page{Title: "X", Now: time.Now()}).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, path := range []string{`"/links`, `"/watch`, `"/short`, `"/tags`, `"/admin`} {
		if strings.Contains(page, path) {
			t.Errorf("the frame names %s", path)
		}
	}
}
