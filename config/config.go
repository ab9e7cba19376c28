// Package config reads Linkwatch's settings from environment variables and an optional settings file.
//
// Every setting is a field of [Config]. Its tags hold the variable, default, limits and meaning. Parsing, checking,
// errors, [Describe] and docs/settings.md follow from the tags. A new number, duration or switch is one line;
// a text with its own rules also needs an entry in rules.go.
package config

import (
	"errors"
	"fmt"
	"net"
	"reflect"
	"strconv"
	"strings"

	"github.com/caarlos0/env/v11"
)

// Values of [Config.DatabaseDriver].
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
)

// Values of [Config.LogFormat].
const (
	LogText = "text"
	LogJSON = "json"
)

// The values of [Config.OIDCRoleSync].
const (
	SyncAlways = "always"
	SyncFirst  = "first"
)

// NoRole is the value of [Config.OIDCDefaultRole] and [Config.AuthProxyRole] for "no role".
const NoRole = "none"

// Load reads the settings through getenv (os.Getenv, or a map in tests) and from the settings file that
// LINKWATCH_CONFIG names, and checks them. The error has a line for every invalid variable: its name, its value with
// passwords masked, and what is allowed.
func Load(getenv func(string) string) (Config, error) {
	c, _, err := LoadSources(getenv)
	return c, err
}

// LoadSources is Load, and also returns where the settings come from.
func LoadSources(getenv func(string) string) (Config, Sources, error) {
	given, from, err := collect(getenv)
	if err != nil {
		return Config{}, from, err
	}
	c, err := check(given)
	return c, from, err
}

// check parses and checks the settings by name.
func check(given map[string]string) (Config, error) {
	var c Config
	unparsed, err := parse(&c, given)
	if err != nil {
		return Config{}, err
	}
	var problems []error
	for _, f := range fields() {
		name := f.Tag.Get("env")
		if unparsed[f.Name] || !c.allows(f) {
			problems = append(problems, fmt.Errorf("%s=%q: must be %s", name, mask(f, given[name]), allowed(f)))
		}
	}
	if len(problems) > 0 {
		return Config{}, errors.Join(problems...)
	}
	return c, nil
}

// parse fills c and returns the names of the fields whose value could not be parsed. It drops the messages of
// the parser: they name Go fields and types, and repeat the value unmasked.
func parse(c *Config, given map[string]string) (unparsed map[string]bool, err error) {
	err = env.ParseWithOptions(c, env.Options{Environment: given, FuncMap: parsers})
	all, ok := errors.AsType[env.AggregateError](err)
	if !ok {
		return nil, err
	}
	unparsed = map[string]bool{}
	for _, e := range all.Errors {
		bad, ok := errors.AsType[env.ParseError](e)
		if !ok {
			return nil, fmt.Errorf("read settings: %w", e)
		}
		unparsed[bad.Name] = true
	}
	return unparsed, nil
}

// Addr returns HTTPHost and HTTPPort as an address for net.Listen.
func (c Config) Addr() string {
	return net.JoinHostPort(c.HTTPHost, strconv.Itoa(c.HTTPPort))
}

// Scheme returns the scheme of the server's own URL: "https" with HTTPTLSCert, else "http".
func (c Config) Scheme() string {
	if c.HTTPTLSCert != "" {
		return "https"
	}
	return "http"
}

// Bases returns the URLs of pages and the API, without scheme and trailing slash: PublicURL, and the names of this
// machine with and without its path. A default port of the scheme is left out.
func (c Config) Bases() []string {
	var all []string
	path := ""
	if _, public, ok := strings.Cut(c.PublicURL, "://"); ok {
		all = append(all, public)
		if i := strings.IndexByte(public, '/'); i > 0 {
			path = public[i:]
		}
	}
	port := map[string]string{"http": ":80", "https": ":443"}[c.Scheme()]
	for _, host := range []string{"127.0.0.1", "localhost", "::1", strings.ToLower(c.HTTPHost)} {
		authority := strings.TrimSuffix(net.JoinHostPort(host, strconv.Itoa(c.HTTPPort)), port)
		all = append(all, authority)
		if path != "" {
			all = append(all, authority+path)
		}
	}
	return all
}

// UserAgent returns the User-Agent of outbound requests: OutboundUserAgent, or the name and version of the program and
// PublicURL. Characters of version that a product token must not contain become "-".
func (c Config) UserAgent(version string) string {
	if c.OutboundUserAgent != "" {
		return c.OutboundUserAgent
	}
	agent := "Linkwatch/" + notToken.ReplaceAllString(version, "-")
	if c.PublicURL != "" {
		agent += " (+" + c.PublicURL + ")"
	}
	return agent
}

// LogFormatFor returns LogFormat. If that is unset it returns LogText on a terminal and LogJSON elsewhere.
func (c Config) LogFormatFor(isTerminal bool) string {
	switch {
	case c.LogFormat != "":
		return c.LogFormat
	case isTerminal:
		return LogText
	default:
		return LogJSON
	}
}

// fields returns the settings in the order of their declaration.
func fields() []reflect.StructField {
	return reflect.VisibleFields(reflect.TypeFor[Config]())
}
