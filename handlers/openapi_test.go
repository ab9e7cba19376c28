package handlers_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"linkwatch/app/apptest"
)

// TestOpenAPI compares the committed document with the generated one. After a change of the API, run
// bash tools/gen.sh.
func TestOpenAPI(t *testing.T) {
	s := apptest.New(t)
	want, err := os.ReadFile("api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Do("GET", "/openapi.json", ""); got.Body != string(want) {
		t.Error("openapi.json is out of date: run bash tools/gen.sh")
	}
}

// TestOpenAPI30 finds keywords that OpenAPI 3.0 does not have. Validators ignore them or accept
// them as extensions.
func TestOpenAPI30(t *testing.T) {
	s := apptest.New(t)
	walk("", s.Do("GET", "/openapi-3.0.json", "").Want(200), func(at string, v map[string]any) {
		if strings.HasSuffix(at, "/properties") {
			return
		}
		for _, word := range []string{"patternDescription", "contentMediaType", "contentEncoding", "dependentRequired", "examples", "const", "identifier"} {
			if v[word] != nil {
				t.Errorf("%s: %s is not OpenAPI 3.0", at, word)
			}
		}
		if _, list := v["type"].([]any); list {
			t.Errorf("%s: a list of types is not OpenAPI 3.0", at)
		}
		for _, bound := range []string{"exclusiveMinimum", "exclusiveMaximum"} {
			if _, number := v[bound].(float64); number {
				t.Errorf("%s: a number as %s is not OpenAPI 3.0", at, bound)
			}
		}
		if v["$ref"] != nil && len(v) > 1 {
			t.Errorf("%s: members next to $ref are ignored in OpenAPI 3.0", at)
		}
		if v["nullable"] == true && v["type"] == nil {
			t.Errorf("%s: nullable has no effect without type in OpenAPI 3.0", at)
		}
	})
}

// walk calls see for each object of a JSON document.
func walk(at string, v any, see func(at string, v map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		see(at, v)
		for name, inner := range v {
			walk(at+"/"+name, inner, see)
		}
	case []any:
		for i, inner := range v {
			walk(fmt.Sprint(at, "/", i), inner, see)
		}
	}
}

type document struct {
	Paths map[string]map[string]operation
	Tags  []struct{ Name, Description string }
}

type operation struct {
	OperationID          string `json:"operationId"`
	Summary, Description string
	Tags                 []string
	Responses            map[string]struct {
		Ref string `json:"$ref"`
	}
}

