package handlers_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestOpenAPI compares the committed description with what the program says of
// itself. After a change of the API: go run . openapi > handlers/api/openapi.json
func TestOpenAPI(t *testing.T) {
	s := newServer(t)
	want, err := os.ReadFile("api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.do("GET", "/openapi.json", ""); got.body != string(want) {
		t.Error("openapi.json is not current: go run . openapi > handlers/api/openapi.json")
	}
}

func TestOpenAPI30(t *testing.T) {
	s := newServer(t)
	doc := s.do("GET", "/openapi-3.0.json", "").want(200)
	if doc["openapi"] != "3.0.3" {
		t.Errorf("openapi %v", doc["openapi"])
	}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if _, list := v["type"].([]any); list {
				t.Errorf("%s: a list of types is not OpenAPI 3.0", at)
			}
			for k, sub := range v {
				walk(at+"/"+k, sub)
			}
		case []any:
			for _, sub := range v {
				walk(at, sub)
			}
		}
	}
	walk("", doc)
}

// TestOpenAPIIsUseful: every operation can be told apart and every member of a
// body is described, and no operation of an alias is listed.
func TestOpenAPIIsUseful(t *testing.T) {
	s := newServer(t)
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Summary     string
			Tags        []string
			Responses   map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(s.do("GET", "/openapi.json", "").body), &doc); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for path, ops := range doc.Paths {
		if !strings.HasPrefix(path, "/v1/") {
			t.Errorf("%s is listed", path)
		}
		for method, op := range ops {
			if op.OperationID == "" || seen[op.OperationID] || op.Summary == "" || len(op.Tags) == 0 {
				t.Errorf("%s %s: %+v", method, path, op)
			}
			seen[op.OperationID] = true
			if len(op.Responses) < 2 {
				t.Errorf("%s %s: no error is described", method, path)
			}
		}
	}
	if len(seen) != 54 {
		t.Errorf("%d operations, want 54", len(seen))
	}
}
