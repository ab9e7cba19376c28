package oidc

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The troubleshooting table of the guide has the errors that the log can have.
func TestErrorsAreDocumented(t *testing.T) {
	guide, err := os.ReadFile("../../docs/guide/access.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`errors\.New\("([^"]+)"`).FindAllSubmatch(source, -1) {
			all = append(all, string(m[1]))
		}
	}
	if len(all) < 15 {
		t.Fatalf("found only %d errors", len(all))
	}
	for code := range kindOfCode {
		all = append(all, code)
	}
	for kind := range texts {
		all = append(all, "| `"+string(kind)+"` |")
	}
	for _, text := range all {
		if strings.HasPrefix(text, "key set ") { // one row
			text = "key set"
		}
		if text != "provider returned " && !strings.Contains(string(guide), text) {
			t.Errorf("docs/guide/access.md does not have %q", text)
		}
	}
}