func readDocument(t *testing.T) (d document) {
	t.Helper()
	b, err := os.ReadFile("api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestOpenAPIDescribesEverything: every operation, parameter, response, header,
// member and tag has a description.
func TestOpenAPIDescribesEverything(t *testing.T) {
	s := apptest.New(t)
	for _, path := range []string{"/openapi.json", "/openapi-3.0.json"} {
		described := func(at string, v any) {
			m, ok := v.(map[string]any)
			if text, _ := m["description"].(string); ok && m["$ref"] == nil && text == "" {
				t.Errorf("%s: %s has no description", path, at)
			}
		}
		doc := s.Do("GET", path, "").Want(200)
		for _, tag := range apptest.Objects(doc["tags"]) {
			described("tag "+fmt.Sprint(tag["name"]), tag)
		}
		components, _ := doc["components"].(map[string]any)
		for _, kind := range []string{"responses", "headers", "parameters", "securitySchemes"} {
			all, _ := components[kind].(map[string]any)
			for name, v := range all {
				described(kind+"/"+name, v)
			}
		}
		walk("", doc, func(at string, v map[string]any) {
			for _, kind := range []string{"properties", "responses", "headers"} {
				all, _ := v[kind].(map[string]any)
				for name, inner := range all {
					if kind == "properties" || !strings.HasPrefix(at, "/components") {
						described(at+"/"+kind+"/"+name, inner)
					}
				}
			}
			for _, p := range apptest.Objects(v["parameters"]) {
				described(at+"/"+fmt.Sprint(p["name"]), p)
			}
			if v["operationId"] != nil {
				described(at, v)
			}
		})
	}
}

// TestOpenAPIIsUseful: operations have unique ids and list their errors, aliases are not listed, and
// all tags are used.
func TestOpenAPIIsUseful(t *testing.T) {
	doc := readDocument(t)
	tags := map[string]bool{}
	for _, tag := range doc.Tags {
		tags[tag.Name] = false
	}
	seen := map[string]bool{}
	for path, ops := range doc.Paths {
		if strings.HasPrefix(path, "/api/") {
			t.Errorf("alias %s is listed", path)
		}
		for method, op := range ops {
			if op.OperationID == "" || seen[op.OperationID] || op.Summary == "" || len(op.Tags) != 1 {
				t.Errorf("%s %s: got %+v", method, path, op)
			}
			seen[op.OperationID] = true
			for _, tag := range op.Tags {
				if _, ok := tags[tag]; !ok {
					t.Errorf("%s %s: got unknown tag %s", method, path, tag)
				}
				tags[tag] = true
			}
			if op.Responses["default"].Ref != "" || op.Responses["500"].Ref == "" || op.Responses["403"].Ref == "" {
				t.Errorf("%s %s: got no errors: %v", method, path, op.Responses)
			}
		}
	}
	for tag, used := range tags {
		if !used {
			t.Errorf("no operation has the tag %s", tag)
		}
	}
	for _, id := range []string{"follow-short-link", "follow-short-link-head", "check-liveness", "check-readiness", "get-health", "get-metrics"} {
		if !seen[id] {
			t.Errorf("%s is not described", id)
		}
	}
}

// TestOpenAPIErrors: the document lists the problem types of each operation.
func TestOpenAPIErrors(t *testing.T) {
	s := apptest.New(t)
	doc := s.Do("GET", "/openapi.json", "").Want(200)
	components, _ := doc["components"].(map[string]any)
	shared, _ := components["responses"].(map[string]any)
	types := map[string]string{} // types of each shared response
	for name, r := range shared {
		walk(name, r, func(at string, v map[string]any) {
			if enum, ok := v["enum"].([]any); ok && strings.HasSuffix(at, "/type") {
				types["#/components/responses/"+name] = strings.ReplaceAll(strings.Trim(fmt.Sprint(enum), "[]"), "/probs/", "")
			}
		})
	}
	for call, want := range map[string]map[string]string{
		"get /v1/links": {"400": "invalid-request", "401": "unauthorized", "403": "forbidden", "429": "rate-limited", "500": "internal", "503": "unavailable"},
		"post /v1/links": {
			"400": "invalid-request too-many-tags", "422": "link-unresolvable blocked-address",
			"408": "request-timeout", "413": "too-large", "415": "unsupported-media-type",
		},
		"get /v1/link/{id}":            {"404": "not-found"},
		"put /v1/link/{id}":            {"404": "not-found", "422": "link-unresolvable"},
		"post /v1/link/{id}/tags":      {"400": "invalid-request too-many-tags", "404": "not-found"},
		"post /v1/shortlinks":          {"409": "conflict", "429": "rate-limited"},
		"post /v1/targets/{id}/check":  {"404": "not-found", "409": "conflict"},
		"get /s/{key}":                 {"404": "not-found", "410": "gone", "503": "unavailable"},
		"head /s/{key}":                {"404": "not-found", "410": "gone", "503": "unavailable"},
		"get /readyz":                  {"503": "unavailable"},
		"post /v1/admin/cleanup/run":   {"409": "conflict"},
		"post /v1/admin/jobs/{id}/run": {"404": "not-found", "409": "conflict"},
	} {
		method, path, _ := strings.Cut(call, " ")
		for status, want := range want {
			if got := types[readDocument(t).Paths[path][method].Responses[status].Ref]; got != want {
				t.Errorf("%s, %s: got %q, want %q", call, status, got, want)
			}
		}
	}
}

// TestOpenAPIMembersArePresent: all members of responses are required.
func TestOpenAPIMembersArePresent(t *testing.T) {
	s := apptest.New(t)
	components, _ := s.Do("GET", "/openapi.json", "").Want(200)["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	for name, v := range schemas {
		if strings.HasSuffix(name, "InputBody") || strings.HasSuffix(name, "Settings") { // schemas of requests
			continue
		}
		schema, _ := v.(map[string]any)
		required, _ := schema["required"].([]any)
		properties, _ := schema["properties"].(map[string]any)
		for member := range properties {
			if !slices.Contains(required, any(member)) && name+"."+member != "Problem.errors" && name+"."+member != "Problem.current" {
				t.Errorf("%s.%s is optional", name, member)
			}
		}
	}
}

// TestOpenAPINullInPatch: members of a PATCH are nullable if null clears them, so that generated
// clients can send null.
func TestOpenAPINullInPatch(t *testing.T) {
	s := apptest.New(t)
	for path, isNullable := range map[string]func(map[string]any) bool{
		"/openapi.json": func(m map[string]any) bool {
			types, _ := m["type"].([]any)
			return slices.Contains(types, any("null"))
		},
		"/openapi-3.0.json": func(m map[string]any) bool { return m["nullable"] == true },
	} {
		components, _ := s.Do("GET", path, "").Want(200)["components"].(map[string]any)
		schemas, _ := components["schemas"].(map[string]any)
		member := func(at ...string) (object, m map[string]any) {
			m, _ = schemas[at[0]].(map[string]any)
			for _, name := range at[1:] {
				object = m
				properties, _ := m["properties"].(map[string]any)
				m, _ = properties[name].(map[string]any)
			}
			return object, m
		}
		for of, want := range map[string]bool{
			"EditTargetInputBody name": true, "EditTargetInputBody interval_seconds": true, "EditTargetInputBody expect": true,
			"EditTargetInputBody expect status": true, "EditTargetInputBody expect keyword": true,
			"EditTargetInputBody expect keyword_absent": true, "EditTargetInputBody expect max_latency_ms": true,
			"EditTargetInputBody paused": false, "EditShortLinkInputBody long_url": false, "EditShortLinkInputBody disabled": false,
			"EditShortLinkInputBody expires_at": true, "EditShortLinkInputBody max_visits": true, "EditShortLinkInputBody title": true,
			"AnnotateInputBody title": true, "AnnotateInputBody notes": true, "ExpireInputBody expired": false,
		} {
			object, m := member(strings.Fields(of)...)
			if m == nil || isNullable(m) != want {
				t.Errorf("%s, %s: want nullable %v, got %v", path, of, want, m)
			}
			if required, _ := object["required"].([]any); want && len(required) > 0 {
				t.Errorf("%s: got required members of %s: %v", path, of, required)
			}
		}
	}
}
