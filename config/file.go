package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"strings"
	"unicode/utf8"
)

// FileVariable is the environment variable that names the settings file.
const FileVariable = "LINKWATCH_CONFIG"

const (
	maxSettingsFile = 256 << 10 // bytes
	maxSecretFile   = 64 << 10  // bytes of the file that a variable such as ADMIN_PASSWORD_FILE names
)

// Sources say where the settings come from.
type Sources struct {
	// Of has the source of each setting that is set: "environment", the name of the settings file, or the variable that
	// names a file with a secret.
	Of map[string]string
	// Exposed are the secrets in a settings file that every user of the machine can read.
	Exposed []string
}

// collect returns the settings of the environment and of the settings file, which the environment overrides. Each
// source may name a file with a secret instead of the secret. The error has a line for each problem, without a value:
// it may be a password.
func collect(getenv func(string) string) (given map[string]string, from Sources, err error) {
	given, from = map[string]string{}, Sources{Of: map[string]string{}}
	var problems []error
	add := func(source string, lookup func(name string) string) {
		for _, f := range fields() {
			name, by := f.Tag.Get("env"), source
			text := lookup(name)
			if isSecret(f) && lookup(name+fileSuffix) != "" {
				var err error
				if text, err = fromFile(name, text, lookup(name+fileSuffix)); err != nil {
					problems = append(problems, err)
				}
				by = name + fileSuffix
			}
			if text != "" {
				given[name], from.Of[name] = text, by
			}
		}
	}
	if file := getenv(FileVariable); file != "" {
		lines, open, err := readSettings(file)
		if err != nil {
			problems = append(problems, err)
		}
		add(file, func(name string) string {
			if setting := strings.TrimSuffix(name, fileSuffix); getenv(setting) != "" || getenv(setting+fileSuffix) != "" {
				return "" // the environment wins, whatever the file has
			}
			return lines[name]
		})
		for _, f := range fields() {
			name := f.Tag.Get("env")
			if open && from.Of[name] == file && mask(f, given[name]) != given[name] {
				from.Exposed = append(from.Exposed, name)
			}
		}
	}
	add("environment", getenv)
	return given, from, errors.Join(problems...)
}

// fileSuffix ends the name of a variable that names a file with a secret.
const fileSuffix = "_FILE"

// fromFile returns the secret in a file. text is the value of the setting itself in the same source, which must be
// empty.
func fromFile(name, text, file string) (string, error) {
	if text != "" {
		return "", fmt.Errorf("%s and %s are both set. Remove one of them", name, name+fileSuffix)
	}
	secret, err := readSecret(file)
	if err != nil { // without the name of the file: it may be the secret itself, by mistake
		return "", fmt.Errorf("%s: %w. It must be the name of a file with the value of %s", name+fileSuffix, err, name)
	}
	return secret, nil
}

// isSecret reports whether a setting is or may contain a password.
func isSecret(f reflect.StructField) bool {
	return f.Type == reflect.TypeFor[Secret]() || f.Type == reflect.TypeFor[DSN]() || f.Type == reflect.TypeFor[[]DSN]()
}

// readSecret returns the content of a file without its last line break.
func readSecret(file string) (string, error) {
	content, _, err := readFile(file, maxSecretFile)
	if err != nil {
		return "", err
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r")
	switch {
	case text == "":
		return "", errors.New("the file is empty")
	case strings.Contains(text, "\x00"):
		return "", errors.New("the file is not a text file")
	}
	return text, nil
}

// readSettings reads a settings file. open reports whether every user of the machine can read it.
func readSettings(file string) (lines map[string]string, open bool, err error) {
	content, mode, err := readFile(file, maxSettingsFile)
	if err != nil {
		return nil, false, fmt.Errorf("settings file %s: %w", file, err)
	}
	lines, err = parseSettings(file, content)
	return lines, mode&0o004 != 0, err
}

// readFile reads a file of at most limit bytes. Its errors do not name the file.
func readFile(file string, limit int64) (content []byte, mode fs.FileMode, err error) {
	f, err := os.Open(file) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, 0, cause(err)
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return nil, 0, cause(err)
	}
	content, err = io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = fmt.Errorf("the file is larger than %d KiB", limit>>10)
	}
	return content, info.Mode().Perm(), cause(err)
}

// cause returns an error of the file system without the name of the file.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

var variableName = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,63}$`)

// parseSettings parses NAME=value lines. Empty lines and those that begin with # are ignored, as is white space around
// the name and the value. A value may be in double or single quotes, which are removed; nothing is special between
// them.
func parseSettings(file string, content []byte) (map[string]string, error) {
	if !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0 {
		return nil, fmt.Errorf("settings file %s: not a text file in UTF-8", file)
	}
	known := map[string]bool{}
	for _, f := range fields() {
		known[f.Tag.Get("env")] = true
		if isSecret(f) {
			known[f.Tag.Get("env")+fileSuffix] = true
		}
	}
	lines, at := map[string]string{}, map[string]int{}
	var problems []error
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(string(content), "\uFEFF")) {
		number++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		value, closed := unquote(strings.TrimSpace(value))
		problem := ""
		switch {
		case !ok || !variableName.MatchString(name):
			problem = "must be NAME=value, or a comment that begins with #"
		case !known[name]:
			problem = fmt.Sprintf("unknown setting %s. Run \"linkwatch config --markdown\" for a list", name)
		case at[name] != 0:
			problem = fmt.Sprintf("%s is already set in line %d. Remove one of them", name, at[name])
		case !closed:
			problem = fmt.Sprintf("the value of %s begins with a quote but does not end with it", name)
		}
		if problem != "" {
			problems = append(problems, fmt.Errorf("%s:%d: %s", file, number, problem))
			continue
		}
		lines[name], at[name] = value, number
	}
	return lines, errors.Join(problems...)
}

// unquote removes the quotes around a value. closed is false if only the first is there.
func unquote(value string) (_ string, closed bool) {
	if value == "" || value[0] != '"' && value[0] != '\'' {
		return value, true
	}
	if len(value) < 2 || value[len(value)-1] != value[0] {
		return "", false
	}
	return value[1 : len(value)-1], true
}
