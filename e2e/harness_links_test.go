//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
)

type link struct {
	ID, URL, Title, Health, Notes string
	Tags                          []string
	Expired                       bool
	OpenGraph                     struct{ Title, Description, Image string }
}

// save saves a link through the API. The link must be new and its page must be available.
func (s *Server) save(url string, tags ...string) link {
	s.t.Helper()
	var raw json.RawMessage
	var l link
	status := s.Call("POST", "/v1/links", map[string]any{"url": url, "tags": tags}, &raw)
	if status != http.StatusCreated {
		s.t.Fatalf("save %s: status %d: %s", url, status, raw)
	}
	if err := json.Unmarshal(raw, &l); err != nil {
		s.t.Fatal(err)
	}
	return l
}

// found returns the first page and the total of a list or search of links.
func (s *Server) found(path string) (results []link, total int) {
	s.t.Helper()
	var list struct {
		Total   int `json:"total_results"`
		Results []link
	}
	if status := s.Call("GET", path, nil, &list); status != http.StatusOK {
		s.t.Fatalf("GET %s: status %d", path, status)
	}
	return list.Results, list.Total
}

// rowTitles is an expression: the titles in the list of links.
const rowTitles = `[...document.querySelectorAll(".row .title")].map(a => a.textContent)`

// shows waits until the list has exactly these titles, in this order.
func (b *tab) shows(titles ...string) {
	b.t.Helper()
	b.wait(fmt.Sprintf("JSON.stringify(%s) === JSON.stringify(%s)", rowTitles, quote(titles)))
}
