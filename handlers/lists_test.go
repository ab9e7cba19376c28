package handlers_test

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"linkwatch/app/apptest"
)

// Each list of the API takes sort, order and total, and is available as CSV. An unknown sort names the valid ones.
func TestListParameters(t *testing.T) {
	s := apptest.New(t)
	lists := 0
	for path, op := range listOperations(t) {
		params := strings.Join(op.names(), " ")
		sorts := slices.Contains(op.names(), "sort")
		if strings.Contains(params, "page_token") && (!sorts || !strings.Contains(params, "total")) {
			t.Errorf("%s has the parameters %s", path, params)
		}
		if ok := op.Responses["200"]; ok.Content["text/csv"] == nil || ok.Headers["Link"] == nil {
			t.Errorf("%s has no CSV", path)
		}
		if strings.Contains(path, "{") || path == "/v1/tokens" { // tokens need an account
			continue
		}
		lists++
		if sorts {
			p := s.Do("GET", path+"?sort=nothing", "").Problem(http.StatusBadRequest, "invalid-request", "query.sort")
			if sort := op.enum("sort"); !strings.Contains(p["detail"].(string), sort[0]) { //nolint:forcetypeassert // it is a text
				t.Errorf("%s: %v does not name %s", path, p["detail"], sort)
			}
			s.Do("GET", path+"?order=up", "").Problem(http.StatusBadRequest, "invalid-request", "query.order")
			for _, sort := range op.enum("sort") {
				if sort == "relevance" { // of a search
					continue
				}
				s.Do("GET", path+"?order=desc&sort="+sort, "").Want(http.StatusOK)
			}
		}
		if strings.Contains(params, "total") {
			apptest.Has(t, s.Do("GET", path, "").Want(http.StatusOK), map[string]any{"total_results": nil, "total_is_lower_bound": nil})
			list := s.Do("GET", path+"?total=true", "").Want(http.StatusOK)
			apptest.Has(t, list, map[string]any{"total_results": float64(len(apptest.Items(list))), "total_is_lower_bound": false})
		}
		if got := s.Request("GET", path, "Accept", "text/csv"); got.Status != http.StatusOK || got.Header.Get("Content-Type") != "text/csv; charset=utf-8" || got.Header.Get("Vary") == "" {
			t.Errorf("%s: %d %v", path, got.Status, got.Header)
		}
	}
	if lists < 20 {
		t.Errorf("only %d lists were asked", lists)
	}
}

type listOperation struct {
	Parameters []struct {
		Name   string
		Schema struct{ Enum []string }
	}
	Responses map[string]struct {
		Headers map[string]any
		Content map[string]*struct {
			Schema struct {
				Ref string `json:"$ref"`
			}
		}
	}
}

func (o listOperation) names() (names []string) {
	for _, p := range o.Parameters {
		names = append(names, p.Name)
	}
	return names
}

func (o listOperation) enum(param string) []string {
	for _, p := range o.Parameters {
		if p.Name == param {
			return p.Schema.Enum
		}
	}
	return nil
}

