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

// Audit is the audit log.
type Audit struct {
	ui.Page
	Place   AuditPlace
	Entries models.Slice[audit.Entry]
	Errors  ui.Errors // of the filters, by the name of the parameter
}

// AuditPlace is a part of the audit log: its filters as they were typed, and where it begins.
type AuditPlace struct {
	Actor, Action, Subject, Address, Since, Until string
	Token                                         string // it begins after it; "" = at the newest entry
}

// AuditLabels are the labels of the filters, by the names of the parameters.
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

// Path is the address of the part.
func (p AuditPlace) Path() string { return ui.WithQuery(AuditPath, p.query()) }

// csvPath is the address of all filtered entries as a file.
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

// value is a member of an entry before and after.
type value struct{ Name, Before, After string }

// values are the members of an entry, in the order of their names.
func values(e audit.Entry) (all []value) {
	before, after := members(e.Before), members(e.After)
	names := slices.Collect(maps.Keys(before))
	for name := range after {
		if _, ok := before[name]; !ok {
			names = append(names, name)
		}
	}
	for _, name := range slices.Sorted(slices.Values(names)) {
		all = append(all, value{name, said(before, name), said(after, name)})
	}
	return all
}

// members reads the values of an entry; nil if there are none.
func members(text string) (m map[string]json.RawMessage) {
	if text == "" || json.Unmarshal([]byte(text), &m) != nil {
		return nil
	}
	return m
}

// said is a member as people read it: a text without its quotes, lists with commas, else JSON.
func said(m map[string]json.RawMessage, name string) string {
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

// subjectName is what an entry calls its subject.
func subjectName(e audit.Entry) string { return cmp.Or(e.SubjectName, e.SubjectID) }

// kindWords are the kind of the subject of an entry in words: "short link".
func kindWords(kind string) string { return strings.ReplaceAll(kind, "_", " ") }

// summary says what the details of an entry are: changes of a thing that was there before, else
// what it had, or got.
func summary(e audit.Entry, all []value) string {
	if e.Before != "" && e.After != "" {
		return ui.Plural(len(all), "change")
	}
	return "Details"
}
