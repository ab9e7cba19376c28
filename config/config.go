// Package config reads Linkwatch's settings from environment variables.
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

// Load reads the settings through getenv (os.Getenv, or a map in tests) and checks them. The error has a line for every
// invalid variable: its name, its value with passwords masked, and what is allowed.
func Load(getenv func(string) string) (Config, error) {
	given := map[string]string{}
	for _, f := range fields() {
		if v := getenv(f.Tag.Get("env")); v != "" {
			given[f.Tag.Get("env")] = v
		}
	}
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

// Authorities returns the hosts that may serve pages and the API: that of PublicURL and the names of this machine.
// A default port of the scheme is left out.
func (c Config) Authorities() []string {
	var all []string
	if _, public, ok := strings.Cut(c.PublicURL, "://"); ok {
		all = append(all, public)
	}
	for _, host := range []string{"127.0.0.1", "localhost", "::1", strings.ToLower(c.HTTPHost)} {
		authority := strings.TrimSuffix(net.JoinHostPort(host, strconv.Itoa(c.HTTPPort)), ":80")
		all = append(all, authority)
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
