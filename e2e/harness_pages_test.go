//go:build e2e

package e2e

import (
	"io"
	"net/http"
	"os"
	"strings"
)

// routes is the list of all routes, which a test in app/ compares with the router.
const routes = "../app/testdata/routes.txt"

// pages returns the paths of all pages without a parameter: the GET routes that return 200 and a complete HTML document.
// It leaves out Swagger UI, which is third-party code.
func (s *Server) pages() (paths []string) {
	s.t.Helper()
	list, err := os.ReadFile(routes)
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		route := strings.Fields(line) // role, method, path; more on a host of its own
		if len(route) != 3 || route[1] != http.MethodGet || strings.ContainsAny(route[2], ":*") || route[2] == "/apidoc" || strings.HasPrefix(route[2], "/sse/") {
			continue
		}
		res := send(s.t, s, http.MethodGet, route[2], "", func(r *http.Request) { r.Header.Set("Accept", "text/html") })
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode >= http.StatusInternalServerError {
			s.t.Fatalf("GET %s: %s, %v", route[2], res.Status, err)
		}
		if res.StatusCode == http.StatusOK && strings.HasPrefix(strings.ToLower(string(body)), "<!doctype html>") {
			paths = append(paths, route[2])
		}
	}
	if len(paths) == 0 {
		s.t.Fatalf("%s has no pages", routes)
	}
	return paths
}
