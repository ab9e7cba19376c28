package ui

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
)

// EditedField is a field of an edit form with the value that is stored.
type EditedField struct {
	Name, Label string // as in the form
	Value       string // of a text or a choice
	Many        []string
	Kind        EditedKind
	Show        func(value string) string `json:"-"` // see Shown
}

// EditedKind is the kind of an EditedField.
type EditedKind int

// Values of EditedKind.
const (
	TextField EditedKind = iota
	TickField            // a checkbox; Value is Yes or No
	ManyField            // several values with the same name
)

// Edited are the fields of an edit form with the values that are stored. Secrets are left out.
type Edited []EditedField

// Text adds a field with a text or a choice.
func (e Edited) Text(name, label, value string) Edited {
	return append(e, EditedField{Name: name, Label: label, Value: value})
}

// Tick adds a checkbox.
func (e Edited) Tick(name, label string, value bool) Edited {
	return append(e, EditedField{Name: name, Label: label, Value: yesNo(value), Kind: TickField})
}

// Multiple adds a field with several values.
func (e Edited) Multiple(name, label string, values []string) Edited {
	return append(e, EditedField{Name: name, Label: label, Many: values, Kind: ManyField})
}

// Shown sets how a value of the last field is shown; without it as it is. Of several values, only their number is shown
// without it.
func (e Edited) Shown(show func(value string) string) Edited {
	e[len(e)-1].Show = show
	return e
}

// several shows the values of a field, beside others.
func (f EditedField) several(values, others []string) string {
	if f.Show == nil {
		only := slices.DeleteFunc(slices.Clone(values), func(v string) bool { return slices.Contains(others, v) })
		return Plural(len(values), "item") + " selected, " + Count(len(only)) + " only here"
	}
	var shown []string
	for _, v := range values {
		shown = append(shown, f.Show(v))
	}
	return strings.Join(shown, ", ")
}

func yesNo(is bool) string {
	if is {
		return "Yes"
	}
	return "No"
}

// Version identifies the stored values. A form posts the version that it was made from.
func (e Edited) Version() string {
	text, err := json.Marshal(e)
	if err != nil { // cannot happen: strings only
		panic(err)
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// Difference is a field whose stored value is not the one in a form.
type Difference struct{ Label, Stored, Typed string }

// Differences compares the stored values with those of a submitted form.
func (e Edited) Differences(posted map[string][]string) (all []Difference) {
	for _, f := range e {
		typed := posted[f.Name]
		d := Difference{Label: f.Label, Stored: f.Value, Typed: strings.Join(typed, "")}
		switch {
		case f.Name == "private" && posted["sharing"] == nil: // the user cannot change it
			continue
		case f.Kind == TickField:
			d.Typed = yesNo(d.Typed != "")
		case f.Kind == ManyField && !slices.Equal(slices.Sorted(slices.Values(f.Many)), slices.Sorted(slices.Values(typed))):
			d.Stored, d.Typed = f.several(f.Many, typed), f.several(typed, f.Many)
			all = append(all, d)
			continue
		case f.Kind == ManyField:
			continue
		}
		if plainText(d.Stored) == plainText(d.Typed) {
			continue
		}
		if f.Show != nil {
			d.Stored, d.Typed = f.Show(d.Stored), f.Show(d.Typed)
		}
		all = append(all, d)
	}
	return all
}

// plainText returns a text without what stores remove: white space around it, and line breaks of forms.
func plainText(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }

// Edit is a submitted edit form.
type Edit struct {
	Action string       // path that the form posts to
	Posted string       // version that it was made from
	Keep   string       // page that shows the stored values
	Now    string       // version of the stored values if they have changed meanwhile; "" = they have not
	Theirs []Difference // the changes
}

type editKey struct{}

// WithEdit returns a context in which EditVersion finds a submitted form.
func WithEdit(ctx context.Context, e *Edit) context.Context {
	return context.WithValue(ctx, editKey{}, e)
}

// editOf returns the submitted form with an action; the zero Edit if it was not submitted.
func editOf(ctx context.Context, action string) Edit {
	if e, _ := ctx.Value(editKey{}).(*Edit); e != nil && e.Action == action {
		return *e
	}
	return Edit{}
}

// version returns the version for the form with an action. A form with errors keeps its version, so that a change by someone
// else is found when it is submitted again.
func (e Edited) version(ctx context.Context, action string) string {
	switch edit := editOf(ctx, action); {
	case edit.Now != "":
		return edit.Now
	case edit.Posted != "":
		return edit.Posted
	}
	return e.Version()
}

// orNone returns a value for the page.
func orNone(value string) string {
	if value == "" {
		return "(empty)"
	}
	return value
}
