package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	c, err := load()
	if err != nil {
		t.Fatal(err)
	}
	settings := Describe(c)
	if got, want := len(settings), reflect.TypeFor[Config]().NumField(); got != want {
		t.Errorf("%d settings for %d fields", got, want)
	}
	seen := map[string]bool{}
	for _, s := range settings {
		if s.Name == "" || s.Name != strings.ToUpper(s.Name) || s.Meaning == "" || seen[s.Name] {
			t.Errorf("missing, invalid or duplicate name, or no meaning: %+v", s)
		}
		seen[s.Name] = true
		described := []string{"DATABASE_DRIVER", "OUTBOUND_USER_AGENT", "LOG_FORMAT", "CRAWLER_SOURCES_API_URL"} // in words
		if !slices.Contains(described, s.Name) && s.Value != s.Default {
			t.Errorf("%s: value is %q, described default is %q", s.Name, s.Value, s.Default)
		}
	}
	want := Setting{
		"Links and targets", "LINK_CHECK_INTERVAL", "168h", "168h", "How often each saved link is rechecked.",
		"a duration from 1ms to 8760h, such as 168h",
	}
	if got := setting(c, "LINK_CHECK_INTERVAL"); got != want {
		t.Errorf("got %+v", got)
	}
	if settings[0].Name != "HTTP_HOST" || settings[len(settings)-1].Name != "CLEANUP_MAX_DURATION" {
		t.Error("settings are not in the order of the fields")
	}
}

// TestEveryFieldDescribesItsValues checks that tags have limits where the type needs them, or else describe what is allowed.
func TestEveryFieldDescribesItsValues(t *testing.T) {
	for _, f := range fields() {
		low, high := limits(f)
		if (f.Type != reflect.TypeFor[Secret]() || rules[f.Tag.Get("env")] != nil) && (strings.Contains(allowed(f), "from  to") || allowed(f) == "" || (low == "") != (high == "")) {
			t.Errorf("%s does not say what is allowed: %q", f.Name, allowed(f))
		}
	}
	for name := range rules {
		if setting(Config{}, name).Name == "" {
			t.Errorf("rule for %s, which is not a setting", name)
		}
	}
}
