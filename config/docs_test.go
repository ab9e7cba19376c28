package config

import (
	"bytes"
	"os"
	"testing"
)

func TestDocsAreCurrent(t *testing.T) {
	got, err := os.ReadFile("../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := WriteMarkdown(&want); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("docs/settings.md is not current; run tools/gen.sh")
	}
}

func TestMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"Set PUBLIC_URL, or AUTH_DISABLED=true.":    "Set `PUBLIC_URL`, or `AUTH_DISABLED=true`.",
		"an http:// or https:// URL":                "an `http://` or `https://` URL",
		"URL such as https://links.example. It is":  "URL such as `https://links.example`. It is",
		"Linkwatch/<version>, and a|b":              `Linkwatch/\<version>, and a\|b`,
		"not Host or X-Forwarded-…":                 "not Host or `X-Forwarded-…`",
		"true or false, and true only with A_B":     "`true` or `false`, and `true` only with `A_B`",
		"host that serves short links, at /{key}. ": "host that serves short links, at `/{key}`. ",
	} {
		if got := markdown(in); got != want {
			t.Errorf("markdown(%q) = %q, want %q", in, got, want)
		}
	}
}

// Every note belongs to a group.
func TestNotes(t *testing.T) {
	groups := map[string]bool{}
	for _, s := range Describe(Config{}) {
		groups[s.Group] = true
	}
	for name := range notes {
		if !groups[name] {
			t.Errorf("note for %q, which is not a group", name)
		}
	}
}