// listOperations returns the operations of the document that return a list, by path.
func listOperations(t *testing.T) map[string]listOperation {
	t.Helper()
	text, err := os.ReadFile("api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	all := map[string]listOperation{}
	for path, methods := range doc.Paths {
		var op listOperation
		if methods["get"] == nil || !strings.HasPrefix(path, "/v1/") || json.Unmarshal(methods["get"], &op) != nil {
			continue
		}
		body := op.Responses["200"].Content["application/json"]
		if body == nil {
			continue
		}
		members := doc.Components.Schemas[strings.TrimPrefix(body.Schema.Ref, "#/components/schemas/")].Properties
		if members["items"] != nil || members["results"] != nil {
			all[path] = op
		}
	}
	return all
}

// A page continues in its order, and a token is only for the order that it was made in.
func TestTokensOfOrders(t *testing.T) {
	apptest.EachEngine(t, func(s *apptest.App) {
		for _, host := range []string{"c", "a", "b"} {
			s.Watch("https://"+host+".test", "")
		}
		for query, want := range map[string]string{
			"":                                  "c.test a.test b.test",
			"sort=created_at":                   "c.test a.test b.test",
			"order=asc":                         "c.test a.test b.test",
			"order=desc":                        "b.test a.test c.test",
			"sort=host":                         "a.test b.test c.test",
			"sort=host&order=desc":              "c.test b.test a.test",
			"sort=canonical_url&order=desc&q=s": "c.test b.test a.test",
		} {
			var got []string
			token := ""
			for range 4 {
				list := s.Do("GET", "/v1/targets?limit=1&total=true&"+query+"&page_token="+token, "").Want(http.StatusOK)
				apptest.Has(s.TB, list, map[string]any{"total_results": 3.0})
				got = append(got, apptest.Column(list, "host"))
				if token, _ = list["next_page_token"].(string); token == "" {
					break
				}
				for _, other := range []string{"sort=created_at", "order=desc", "sort=host", "sort=canonical_url&order=desc"} {
					same := query == other || other == "sort=created_at" && (query == "" || query == "order=asc") || strings.HasPrefix(query, other)
					if !same {
						s.Do("GET", "/v1/targets?"+other+"&page_token="+token, "").Problem(http.StatusBadRequest, "invalid-request", "query.page_token")
					}
				}
			}
			if strings.Join(got, " ") != want {
				s.Errorf("%s: %s, want %s", query, got, want)
			}
		}
		s.Do("GET", "/v1/targets?sort=host&host=a.test", "").Problem(http.StatusBadRequest, "invalid-request", "query.sort")
	})
}

// Links and tags are sorted, too.
func TestOrdersOfLinks(t *testing.T) {
	apptest.EachEngine(t, func(s *apptest.App) {
		for i, name := range []string{"one", "two", "three"} {
			l := s.Save("https://"+name+".test", "t"+name)
			for range []int{2, 0, 1}[i] {
				s.Do("GET", "/v1/link/"+l.ID, "").Want(http.StatusOK)
			}
		}
		for query, want := range map[string]string{
			"":                          "three two one",
			"order=asc":                 "one two three",
			"order=asc&expired=all":     "one two three",
			"sort=created_at&order=asc": "one two three",
			"sort=view_count":           "one three two",
			"sort=view_count&order=asc": "two three one",
		} {
			var got []string
			for _, page := range []string{"1", "2", "3"} {
				got = append(got, apptest.Column(s.Do("GET", "/v1/links?per_page=1&page="+page+"&"+query, "").Want(http.StatusOK), "canonical_url"))
			}
			if all := strings.NewReplacer("https://", "", ".test", "").Replace(strings.Join(got, " ")); all != want {
				s.Errorf("%s: %s, want %s", query, all, want)
			}
		}
		for query, want := range map[string]string{"": "tone tthree ttwo", "order=desc": "ttwo tthree tone", "sort=last_used_at": "tthree ttwo tone", "sort=last_used_at&order=asc": "tone ttwo tthree"} {
			if got := apptest.Column(s.Do("GET", "/v1/tags?"+query, "").Want(http.StatusOK), "name"); got != want {
				s.Errorf("tags %s: %s, want %s", query, got, want)
			}
		}
		s.Do("GET", "/v1/links?sort=view_count&health=ok", "").Problem(http.StatusBadRequest, "invalid-request", "query.sort")
	})
}

// A list is CSV if the client prefers that. Errors and other responses are not.
func TestCSV(t *testing.T) {
	s := apptest.New(t)
	s.Watch("https://a.test", "=1+1")
	s.Watch("https://b.test", "b")
	for accept, want := range map[string]bool{
		"text/csv": true, "TEXT/CSV; charset=utf-8": true, "text/*": true, "text/csv, */*;q=0.1": true, "text/csv, */*": true, "application/json;q=0.5, text/csv": true,
		"": false, "*/*": false, "application/json": false, "text/csv, application/json": false, "text/csv;q=0": false, "text/csv;q=0.4, application/json;q=0.5": false,
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": false, "text/csv;q=x, */*": false, "image/png": false,
	} {
		got := s.Request("GET", "/v1/targets", "Accept", accept)
		if is := strings.HasPrefix(got.Header.Get("Content-Type"), "text/csv"); is != want || got.Status != http.StatusOK {
			t.Errorf("%q: %s", accept, got.Header.Get("Content-Type"))
		}
		if !slices.Contains(got.Header.Values("Vary"), "Accept") {
			t.Errorf("%q: Vary %q", accept, got.Header.Values("Vary"))
		}
	}
	path := "/api/v1/targets?limit=1&sort=host"
	var names []string
	for path != "" && len(names) < 3 {
		got := s.Request("GET", path, "Accept", "text/csv")
		rows, err := csv.NewReader(strings.NewReader(got.Body)).ReadAll()
		if err != nil || len(rows) != 2 {
			t.Fatalf("%s: %v %q", path, err, got.Body)
		}
		names = append(names, rows[1][slices.Index(rows[0], "name")])
		for column, want := range map[string]string{"status": "pending", "uptime.24h": "", "expect.status": "200-399", "last_checked_at": "", "interval_seconds": "30", "paused": "false"} {
			if i := slices.Index(rows[0], column); i < 0 || column != "interval_seconds" && column != "expect.status" && rows[1][i] != want {
				t.Errorf("%s: column %s of %q: want %q", path, column, rows, want)
			}
		}
		link := got.Header.Get("Link")
		path, _, _ = strings.Cut(strings.TrimPrefix(link, "<"), ">")
		if link != "" && (!strings.HasPrefix(path, "/api/v1/targets?") || !strings.HasSuffix(link, `; rel="next"`)) {
			t.Errorf("Link: %s", link)
		}
	}
	if got := strings.Join(names, " "); got != "'=1+1 b" {
		t.Errorf("names %q", got)
	}
	s.Send("GET", "/v1/targets?limit=0", "", "", "Accept", "text/csv").Problem(http.StatusBadRequest, "invalid-request", "query.limit")
	if got := s.Request("GET", "/v1/jobs/status-counts", "Accept", "text/csv").Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("no list: %s", got)
	}
	s.Save("https://a.test", "x", "y")
	s.Save("https://b.test")
	got := s.Request("GET", "/v1/links?per_page=1&page=2", "Accept", "text/csv")
	if link := got.Header.Get("Link"); link != "" || !strings.Contains(got.Body, `"[""x"",""y""]"`) || !strings.Contains(got.Body, `"opengraph.title"`) {
		t.Errorf("%q %s", link, got.Body)
	}
	if link := s.Request("GET", "/v1/links?per_page=1", "Accept", "text/csv").Header.Get("Link"); link != `</v1/links?page=2&per_page=1>; rel="next"` {
		t.Errorf("Link: %s", link)
	}
	head := s.Request("HEAD", "/v1/links", "Accept", "text/csv")
	if head.Status != http.StatusOK || !strings.HasPrefix(head.Header.Get("Content-Type"), "text/csv") {
		t.Errorf("HEAD: %d %s", head.Status, head.Header.Get("Content-Type"))
	}
}
