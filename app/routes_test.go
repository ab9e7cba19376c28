package app_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/handlers/middleware"
)

var update = flag.Bool("update", false, "write testdata/routes.txt")

// TestRoutes checks the list of routes and roles, so that access changes only on purpose. To write the list, run
// `go test ./app -run TestRoutes -update`.
func TestRoutes(t *testing.T) {
	a := apptest.New(t, apptest.Set("SHORT_HOST", "go.example"))
	got := listRoutes("", a.Router.Routes())
	for name, routes := range a.Router.HostRoutes() {
		got = append(got, listRoutes(" at "+name, routes)...)
	}
	const file = "testdata/routes.txt"
	text := strings.Join(got, "\n") + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(b)), "\n")
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("served, but not in %s: %s", file, line)
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("in %s, but not served: %s", file, line)
		}
	}
}

// listRoutes returns a line for each route, such as "editor POST /links".
func listRoutes(at string, routes []middleware.Route) []string {
	var lines []string
	for _, r := range routes {
		line := fmt.Sprintf("%-6s %-6s %s%s", r.Needs, r.Method, r.Path, at)
		if r.Limit != nil {
			line += " (limited)"
		}
		lines = append(lines, line)
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[7:], b[7:]) })
	return lines
}
