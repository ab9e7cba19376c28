//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// send sends a request as any client would; with may change it. It does not follow redirects.
func send(t testing.TB, s *Server, method, path, body string, with func(*http.Request)) *http.Response {
	t.Helper()
	req, err := http.NewRequest(method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	with(req)
	res, err := http.DefaultTransport.RoundTrip(req) // does not follow redirects
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

// bodyOf returns the body of a page or another GET.
func bodyOf(t testing.TB, s *Server, path string) string {
	t.Helper()
	body, err := io.ReadAll(send(t, s, "GET", path, "", func(*http.Request) {}).Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// problem is an error of the API.
type problem struct{ Type, Title, Detail string }

// listed returns a page of a list with cursors, and the token of the next page.
func listed[T any](s *Server, path string) (items []T, next string) {
	s.t.Helper()
	var list struct {
		Items []T
		Next  string `json:"next_page_token"`
	}
	if status := s.Call("GET", path, nil, &list); status != http.StatusOK {
		s.t.Fatalf("GET %s: status %d", path, status)
	}
	return list.Items, list.Next
}

// everything returns all items of a list, read in pages of size items.
func everything[T any](s *Server, path string, size int) (all []T) {
	s.t.Helper()
	join := "?"
	if strings.Contains(path, "?") {
		join = "&"
	}
	for token := ""; ; {
		items, next := listed[T](s, fmt.Sprintf("%s%slimit=%d&page_token=%s", path, join, size, url.QueryEscape(token)))
		if len(items) > size {
			s.t.Errorf("a page of %s has %d items, limit is %d", path, len(items), size)
		}
		if all = append(all, items...); next == "" {
			return all
		}
		token = next
	}
}
