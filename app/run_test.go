package app

import (
	"os"
	"strings"
	"testing"
)

func TestCommands(t *testing.T) {
	getenv := env(t, map[string]string{"ADMIN_PASSWORD": "a-masked-password"})
	for _, c := range []struct {
		args string
		want string // part of the output
	}{
		{"help", "Usage: linkwatch [COMMAND]"},
		{"--help", "migrate"},
		{"help backup", "--force  Overwrite FILE"},
		{"restore -h", "linkwatch restore FILE [--force]"},
		{"user add --help", "linkwatch user add NAME [flags]"},
		{"token -h", "--scope SCOPES"},
		{"openapi -help", "--3.0"},
		{"version", "linkwatch "},
		{"config", "ADMIN_PASSWORD"},
		{"config -markdown", "| `ADMIN_PASSWORD` |"},
		{"openapi", `"openapi": "3.1.0"`},
		{"openapi -3.0", `"openapi":"3.0.3"`},
		{"migrate up", "up to date"},
		{"migrate down 1", "Reverted 1 migration."},
	} {
		var out strings.Builder
		if err := Run(t.Context(), strings.Fields(c.args), getenv, &out); err != nil {
			t.Errorf("%s: %v", c.args, err)
		}
		if !strings.Contains(out.String(), c.want) || strings.Contains(out.String(), "a-masked-password") {
			t.Errorf("%s: %s", c.args, out.String())
		}
	}
}

func TestUsage(t *testing.T) {
	getenv := env(t, nil)
	for _, args := range []string{
		"nonsense", "serve now", "config all", "version 2", "openapi -2", "openapi x", "migrate", "migrate sideways",
		"migrate down 0", "migrate up 2", "demo -links 0", "demo -links 9999999", "demo please",
		"user", "user sing", "user add", "user add a b", "user role alice", "user list alice", "token", "token add", "help nonsense",
	} {
		var out strings.Builder
		if err := Run(t.Context(), strings.Fields(args), getenv, &out); err != ErrUsage { //nolint:errorlint // it is never wrapped
			t.Errorf("%s: %v", args, err)
		}
		if out.Len() == 0 {
			t.Errorf("%s: no output", args)
		}
	}
	if _, err := os.Stat(getenv("DATABASE_URL")); err == nil {
		t.Error("a wrong command line created a database")
	}
}
