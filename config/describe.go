package config

import (
	"fmt"
	"log/slog"
	"net/netip"
	"reflect"
	"strings"
	"time"
)

// Setting is one line of the list of settings.
type Setting struct {
	Name    string // environment variable
	Value   string // value in force, secrets masked; empty if there is none
	Default string // value when the variable is unset, or how it is chosen
	Meaning string // one phrase
}

// Describe lists every setting of c, in a fixed order.
func Describe(c Config) []Setting {
	var settings []Setting
	for _, f := range fields() {
		settings = append(settings, Setting{
			Name:    f.Tag.Get("env"),
			Value:   text(reflect.ValueOf(c).FieldByIndex(f.Index).Interface()),
			Default: f.Tag.Get("envDefault") + f.Tag.Get("shown"),
			Meaning: f.Tag.Get("meaning"),
		})
	}
	return settings
}

// text writes a value the way its variable takes it.
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
