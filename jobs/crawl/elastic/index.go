package elastic

import (
	"context"
	_ "embed" // index.json
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"linkwatch/models"
	"linkwatch/models/crawl"
)

// definition is the request that creates an index. Its mapping is not dynamic, and the JSON-LD is
// stored but not indexed. A field such as publisher is a string on one page and an object on
// another, so a dynamic mapping would reject one of them.
//
//go:embed index.json
var definition []byte

const (
	suffix   = "_raw_content"
	maxIndex = 200 // maximum length of a name in bytes; engines allow 255
)

// Index returns the name of the index of a document: the name of its source in lower case with the
// suffix _raw_content. Each run of characters other than a-z and 0-9 becomes "_". If nothing is
// left of the name, the id of the source is used. Sources with the same name share an index.
func Index(d crawl.Document) string {
	for _, name := range []string{d.SourceName, d.SourceID} {
		if name = plain(name); name != "" {
			return name + suffix
		}
	}
	return "source" + suffix
}

func plain(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	name = strings.Join(words, "_")
	if limit := maxIndex - len(suffix); len(name) > limit {
		name = strings.TrimRight(name[:limit], "_")
	}
	return name
}

const (
	// checkTTL is how long an index is assumed to exist after a check. Writing to an index that was
	// deleted meanwhile would create it with a dynamic mapping.
	checkTTL   = time.Minute
	maxIndexes = 4096 // maximum number of remembered names
)

// indexes creates the indexes of documents. It is not safe for concurrent use.
type indexes struct {
	client *client
	clock  models.Clock
	log    *slog.Logger
	known  map[string]time.Time // when they were checked
	warned map[string]bool
}

// ensure creates an index unless it exists. An index with a different mapping is used as it is, and
// logged once.
func (x *indexes) ensure(ctx context.Context, name string) error {
	if at, ok := x.known[name]; ok && x.clock.Instant().Sub(at) < checkTTL {
		return nil
	}
	delete(x.known, name)
	var found mappings
	read := request{method: http.MethodGet, path: name + "/_mapping", query: url.Values{"filter_path": {mappingParts}}}
	err := x.client.do(ctx, read, &found)
	switch {
	case err == nil:
		if len(x.warned) >= maxIndexes {
			clear(x.warned)
		}
		if !x.warned[name] && !isOurs(found) {
			x.warned[name] = true
			x.log.Warn("index has a different mapping, documents may be refused", "index", name)
		}
	case status(err) == http.StatusNotFound:
		create := request{method: http.MethodPut, path: name, bodyType: typeJSON, body: definition}
		if err = x.client.do(ctx, create, &struct{}{}); err != nil && !exists(err) {
			return fmt.Errorf("create index %s: %w", name, err)
		}
	default:
		return fmt.Errorf("check index %s: %w", name, err)
	}
	if len(x.known) >= maxIndexes {
		clear(x.known)
	}
	x.known[name] = x.clock.Instant()
	return nil
}

// forget makes ensure check the index again.
func (x *indexes) forget(name string) { delete(x.known, name) }

// exists reports whether creating an index failed because another instance has created it.
func exists(err error) bool {
	e, ok := asStatus(err)
	return ok && e.kind == "resource_already_exists_exception"
}

// mappings are the mappings of the indexes behind a name.
type mappings map[string]struct {
	Mappings json.RawMessage `json:"mappings"`
}

// mappingParts are the members of mappings that isOurs compares.
const mappingParts = "*.mappings.dynamic,*.mappings.properties.*.type," +
	"*.mappings.properties.json_ld_data.properties.jsonld_raw.enabled"

// mapping is the part of a mapping that isOurs compares.
type mapping struct {
	Dynamic    any `json:"dynamic"` // false or "false"
	Properties map[string]struct {
		Type       string `json:"type"`
		Properties map[string]struct {
			Enabled any `json:"enabled"`
		} `json:"properties"`
	} `json:"properties"`
}

func (m mapping) isDynamic() bool { d := fmt.Sprint(m.Dynamic); return d != "false" && d != "strict" }

func (m mapping) jsonLDEnabled() bool {
	return fmt.Sprint(m.Properties["json_ld_data"].Properties["jsonld_raw"].Enabled) != "false"
}

// isOurs reports whether the indexes behind a name accept all documents: the mapping is not dynamic,
// and the fields have the types of index.json.
func isOurs(found mappings) bool {
	var ours struct {
		Mappings mapping `json:"mappings"`
	}
	if err := json.Unmarshal(definition, &ours); err != nil {
		return false
	}
	for _, index := range found {
		var theirs mapping
		if err := json.Unmarshal(index.Mappings, &theirs); err != nil || theirs.isDynamic() || theirs.jsonLDEnabled() {
			return false
		}
		for field, want := range ours.Mappings.Properties {
			if theirs.Properties[field].Type != want.Type {
				return false
			}
		}
	}
	return len(found) > 0
}
