package elastic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// engine is a fake search engine with configurable failures. It validates requests as
// Elasticsearch and OpenSearch do. It fails the test for requests that they would accept
// but the service must not send.
type engine struct {
	*testing.T
	*httptest.Server

	mu       sync.Mutex
	indexes  map[string]*index
	requests int // number of _bulk requests
	auth     string

	fail func(w http.ResponseWriter, r *http.Request) bool // handles a request instead of the engine
	item func(id string) (status int, kind string)         // returns an error status for a document; 0 = none
}

type index struct {
	mapping property
	docs    map[string]document
}

type document struct {
	version int64
	source  map[string]any
}

// property is a field or a whole mapping.
type property struct {
	Dynamic    any                  `json:"dynamic,omitempty"`
	Type       string               `json:"type,omitempty"`
	Enabled    *bool                `json:"enabled,omitempty"`
	Properties map[string]*property `json:"properties,omitempty"`
}

func newEngine(t *testing.T) *engine {
	t.Helper()
	e := &engine{T: t, indexes: map[string]*index{}}
	e.Server = httptest.NewServer(http.HandlerFunc(e.serve))
	t.Cleanup(e.Close)
	return e
}

// change sets the failures of the engine; nil = none.
func (e *engine) change(fail func(http.ResponseWriter, *http.Request) bool, item func(string) (int, string)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fail, e.item = fail, item
}

// stored returns the documents of an index by id; nil = the index does not exist.
func (e *engine) stored(name string) map[string]document {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.indexes[name] == nil {
		return nil
	}
	return maps.Clone(e.indexes[name].docs)
}

func (e *engine) bulks() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.requests
}

func (e *engine) serve(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	fail := e.fail
	e.auth = r.Header.Get("Authorization")
	if strings.HasSuffix(r.URL.Path, "/_bulk") {
		e.requests++
	}
	e.mu.Unlock()
	if fail != nil && fail(w, r) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, "/prefix")
	name, isMapping := strings.CutSuffix(strings.TrimPrefix(path, "/"), "/_mapping")
	x := e.indexes[name]
	switch {
	case r.Method == "POST" && path == "/_bulk":
		e.bulk(w, r)
	case r.Method == "GET" && isMapping && x == nil:
		respond(w, 404, problem(404, "index_not_found_exception"))
	case r.Method == "GET" && isMapping:
		respond(w, 200, map[string]any{name: map[string]any{"mappings": x.mapping}})
	case r.Method == "PUT" && x != nil:
		respond(w, 400, problem(400, "resource_already_exists_exception"))
	case r.Method == "PUT":
		var body struct{ Mappings *property }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Mappings == nil || body.Mappings.Dynamic != false {
			e.Errorf("index %s is created without an explicit mapping: %+v %v", name, body, err)
		}
		if r.Header.Get("Content-Type") != "application/json" {
			e.Errorf("content type %s", r.Header.Get("Content-Type"))
		}
		e.indexes[name] = &index{*body.Mappings, map[string]document{}}
		respond(w, 200, map[string]any{"acknowledged": true, "index": name})
	default:
		e.Errorf("unexpected request %s %s", r.Method, r.URL)
	}
}

// bulk reads pairs of lines. It is stricter than a real engine.
func (e *engine) bulk(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has disconnected
	}
	if r.Header.Get("Content-Type") != "application/x-ndjson" || !bytes.HasSuffix(body, []byte("\n")) || r.ContentLength != int64(len(body)) {
		e.Errorf("a bulk of type %s, length %d and end %q", r.Header.Get("Content-Type"), r.ContentLength, body[max(0, len(body)-5):])
	}
	lines := bytes.Split(bytes.TrimSuffix(body, []byte("\n")), []byte("\n"))
	var items []any
	for i := 0; i < len(lines); i++ {
		var action map[string]struct {
			Index       string `json:"_index"`
			ID          string `json:"_id"`
			Version     *int64 `json:"version"`
			VersionType string `json:"version_type"`
		}
		d := json.NewDecoder(bytes.NewReader(lines[i]))
		d.DisallowUnknownFields()
		if err := d.Decode(&action); err != nil || len(action) != 1 {
			e.Errorf("line %d is no action: %s %v", i, lines[i], err)
			return
		}
		for verb, meta := range action {
			if meta.ID == "" || meta.Version == nil || meta.VersionType != "external_gte" || verb != "index" && verb != "delete" {
				e.Errorf("action %s %+v", verb, meta)
				return
			}
			var source map[string]any
			if verb == "index" {
				i++
				if i >= len(lines) || json.Unmarshal(lines[i], &source) != nil {
					e.Errorf("line %d is no document", i)
					return
				}
			}
			status, kind := e.write(meta.Index, meta.ID, *meta.Version, source)
			items = append(items, map[string]any{verb: item(meta.Index, meta.ID, status, kind)})
		}
	}
	respond(w, 200, map[string]any{"took": 1, "errors": true, "items": items})
}

// write stores a document, or deletes it if it has no source.
func (e *engine) write(name, id string, version int64, source map[string]any) (status int, kind string) {
	if e.item != nil {
		if status, kind = e.item(id); status != 0 {
			return status, kind
		}
	}
	x := e.indexes[name]
	if x == nil {
		e.Errorf("document %s is written to the index %s, which was not created", id, name)
		return 404, "index_not_found_exception"
	}
	old, known := x.docs[id]
	switch {
	case known && old.version > version:
		return 409, "version_conflict_engine_exception"
	case source == nil && !known:
		return 404, ""
	case source == nil:
		delete(x.docs, id)
		return 200, ""
	}
	if !x.mapping.fits(source) {
		return 400, "document_parsing_exception"
	}
	x.docs[id] = document{version, source}
	return 201, ""
}

// fits reports whether the mapping accepts a value. A dynamic mapping adds new members.
func (p *property) fits(value any) bool {
	object, isObject := value.(map[string]any)
	text, isText := value.(string)
	number, isNumber := value.(float64)
	if list, ok := value.([]any); ok {
		for _, v := range list {
			if !p.fits(v) {
				return p.Enabled != nil && !*p.Enabled
			}
		}
		return true
	}
	switch {
	case p.Enabled != nil && !*p.Enabled:
		return true
	case p.Type == "text", p.Type == "keyword":
		return isText
	case p.Type == "integer":
		return isNumber && number == float64(int32(number))
	case p.Type == "date":
		_, err := time.Parse(time.RFC3339Nano, text)
		return isText && err == nil
	case !isObject:
		return false
	}
	for name, v := range object {
		field := p.Properties[name]
		if field == nil && fmt.Sprint(p.Dynamic) != "false" {
			field = guess(v)
			p.Properties[name] = field
		}
		if field != nil && !field.fits(v) {
			return false
		}
	}
	return true
}

// guess returns the dynamic mapping of a value.
func guess(value any) *property {
	switch v := value.(type) {
	case []any:
		return guess(v[0])
	case string:
		return &property{Type: "text"}
	case float64:
		return &property{Type: "integer"}
	}
	return &property{Properties: map[string]*property{}}
}

func item(index, id string, status int, kind string) map[string]any {
	it := map[string]any{"_index": index, "_id": id, "status": status}
	if kind != "" {
		it["error"] = map[string]any{"type": kind, "reason": "because " + id}
	}
	return it
}

func problem(status int, kind string) map[string]any {
	return map[string]any{"status": status, "error": map[string]any{"type": kind, "reason": "because"}}
}

func respond(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
