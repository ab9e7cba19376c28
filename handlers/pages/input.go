package pages

import (
	"errors"
	"net/http"
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
	m, is := errors.AsType[*models.Error](err)
	if !is {
		return nil, false
	}
	switch m.Code {
	case models.CodeInvalid, models.CodeTooManyTags, models.CodeUnresolvable, models.CodeBlocked, models.CodeUnavailable:
	default:
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

// sentence makes a whole sentence of the message of a field.
func sentence(message string) string { return ui.Sentence(message) + "." }

// FilterError is what the search field of a list says about an error of one of
// the list's text filters; "" for any other error. The search itself is the
// parameter "q"; others are filters without a field of their own.
func FilterError(err error, others ...string) string {
	m, ok := errors.AsType[*models.Error](err)
	if !ok || m.Code != models.CodeInvalid {
		return ""
	}
	for _, f := range m.Fields {
		switch name, ok := strings.CutPrefix(f.Location, "query."); {
		case !ok:
		case name == "q":
			return sentence(f.Message)
		case slices.Contains(others, name):
			return sentence(name + " " + f.Message)
		}
	}
	return ""
}

// ShowFilterError answers htmx with what is wrong with a list's filter: only
// that changes on the page.
func (f *Frame) ShowFilterError(c *gin.Context, message string) {
	c.Header("HX-Retarget", "#q-error")
	c.Header("HX-Reswap", "outerHTML")
	f.Show(c, http.StatusBadRequest, ui.QueryError(message))
}
