package ui

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/a-h/templ"
)

// fieldProblem is an error message that FieldError has rendered.
type fieldProblem struct {
	id, message string
	field       string // ID of the field; "" = none found
}

type problemsKey struct{}

// Render renders a page, or a part of one. If it has messages of FieldError, Render adds an error summary at the start of
// their form. It links to the fields, and gives an ID to those without.
func Render(ctx context.Context, page templ.Component) ([]byte, error) {
	var b bytes.Buffer
	var problems []fieldProblem
	if err := page.Render(context.WithValue(ctx, problemsKey{}, &problems), &b); err != nil || len(problems) == 0 {
		return b.Bytes(), err
	}
	html := b.Bytes()
	for i := range problems {
		html, problems[i].field = identify(html, problems[i].id)
	}
	var summary bytes.Buffer
	if err := errorSummary(problems).Render(ctx, &summary); err != nil { //nolint:contextcheck // Render passes ctx to it
		return nil, err
	}
	place := problems[0].field
	if place == "" {
		place = problems[0].id
	}
	at := formOf(html, place)
	return append(html[:at:at], append(summary.Bytes(), html[at:]...)...), nil
}

// report tells Render of an error message. It does nothing outside of Render.
func report(ctx context.Context, id, message string) {
	if all, ok := ctx.Value(problemsKey{}).(*[]fieldProblem); ok {
		*all = append(*all, fieldProblem{id: id, message: message})
	}
}

// Attribute values of templ never contain "<" or ">".
var (
	described = regexp.MustCompile(`<[^<>]*\saria-describedby="([^"]*)"[^<>]*>`)
	control   = regexp.MustCompile(`<(?:input|select|textarea)\s[^<>]*>`)
	identity  = regexp.MustCompile(`\sid="([^"]*)"`)
)

// identify returns the ID of the field that the message with an ID describes. It adds an ID if the field has none. For a
// group, it is the first field.
func identify(html []byte, message string) (out []byte, field string) {
	for _, at := range described.FindAllSubmatchIndex(html, -1) {
		if !slices.Contains(strings.Fields(string(html[at[2]:at[3]])), message) {
			continue
		}
		first := control.FindIndex(html[at[0]:])
		if first == nil {
			return html, ""
		}
		start, end := at[0]+first[0], at[0]+first[1]
		if id := identity.FindSubmatch(html[start:end]); id != nil {
			return html, string(id[1])
		}
		field = "field-" + message
		space := start + bytes.IndexAny(html[start:end], " \n\t")
		return append(html[:space:space], append([]byte(` id="`+field+`"`), html[space:]...)...), field
	}
	return html, ""
}

// formOf returns where the content of the form with an element starts, or where the element starts if it is in no form.
func formOf(html []byte, id string) int {
	at := bytes.LastIndexByte(html[:bytes.Index(html, []byte(` id="`+id+`"`))], '<')
	form := bytes.LastIndex(html[:at], []byte("<form"))
	if form < 0 || bytes.Contains(html[form:at], []byte("</form")) {
		return at
	}
	return form + bytes.IndexByte(html[form:], '>') + 1
}
