package ui

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/a-h/templ"
)

// formWith returns a form with fields and the messages of FieldError.
func formWith(fields string, messages ...[2]string) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		if _, err := fmt.Fprint(w, `<form id="first"><input></form><h1>Page</h1><form method="post">`, fields); err != nil {
			return err
		}
		for _, m := range messages {
			if err := FieldError(m[0], m[1]).Render(ctx, w); err != nil {
				return err
			}
		}
		_, err := io.WriteString(w, "</form>")
		return err
	})
}

func TestErrorSummary(t *testing.T) {
	const fields = `<input name="a" aria-describedby="a-error"><textarea id="own" aria-describedby="b-help b-error"></textarea>` +
		`<fieldset aria-describedby="c-error"><input type="checkbox" name="c"></fieldset>`
	html, err := Render(t.Context(), formWith(fields, [2]string{"a-error", "A is <bad>."}, [2]string{"b-error", "B is bad."}, [2]string{"c-error", "Choose C."}, [2]string{"d-error", ""}))
	if err != nil {
		t.Fatal(err)
	}
	got := string(html)
	for _, want := range []string{
		`<form method="post"><div class="error-summary"`, "Correct 3 errors", "autofocus", `tabindex="-1"`,
		`<a href="#field-a-error">A is &lt;bad&gt;.</a>`, `<input id="field-a-error" name="a"`,
		`<a href="#own">B is bad.</a>`, `<a href="#field-c-error">Choose C.</a>`, `<input id="field-c-error" type="checkbox"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	html, err = Render(t.Context(), formWith(fields))
	if err != nil || strings.Contains(string(html), "error-summary") {
		t.Errorf("a form without errors has a summary: %s (%v)", html, err)
	}
}
