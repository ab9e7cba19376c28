package accounts

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"linkwatch/models"
	"linkwatch/models/audit"
	"linkwatch/views/ui"
)

// Audit is the page of the audit log.
type Audit struct {
	ui.Page
	Place   AuditPlace
	Entries models.Slice[audit.Entry]
	Errors  ui.Errors // of the filters, by parameter
}

// AuditPlace is one page of the audit log: the filters as entered, and the page token.
type AuditPlace struct {
	Actor, Action, Subject, Address, Since, Until string
	Token                                         string // page token; "" = first page
}

// AuditLabels are the labels of the filters, by parameter.
var AuditLabels = map[string]string{
	"actor": "User", "action": "Action", "subject_id": "Subject ID", "address": "Address", "since": "Since", "until": "Until",
}

func (p AuditPlace) query() url.Values {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{
		"actor": p.Actor, "action": p.Action, "subject_id": p.Subject, "address": p.Address, "since": p.Since, "until": p.Until, "page_token": p.Token,
	})
	return q
}

// Path returns the URL path of the place.
func (p AuditPlace) Path() string { return ui.WithQuery(AuditPath, p.query()) }

// csvPath returns the path of the CSV file with all filtered entries.
func (p AuditPlace) csvPath() string {
	p.Token = ""
	return ui.WithQuery(AuditPath+".csv", p.query())
}

func (p AuditPlace) filtered() bool {
	p.Token = ""
	return p != AuditPlace{}
}

func (p AuditPlace) after(c models.Cursor) AuditPlace {
	p.Token = c.Token()
	return p
}

func (p AuditPlace) withActor(name string) AuditPlace {
	p.Actor, p.Token = name, ""
	return p
}

func (p AuditPlace) withSubject(id string) AuditPlace {
	p.Subject, p.Token = id, ""
	return p
}

// value is a member of an entry before and after the change.
type value struct{ Name, Before, After string }

// values returns the members of an entry, sorted by name.
func values(e audit.Entry) (all []value) {
	before, after := members(e.Before), members(e.After)
	names := slices.Collect(maps.Keys(before))
	for name := range after {
		if _, ok := before[name]; !ok {
			names = append(names, name)
		}
	}
	for _, name := range slices.Sorted(slices.Values(names)) {
		all = append(all, value{name, display(before, name), display(after, name)})
	}
	return all
}

// members decodes the values of an entry; nil if there are none.
func members(text string) (m map[string]json.RawMessage) {
	if text == "" || json.Unmarshal([]byte(text), &m) != nil {
		return nil
	}
	return m
}

// display formats a member: strings without quotes, lists with commas, everything else as JSON.
func display(m map[string]json.RawMessage, name string) string {
	raw, ok := m[name]
	if !ok {
		return ""
	}
	var text string
	var list []string
	switch {
	case bytes.Equal(raw, []byte("null")):
		return "none"
	case json.Unmarshal(raw, &text) == nil:
		return cmp.Or(text, "empty")
	case json.Unmarshal(raw, &list) == nil:
		return cmp.Or(strings.Join(list, ", "), "none")
	}
	return string(raw)
}

func subjectName(e audit.Entry) string { return cmp.Or(e.SubjectName, e.SubjectID) }

// kindWords returns the kind of a subject in words: "short link".
func kindWords(kind string) string { return strings.ReplaceAll(kind, "_", " ") }

// summary returns the label of an entry's details.
func summary(e audit.Entry, all []value) string {
	if e.Before != "" && e.After != "" {
		return ui.Plural(len(all), "change")
	}
	return "Details"
}
