package pages

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
	"linkwatch/views/ui"
)

// Number reads a field that holds a number, or nothing for 0; what is no number
// is -1, which the store refuses with the words for it.
func Number(typed string) int {
	if typed = strings.TrimSpace(typed); typed == "" {
		return 0
	}
	n, err := strconv.Atoi(typed)
	if err != nil {
		return -1
	}
	return n
}

// PageNumber reads the parameter "page".
func PageNumber(q url.Values) (models.Page, error) {
	n := 0
	if s := q.Get("page"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			n = -1 // NewPage says what is allowed
		}
	}
	return models.NewPage(n, models.DefaultPerPage)
}

// FormErrors are the messages of an error that the reader of a form can mend,
// by field; ok is false for any other error. What concerns no field of the form
// is put to fallback.
func FormErrors(err error, fallback string, fields ...string) (e ui.Errors, ok bool) {
	m, ok := mendable(err)
	if !ok {
		return nil, false
	}
	e = ui.Errors{}
	for _, f := range m.Fields {
		name, _, _ := strings.Cut(f.Location, "[") // "tags[2]" is in the field "tags"
		message := sentence(f.Message)
		for _, known := range fields {
			if name == known {
				e[name] = message
			}
		}
	}
	if len(e) == 0 {
		e[fallback] = m.Detail
	}
	return e, true
}

// LabelledErrors is FormErrors with messages that begin with the label of their field. labels are by field; "tags[]" is the label of
// one item of "tags". A message names other fields by their labels too.
func LabelledErrors(err error, fallback string, labels map[string]string) (e ui.Errors, ok bool) {
	m, ok := mendable(err)
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
	if len(e) == 0 {
		e[fallback] = m.Detail
	}
	return e, true
}

// mendable returns the error if the user of a form can correct it.
func mendable(err error) (*models.Error, bool) {
	m, ok := errors.AsType[*models.Error](err)
	if !ok {
		return nil, false
	}
	switch m.Code {
	case models.CodeInvalid, models.CodeTooManyTags, models.CodeUnresolvable, models.CodeBlocked, models.CodeUnavailable:
		return m, true
	}
	return nil, false
}

// sentence makes a whole sentence of the message of a field, which may end with a full stop.
func sentence(message string) string { return strings.TrimSuffix(ui.Sentence(message), ".") + "." }

// FilterError tells errors of a list's text filters from all others, which it returns
// as rest. problem is what the search field says about the filter; "" = nothing. The
// search itself is the parameter "q"; others are filters without a field of their own.
func FilterError(err error, others ...string) (problem string, rest error) {
	m, ok := errors.AsType[*models.Error](err)
	if !ok || m.Code != models.CodeInvalid {
		return "", err
	}
	for _, f := range m.Fields {
		switch name, ok := strings.CutPrefix(f.Location, "query."); {
		case !ok:
		case name == "q":
			return sentence(f.Message), nil
		case slices.Contains(others, name):
			return sentence(name + " " + f.Message), nil
		}
	}
	return "", err
}

// Private reads the checkbox of ui.PrivateField; nil = the form does not have it.
func Private(c *gin.Context) *bool {
	if c.PostForm("sharing") == "" {
		return nil
	}
	private := c.PostForm("private") != ""
	return &private
}
