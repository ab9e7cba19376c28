package pages

import (
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
	"linkwatch/views/ui"
)

// grouped is a number with thousands separators, as pages show it: "1,000".
var grouped = regexp.MustCompile(`^-?[0-9]{1,3}(,[0-9]{3})+$`)

// Number parses a form field. Empty is 0. Anything else that is not a number is -1, which the
// models reject with a suitable error.
func Number(typed string) int {
	if typed = strings.TrimSpace(typed); typed == "" {
		return 0
	}
	if grouped.MatchString(typed) {
		typed = strings.ReplaceAll(typed, ",", "")
	}
	n, err := strconv.Atoi(typed)
	if err != nil {
		return -1
	}
	return n
}

// PageNumber parses the query parameter "page".
func PageNumber(q url.Values) (models.Page, error) {
	n := 0
	if s := q.Get("page"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			n = -1 // NewPage returns the error
		}
	}
	return models.NewPage(n, models.DefaultPerPage)
}

// wholeForm is the name of no field.
const wholeForm = ""

// FormErrors returns the messages of an error by field. Each message starts with the label of its field: "URL must start
// with http:// or https://." labels are by field; "tags[]" is the label of one item of "tags". Names of other fields in a
// message are replaced by their labels too. ok is false if the user of the form cannot correct the error. A message that
// belongs to none of the fields is returned under fallback. That a form is shown again or was changed meanwhile is no
// error of a field: the page says so itself.
func FormErrors(err error, fallback string, labels map[string]string) (e ui.Errors, ok bool) {
	m, ok := correctable(err)
	if !ok {
		return nil, false
	}
	e = ui.Errors{}
	for _, f := range m.Fields {
		name, _, item := strings.Cut(f.Location, "[")
		if labels[name] == "" || e[name] != "" {
			continue
		}
		label := labels[name]
		if one := labels[name+"[]"]; item && one != "" {
			label = one
		}
		words := strings.Fields(f.Message)
		for i, word := range words {
			if other := labels[word]; strings.ContainsAny(word, "_.") && other != "" {
				words[i] = other
			}
		}
		message := strings.Join(words, " ")
		if choice, ok := strings.CutPrefix(message, "must name at least "); ok { // of checkboxes
			e[name] = sentence("choose at least " + choice)
		} else {
			e[name] = sentence(label + " " + message)
		}
	}
	switch {
	case len(e) > 0:
	case m.Code == models.CodePrecondition, models.IsAgain(err):
		e[wholeForm] = m.Detail
	default:
		e[fallback] = m.Detail
	}
	return e, true
}

// correctable returns the error if the user of a form can correct it.
func correctable(err error) (*models.Error, bool) {
	m, ok := errors.AsType[*models.Error](err)
	if !ok {
		return nil, false
	}
	switch m.Code {
	case models.CodeInvalid, models.CodeTooManyTags, models.CodeUnresolvable, models.CodeBlocked, models.CodeUnavailable, models.CodePrecondition:
		return m, true
	}
	return nil, false
}

// sentence returns a message with an initial capital and a period.
func sentence(message string) string { return strings.TrimSuffix(ui.Sentence(message), ".") + "." }

// FilterError separates errors of a list's text filters from all others, which it returns as
// rest. problem is the message for the search field; "" = none. The search is the parameter "q";
// others are filters without a field on the page.
func FilterError(err error, others ...string) (problem string, rest error) {
	m, ok := errors.AsType[*models.Error](err)
	if !ok || m.Code != models.CodeInvalid {
		return "", err
	}
	for _, f := range m.Fields {
		switch name, ok := strings.CutPrefix(f.Location, "query."); {
		case !ok:
		case name == "q":
			return sentence("the search " + f.Message), nil
		case slices.Contains(others, name):
			return sentence(name + " " + f.Message), nil
		}
	}
	return "", err
}

// Private returns the value of ui.PrivateField; nil = not in the form.
func Private(c *gin.Context) *bool {
	if c.PostForm("sharing") == "" {
		return nil
	}
	private := c.PostForm("private") != ""
	return &private
}
