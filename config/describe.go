package config

import (
	"fmt"
	"log/slog"
	"net/netip"
	"reflect"
	"strings"
	"time"
)

// Setting describes one setting.
type Setting struct {
	Group   string // heading under which it is listed
	Name    string // environment variable
	Value   string // current value, with secrets masked; empty if there is none
	Default string // value when the variable is unset, or how it is chosen
	Meaning string // one or more sentences
	Allowed string // what the value may be; empty for any text
}

// Describe returns every setting of c, in the order of the fields of [Config].
func Describe(c Config) []Setting {
	var settings []Setting
	group := ""
	for _, f := range fields() {
		if name := f.Tag.Get("group"); name != "" {
			group = name
		}
		settings = append(settings, Setting{
			Group:   group,
			Name:    f.Tag.Get("env"),
			Value:   text(reflect.ValueOf(c).FieldByIndex(f.Index).Interface()),
			Default: f.Tag.Get("envDefault") + f.Tag.Get("shown"),
			Meaning: f.Tag.Get("meaning"),
			Allowed: allowed(f),
		})
	}
	return settings
}

// text formats a value as its variable would be set.
func text(value any) string {
	switch v := value.(type) {
	case slog.Level:
		return strings.ToLower(v.String())
	case time.Duration:
		s := v.String() // 168h0m0s
		if strings.HasSuffix(s, "m0s") {
			s = strings.TrimSuffix(s, "0s")
		}
		if strings.HasSuffix(s, "h0m") {
			s = strings.TrimSuffix(s, "0m")
		}
		return s
	case []string:
		return strings.Join(v, ",")
	case []DSN:
		items := make([]string, len(v))
		for i, dsn := range v {
			items[i] = dsn.String()
		}
		return strings.Join(items, ",")
	case []netip.Prefix:
		items := make([]string, len(v))
		for i, prefix := range v {
			items[i] = prefix.String()
		}
		return strings.Join(items, ",")
	default:
		return fmt.Sprint(v)
	}
}
