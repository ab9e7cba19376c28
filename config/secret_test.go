package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
)

// TestSecretsStayHidden prints a configuration in all common ways.
func TestSecretsStayHidden(t *testing.T) {
	c, err := load("ADMIN_PASSWORD", "hunter2", "DATABASE_URL", "postgres://me:hunter2@db.example/links",
		"AUTH_JWT_SECRET", "hunter2hunter2hunter2", "CRAWLER_PROXY_URLS", "http://h:1,http://me:hunter2@h:2", "CRAWLER_SOURCES_API_URL", "http://me:hunter2@h")
	if err != nil {
		t.Fatal(err)
	}
	if string(c.AdminPassword) != "hunter2" {
		t.Errorf("password is %q", string(c.AdminPassword))
	}
	encoded, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var logs bytes.Buffer
	for _, h := range []slog.Handler{slog.NewTextHandler(&logs, nil), slog.NewJSONHandler(&logs, nil)} {
		slog.New(h).Info("start", "config", c, "password", c.AdminPassword, "database", c.DatabaseURL)
	}
	shown := []string{
		string(encoded), logs.String(), fmt.Sprint(Describe(c)), fmt.Sprintf("%v %+v %#v %s %q", c, c, c, c.AdminPassword, c.DatabaseURL),
	}
	for _, s := range shown {
		if strings.Contains(s, "hunter2") || !strings.Contains(s, hidden) || !strings.Contains(s, "db.example") {
			t.Errorf("password shown, or too much hidden: %s", s)
		}
	}
	if got := Secret("").String(); got != "" {
		t.Errorf("empty secret is shown as %q", got)
	}
}

func TestErrorsMaskPasswords(t *testing.T) {
	tests := []struct{ name, value, shown string }{
		{"DATABASE_URL", "mysql://me:hunter2@h/db", "mysql://me:***@h/db"},
		{"DATABASE_URL", "postgres://me:hun@ter2@h:x/db", "postgres://me:***@h:x/db"},
		{"DATABASE_URL", "mysql://h/db?password=hunter2", "mysql://h/db?password=***"},
		{"PUBLIC_URL", "https://me:hunter2@h", "https://me:***@h"},
		{"CRAWLER_PROXY_URLS", "http://h/,http://me:hunter2@h", "***"},
		{"CRAWLER_PROXY_URLS", "http://me:hun,ter2@h:1", "***"},
		{"CRAWLER_PROXY_URLS", "http://h/,ftp://h", "http://h/,ftp://h"},
		{"AUTH_JWT_SECRET", "hunter2", "***"},
	}
	for _, tt := range tests {
		_, err := load(tt.name, tt.value)
		if want := fmt.Sprintf("%s=%q: ", tt.name, tt.shown); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s=%s: got %v, want %s…", tt.name, tt.value, err, want)
		}
	}
	f, _ := reflect.TypeFor[Config]().FieldByName("AdminPassword")
	if got := mask(f, "hunter2"); got != hidden {
		t.Errorf("invalid secret is shown as %q", got)
	}
}

func TestDSN(t *testing.T) {
	tests := map[DSN]string{
		"linkwatch.db":                          "linkwatch.db",
		"postgres://h/db":                       "postgres://h/db",
		"postgres://me@h/db":                    "postgres://me@h/db",
		"postgres://:pw@h/db":                   "postgres://:***@h/db",
		"postgres://h:5432/db?password=p@w":     "postgres://h:5432/db?password=***",
		"host=h password=pw user=me":            "host=h password=*** user=me",
		`host=h password = 'p w\' x' user=me`:   "host=h password = *** user=me",
		"host=h password='not closed, and more": "host=h password=***",
		"host=h PASSWORD=p&w sslpassword=pw2":   "host=h PASSWORD=*** sslpassword=***",
	}
	for dsn, want := range tests {
		if got := dsn.String(); got != want {
			t.Errorf("%s is shown as %s, want %s", string(dsn), got, want)
		}
	}
}
