package config

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docRow is a row of a table of settings: name and default in code, then the meaning.
var docRow = regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\| (.*?) \\| (.+) \\|$")

// TestDocs compares docs/settings.md with the settings: each has one row, with its default.
func TestDocs(t *testing.T) {
	b, err := os.ReadFile("../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	tables, _, _ := strings.Cut(string(b), "\n## Settings of other crawlers")
	c, err := load()
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, s := range Describe(c) {
		def, _, isText := strings.Cut(s.Default, " ") // a default that no single value can tell is not code
		switch {
		case s.Default == "":
			want = append(want, s.Name+" ")
		case isText:
			want = append(want, s.Name+" "+s.Default)
		default:
			want = append(want, s.Name+" `"+def+"`")
		}
	}
	for _, row := range docRow.FindAllStringSubmatch(tables, -1) {
		got = append(got, row[1]+" "+strings.ReplaceAll(strings.TrimSpace(row[2]), `\<`, "<")) // Markdown takes < for HTML
	}
	for _, row := range want {
		if !slices.Contains(got, row) {
			t.Errorf("docs/settings.md lacks the setting and default %q", row)
		}
	}
	for i, row := range got {
		if !slices.Contains(want, row) {
			t.Errorf("docs/settings.md has %q, which is no setting with its default", row)
		}
		if slices.Index(got, row) != i {
			t.Errorf("docs/settings.md has %q twice", row)
		}
	}
}
