package middleware

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"linkwatch/models"
)

// QueryParam is a query parameter that an operation of the API takes.
type QueryParam struct {
	Name string
	Many bool // it may be given more than once
}

// CheckQuery returns a problem if the query string of a request is malformed, or has a parameter that is not
// allowed or is given too often. net/url would drop malformed parts. The problem does not repeat the query.
func CheckQuery(r *http.Request, allowed []QueryParam) error {
	if r.URL.RawQuery == "" {
		return nil
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		p := NewProblem(models.CodeInvalid, "The query string is not valid.")
		p.Errors = []FieldError{{Location: "query", Message: "is not valid percent-encoding"}}
		return p
	}
	var problems []FieldError
	for _, p := range allowed {
		if len(query[p.Name]) > 1 && !p.Many {
			problems = append(problems, FieldError{Location: "query." + p.Name, Message: "is given more than once"})
		}
		delete(query, p.Name)
	}
	if len(query) > 0 {
		problems = append(problems, FieldError{Location: "query", Message: "has an unknown parameter; " + namesOf(allowed)})
	}
	if len(problems) == 0 {
		return nil
	}
	return NewProblem(models.CodeInvalid, problems[0].Location+": "+problems[0].Message, problems...)
}

// namesOf says which parameters are allowed.
func namesOf(allowed []QueryParam) string {
	if len(allowed) == 0 {
		return "none is allowed"
	}
	names := make([]string, len(allowed))
	for i, p := range allowed {
		names[i] = p.Name
	}
	slices.Sort(names)
	return "allowed: " + strings.Join(names, ", ")
}
