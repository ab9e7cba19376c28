package config

import (
	"log/slog"
	"reflect"
	"regexp"
	"strings"
)

// hidden replaces a secret in all output.
const hidden = "***"

// Secret is a text that is masked when it is formatted, logged or encoded. Convert it with string(s) to use it.
type Secret string

// String returns "***", or "" if the secret is empty.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// GoString masks the secret under %#v, which does not call String.
func (s Secret) GoString() string { return s.String() }

// LogValue masks the secret in logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText masks the secret in JSON and other encodings.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// DSN is a URL or a keyword=value list. Its passwords are masked when it is formatted, logged or encoded. Convert it with
// string(d) to use it.
type DSN string

// String returns the DSN with its passwords masked.
func (d DSN) String() string { return redact(string(d)) }

// GoString masks the passwords under %#v, which does not call String.
func (d DSN) GoString() string { return d.String() }

// LogValue masks the passwords in logs.
func (d DSN) LogValue() slog.Value { return slog.StringValue(d.String()) }

// MarshalText masks the passwords in JSON and other encodings.
func (d DSN) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

var (
	keywordPassword = regexp.MustCompile(`(?i)(password\s*=\s*)('(?:[^'\\]|\\.)*'?|\S+)`)
	urlPassword     = regexp.MustCompile(`^([^:/?#]+://[^:/?#]*:).*@`)
)

// redact masks the password of a URL or a keyword=value list. It matches patterns, since an invalid value may not parse. In
// doubt it masks too much.
func redact(s string) string {
	return urlPassword.ReplaceAllString(keywordPassword.ReplaceAllString(s, "${1}"+hidden), "${1}"+hidden+"@")
}

// mask returns the value given for f with its secrets masked. A list of URLs with users is masked completely: if a password
// contains a comma, the end of a URL is unknown.
func mask(f reflect.StructField, given string) string {
	if f.Type == reflect.TypeFor[Secret]() || f.Type == reflect.TypeFor[[]DSN]() && strings.Contains(given, "@") {
		return Secret(given).String()
	}
	return redact(given)
}
