package config

import (
	"log/slog"
	"reflect"
	"regexp"
	"strings"
)

// hidden stands for a secret wherever one would be printed.
const hidden = "***"

// Secret is a text that formatting, logging and encoding never show. Convert it with string(s) to use it.
type Secret string

// String is "***", or nothing if the secret is empty.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// GoString masks the secret under %#v, which does not ask String.
func (s Secret) GoString() string { return s.String() }

// LogValue masks the secret in log lines.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText masks the secret in JSON and other encodings.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// DSN says where a database is. Printed, logged or encoded it lacks its password. Convert it with string(d) to use it.
type DSN string

// String is the DSN with its passwords masked.
func (d DSN) String() string { return redact(string(d)) }

// GoString masks the passwords under %#v, which does not ask String.
func (d DSN) GoString() string { return d.String() }

// LogValue masks the passwords in log lines.
func (d DSN) LogValue() slog.Value { return slog.StringValue(d.String()) }

// MarshalText masks the passwords in JSON and other encodings.
func (d DSN) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

var (
	keywordPassword = regexp.MustCompile(`(?i)(password\s*=\s*)('(?:[^'\\]|\\.)*'?|\S+)`)
	urlPassword     = regexp.MustCompile(`^([^:/?#]+://[^:/?#]*:).*@`)
)

// redact masks the password of a URL or a keyword=value list. It reads by pattern, since a value that is refused may not
// parse, and rather masks too much than too little.
func redact(s string) string {
	return urlPassword.ReplaceAllString(keywordPassword.ReplaceAllString(s, "${1}"+hidden), "${1}"+hidden+"@")
}

// mask is the value given for f, fit to be printed. Of a list with users it shows nothing: where one URL ends and the next
// begins is not known if a password has a comma.
func mask(f reflect.StructField, given string) string {
	if f.Type == reflect.TypeFor[Secret]() || f.Type == reflect.TypeFor[[]DSN]() && strings.Contains(given, "@") {
		return Secret(given).String()
	}
	return redact(given)
}
