package alerts

import (
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"linkwatch/models"
)

// The kinds of forms without a Service: a Linkwatch webhook, and a shoutrrr URL. The kind of a channel with a shoutrrr URL is the scheme
// of the URL, such as smtp.
const (
	KindWebhook = "webhook"
	KindURL     = "url"
)

// MaxValue is the maximum length of a field value in bytes.
const MaxValue = 2048

// FieldType determines the input and the validation of a field.
type FieldType string

// The field types. A Choice is one of Field.Options and defaults to the first.
const (
	Text     FieldType = "text"
	URL      FieldType = "url" // http or https
	Email    FieldType = "email"
	Number   FieldType = "number"
	Password FieldType = "password" // not trimmed
	Choice   FieldType = "choice"
)

// Option is one value of a choice.
type Option struct{ Value, Label string }

// Field is one value that a Service needs.
type Field struct {
	Name             string // unique in its Service
	Label            string
	Hint             string // one sentence; "" for none
	Placeholder      string
	Type             FieldType
	Options          []Option // of a choice
	Secret, Required bool     // secrets are never shown after they are saved
}

// Service is a notification service with its own form.
type Service struct {
	Kind   string // the scheme of its URLs
	Label  string
	Help   string // where to find the values
	Fields []Field
	url    func(*values) string // the result is used only if all values are valid
}

// ServiceOf returns the service of a kind. ok is false if there is none.
func ServiceOf(kind string) (Service, bool) {
	i := slices.IndexFunc(Services, func(s Service) bool { return s.Kind == kind })
	if i < 0 {
		return Service{}, false
	}
	return Services[i], true
}

// URL builds the shoutrrr URL from values by field name. Unknown names are ignored. The error is a *models.Error with at most one entry
// per field. It never repeats a value.
func (s Service) URL(in map[string]string) (string, error) {
	v := &values{byName: map[string]string{}}
	for _, f := range s.Fields {
		value, message := f.check(in[f.Name])
		v.byName[f.Name] = value
		if message != "" {
			v.invalid(f.Name, message)
		}
	}
	u := s.url(v)
	if err := models.Invalids(v.errs...); err != nil {
		return "", err
	}
	return u, nil
}

// check returns the normalized value, and an error message or "".
func (f Field) check(value string) (used, message string) {
	if f.Type != Password {
		value = strings.TrimSpace(value)
	}
	switch {
	case len(value) > MaxValue:
		return value, "must be at most " + strconv.Itoa(MaxValue) + " bytes"
	case !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl):
		return value, "must not contain line breaks or other control characters"
	case value == "" && f.Required:
		return value, "is required"
	case f.Type == Choice && value == "":
		return f.Options[0].Value, ""
	case value == "":
		return value, ""
	}
	switch f.Type {
	case Choice:
		if !slices.ContainsFunc(f.Options, func(o Option) bool { return o.Value == value }) {
			return value, "must be one of the choices"
		}
	case Number:
		if n, err := strconv.ParseUint(value, 10, 16); err != nil || n == 0 {
			return value, "must be a number from 1 to 65535"
		}
	}
	return value, ""
}

// values are the values of a form and their errors.
type values struct {
	byName map[string]string
	errs   []error
}

// invalid adds an error of a field. models.Invalids keeps the first one of each field.
func (v *values) invalid(name, message string) {
	v.errs = append(v.errs, models.Invalid(name, "%s", message))
}

// httpURL parses the http or https URL in a field. It must have a host, and no user or fragment.
func (v *values) httpURL(name string) *url.URL {
	u, err := url.Parse(v.byName[name])
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http":
		v.invalid(name, "must start with http:// or https://")
	case u.Hostname() == "" || u.User != nil || u.Fragment != "":
		v.invalid(name, "must have a host, and must not contain a user name, a password or #")
	default:
		return u
	}
	return &url.URL{}
}

// serverURL parses the URL of a server: web without a query. It trims trailing slashes of the path.
func (v *values) serverURL(name string) *url.URL {
	u := v.httpURL(name)
	if u.RawQuery != "" {
		v.invalid(name, "must be the URL of the server, without a query")
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	return u
}

// list splits a field at commas, semicolons and spaces into at most 20 items.
func (v *values) list(name string) []string {
	items := strings.FieldsFunc(v.byName[name], func(r rune) bool { return r == ',' || r == ';' || r == ' ' })
	if len(items) > 20 {
		v.invalid(name, "must have at most 20 entries. Add a second channel for the others")
		return nil
	}
	return items
}

// emails is list for email addresses. At least one is required.
func (v *values) emails(name string) []string {
	items := v.list(name)
	for _, item := range items {
		if !isEmail(item) {
			v.invalid(name, "must be email addresses such as alerts@example.com, separated by commas")
		}
	}
	if len(items) == 0 {
		v.invalid(name, "is required")
	}
	return items
}

// isEmail reports whether s is an email address without a display name.
func isEmail(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s && !strings.ContainsAny(s, `",`)
}

// query encodes query parameters. It leaves out empty values.
func query(pairs ...string) string {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return q.Encode()
}

// disableTLS returns the value of the disabletls parameter: "yes" for http URLs.
func disableTLS(u *url.URL) string {
	if u.Scheme == "http" {
		return "yes"
	}
	return ""
}
