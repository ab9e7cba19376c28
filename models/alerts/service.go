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

// The kinds of channels that are no Service: a webhook of our own, and a service's URL typed by hand. The kind of a channel
// with such a URL is the URL's scheme, such as smtp.
const (
	KindWebhook = "webhook"
	KindURL     = "url"
)

// MaxValue is how many bytes the value of a field may have.
const MaxValue = 2048

// FieldType says how a field is asked for and checked.
type FieldType string

// The types of fields. Choice is one of Field.Options, and a blank one is the first of them.
const (
	Text     FieldType = "text"
	URL      FieldType = "url" // http or https
	Email    FieldType = "email"
	Number   FieldType = "number"
	Password FieldType = "password" // taken as it is, blanks included
	Choice   FieldType = "choice"
)

// Option is one value of a choice.
type Option struct{ Value, Label string }

// Field is one value that a Service needs.
type Field struct {
	Name             string // in the form, unique in its Service
	Label            string
	Hint             string // a sentence; "" = none
	Placeholder      string
	Type             FieldType
	Options          []Option // of a choice
	Secret, Required bool     // a secret is never shown again
}

// Service is a notification service with a form of its own.
type Service struct {
	Kind   string // the scheme of its URLs
	Label  string
	Help   string // where to find what the form asks for
	Fields []Field
	url    func(values) (string, error)
}

// ServiceOf returns the service of a kind.
func ServiceOf(kind string) (Service, bool) {
	i := slices.IndexFunc(Services, func(s Service) bool { return s.Kind == kind })
	if i < 0 {
		return Service{}, false
	}
	return Services[i], true
}

// URL assembles the service's URL from the values of its fields by their names; others are left out. The error is a
// *models.Error that names the field and never repeats a value.
func (s Service) URL(in map[string]string) (string, error) {
	v := values{fields: s.Fields, of: map[string]string{}}
	for _, f := range s.Fields {
		value, err := f.check(in[f.Name])
		if err != nil {
			return "", err
		}
		v.of[f.Name] = value
	}
	return s.url(v)
}

// check returns the value as it is used.
func (f Field) check(value string) (string, error) {
	if f.Type != Password {
		value = strings.TrimSpace(value)
	}
	switch {
	case len(value) > MaxValue:
		return "", f.invalid("is longer than " + strconv.Itoa(MaxValue) + " bytes")
	case !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl):
		return "", f.invalid("holds a line break or another control character; type it without")
	case value == "" && f.Required:
		return "", f.invalid("is missing")
	case f.Type == Choice && value == "":
		return f.Options[0].Value, nil
	case value == "":
		return "", nil
	}
	switch f.Type {
	case Choice:
		if !slices.ContainsFunc(f.Options, func(o Option) bool { return o.Value == value }) {
			return "", f.invalid("must be one of the choices")
		}
	case Number:
		if n, err := strconv.ParseUint(value, 10, 16); err != nil || n == 0 {
			return "", f.invalid("must be a number from 1 to 65535")
		}
	}
	return value, nil
}

// invalid is the error of the field. message goes on from its label.
func (f Field) invalid(message string) *models.Error {
	return &models.Error{Code: models.CodeInvalid, Detail: f.Label + ": " + message, Fields: []models.FieldError{{Location: f.Name, Message: message}}}
}

// values are the checked values of a form.
type values struct {
	fields []Field
	of     map[string]string
}

// invalid is the error of a field by its name.
func (v values) invalid(name, message string) error {
	i := slices.IndexFunc(v.fields, func(f Field) bool { return f.Name == name })
	return v.fields[i].invalid(message)
}

// web is the URL in a field. It has a host, no user and no fragment.
func (v values) web(name string) (*url.URL, error) {
	u, err := url.Parse(v.of[name])
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return nil, v.invalid(name, "must be a URL that begins with https:// or http://, without a user or #")
	}
	return u, nil
}

// server is the URL of a server: web without a query. Its path has no slash at the end.
func (v values) server(name string) (*url.URL, error) {
	u, err := v.web(name)
	if err != nil {
		return nil, err
	}
	if u.RawQuery != "" {
		return nil, v.invalid(name, "must be the URL of the server alone, without ?")
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	return u, nil
}

// list is the items of a field, separated by commas or blanks: at most 20.
func (v values) list(name string) ([]string, error) {
	items := strings.FieldsFunc(v.of[name], func(r rune) bool { return r == ',' || r == ';' || r == ' ' })
	if len(items) > 20 {
		return nil, v.invalid(name, "has more than 20 items; make a second channel for the others")
	}
	return items, nil
}

// emails is list for e-mail addresses, of which there must be one.
func (v values) emails(name string) ([]string, error) {
	items, err := v.list(name)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if a, err := mail.ParseAddress(item); err != nil || a.Address != item || strings.ContainsAny(item, `",`) {
			return nil, v.invalid(name, "must be e-mail addresses such as alerts@example.com, separated by commas")
		}
	}
	if len(items) == 0 {
		return nil, v.invalid(name, "is missing")
	}
	return items, nil
}

// query are the parameters of a URL; blank ones are left out.
func query(pairs ...string) string {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return q.Encode()
}

// plain is the value of a parameter that turns TLS off for a server at http://.
func plain(u *url.URL) string {
	if u.Scheme == "http" {
		return "yes"
	}
	return ""
}
