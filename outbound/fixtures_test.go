package outbound

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// TestFixtures fetches a collection of real pages, which is outside the repository, and compares the metadata with the
// expected values. It tests HTTP, charset, NewHeadEnd and the parser together.
func TestFixtures(t *testing.T) {
	dir := os.Getenv("LINKWATCH_FIXTURES")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "fixtures", "pages") // next to the repository
	}
	text, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Skipf("no fixtures at %s (set LINKWATCH_FIXTURES to their folder): %v", dir, err)
	}
	var pages map[string]struct {
		Title, Source string
		OpenGraph     struct {
			Title, Description, Image, Type string
			SiteName                        string `json:"site_name"`
		}
	}
	if err := json.Unmarshal(text, &pages); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// No charset: the pages declare their own.
		w.Header().Set("Content-Type", "text/html")
		page, _ := os.ReadFile(filepath.Join(dir, filepath.Base(r.URL.Path)))
		_, _ = w.Write(page)
	}))
	defer srv.Close()
	c := testClient(t, Options{})

	good := 0
	for name, want := range pages {
		for _, until := range []func([]byte) bool{nil, NewHeadEnd()} {
			res, err := c.Fetch(t.Context(), Request{URL: srv.URL + "/" + name + ".html", Until: until})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got := ParseMetadata(res.Body, res.URL, res.Header)
			if p := ParsePage(res.Body, res.URL, res.Header, "Linkwatch"); p.Metadata != got {
				t.Errorf("%s: ParsePage found %+v, ParseMetadata %+v", name, p.Metadata, got)
			}
			got.Description = "" // not among the expected values
			expected := Metadata{Title: want.Title, TitleSource: want.Source, OG: OpenGraph(struct {
				Title, Description, Image, SiteName, Type string
			}{want.OpenGraph.Title, want.OpenGraph.Description, want.OpenGraph.Image, want.OpenGraph.SiteName, want.OpenGraph.Type})}
			if got != expected {
				t.Errorf("%s (early stop %v):\n got %+v\nwant %+v", name, until != nil, got, expected)
			} else {
				good++
			}
		}
	}
	t.Logf("%d of %d", good, 2*len(pages))
}
