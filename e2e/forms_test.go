//go:build e2e

package e2e

import (
	_ "embed" // of the script
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// submitForms is a script that submits all forms of a page with invalid texts.
//
//go:embed testdata/forms.js
var submitForms string

// Each form that fails has a summary of all errors, with links to their fields.
func TestErrorSummaryOfEveryForm(t *testing.T) {
	t.Parallel()
	b := browse(t, Start(t, demoIn(t)), wide, "/")
	b.expect("status of 4")
	b.expect("request failed") // of a form that redirects to a page with a problem
	b.firstAccount("alice")
	forms := map[string]bool{}
	newTour(b, "/links", "/tags", "/watch", "/short", "/crawl", "/sites", "/alerts", "/alerts/channels", "/alerts/rules/new", "/alerts/maintenance/new", "/status/new", "/settings", "/settings/tokens", "/settings/users").run(func(path string) {
		faults, err := within(b, chromedp.Evaluate[[]string](submitForms, chromedp.EvalAwaitPromise))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, fault := range faults {
			if strings.HasPrefix(fault, "ok ") {
				forms[fault] = true
			} else {
				t.Errorf("%s: %s", path, fault)
			}
		}
	})
	for f := range forms {
		t.Log(f)
	}
}
