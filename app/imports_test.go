package app_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// below maps a folder to the other folders of this module that its packages may import. Only tests and main may import folders
// that are not listed.
var below = map[string][]string{
	"config": {}, "outbound": {}, "migrations": {}, "static": {}, "docs": {},
	"models":   {"migrations"},
	"jobs":     {"models", "outbound"},
	"views":    {"models", "static"},
	"handlers": {"docs", "models", "static", "views"},
	"demo":     {"models"},
	"app":      {"config", "demo", "handlers", "jobs", "models", "outbound", "views"},
	"e2e":      {"models"},
	"bench":    {"e2e", "models"},
}

// frames are packages of handlers and views that all systems share.
var frames = []string{"handlers/api", "handlers/middleware", "handlers/pages", "views/ui"}

// TestImports checks that imports only point down and that no system imports another one.
func TestImports(t *testing.T) {
	systems, err := os.ReadDir("../handlers")
	if err != nil {
		t.Fatal(err)
	}
	isSystem := func(name string) bool {
		return slices.ContainsFunc(systems, func(d fs.DirEntry) bool {
			return d.IsDir() && d.Name() == name && !slices.Contains(frames, "handlers/"+name)
		})
	}
	systemOf := func(pkg string) string {
		parts := strings.Split(pkg, "/")
		if len(parts) > 1 && isSystem(parts[1]) {
			return parts[1]
		}
		return ""
	}
	checked := 0
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		rel := filepath.ToSlash(strings.TrimPrefix(path, "../"))
		folder, _, inside := strings.Cut(rel, "/")
		if err != nil || d.IsDir() || !inside || below[folder] == nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			slices.Contains([]string{"apptest", "apitest", "modelstest"}, filepath.Base(filepath.Dir(path))) {
			return err
		}
		checked++
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(filepath.Dir(rel))
		for _, i := range file.Imports {
			name, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			to, ours := strings.CutPrefix(name, "linkwatch/")
			if !ours {
				continue
			}
			other, _, _ := strings.Cut(to, "/")
			if other != folder && !slices.Contains(below[folder], other) {
				t.Errorf("%s imports %s, which is not below it", rel, to)
			}
			if mine, theirs := systemOf(pkg), systemOf(to); folder != "app" && folder != "bench" && folder != "demo" && theirs != "" && mine != theirs {
				t.Errorf("%s imports %s: a system must not import another one", rel, to)
			}
		}
		return nil
	})
	if err != nil || checked < 100 {
		t.Errorf("checked %d files: %v", checked, err)
	}
}
