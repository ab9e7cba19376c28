package app

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestCommands(t *testing.T) {
	getenv := env(t, map[string]string{"ADMIN_PASSWORD": "a-masked-password"})
	for _, c := range []struct {
		args string
		want string // part of the output
	}{
		{"help", "Usage: linkwatch [--config FILE] [COMMAND]"},
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
		"migrate down 0", "migrate up 2", "demo --links 0", "demo --links 9999999", "demo please",
		"user", "user sing", "user add", "user add a b", "user role alice", "user list alice", "token", "token add", "help nonsense", "help user extra",
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

// TestUsageMessages checks that the message about a wrong command line names the flag or argument and says what is valid.
func TestUsageMessages(t *testing.T) {
	for args, want := range map[string]string{
		"user add":                   "missing NAME",
		"token revoke":               "missing ID",
		"backup":                     "missing FILE",
		"migrate":                    "missing subcommand: up, down",
		"help user extra":            `unexpected argument "extra"`,
		"token add bob --expires 5x": "--expires must be a duration such as 90m",
		"token add bob --expires":    "--expires needs a value",
		"demo --links many":          "--links must be a whole number",
		"demo --force=maybe":         "--force must be true or false",
		"demo --nonsense":            "unknown flag --nonsense",
	} {
		var out strings.Builder
		if err := Run(t.Context(), strings.Fields(args), env(t, nil), &out); err != ErrUsage { //nolint:errorlint // it is never wrapped
			t.Errorf("%s: %v", args, err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s: got %q, want %q", args, out.String(), want)
		}
	}
}

func TestTokenErrorsNameTheFlag(t *testing.T) {
	getenv := env(t, nil)
	for _, args := range []string{"user add alice --role admin", "user add bob"} {
		if err := Run(t.Context(), strings.Fields(args), getenv, io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	for flags, want := range map[string]string{
		"--scope admin": "--scope: needs the role admin, but the account has the role viewer",
		"--scope sing":  "--scope: must be one of",
		"--name=":       "--name: must not be empty",
		"--expires -5h": "--expires: must be in the future",
	} {
		err := Run(t.Context(), append([]string{"token", "add", "bob"}, strings.Fields(flags)...), getenv, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", flags, err, want)
		}
	}
}

// Every command takes a settings file, before or after its name. The environment wins, and a bad file is an error of
// the command.
func TestConfigFlag(t *testing.T) {
	file := filepath.Join(t.TempDir(), "linkwatch.conf")
	const content = "HTTP_PORT=8123\nADMIN_PASSWORD=a-masked-password\nLOG_FORMAT=text\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := env(t, map[string]string{"HTTP_PORT": ""})
	run := func(getenv func(string) string, args ...string) (string, error) {
		var out strings.Builder
		err := Run(t.Context(), args, getenv, &out)
		return out.String(), err
	}
	byVariable := env(t, map[string]string{"HTTP_PORT": "", "LINKWATCH_CONFIG": file})
	for _, c := range []struct {
		getenv func(string) string
		args   []string
	}{
		{getenv, []string{"--config", file, "config"}},
		{getenv, []string{"config", "--config=" + file}},
		{getenv, []string{"config", "-config", file}},
		{byVariable, []string{"config"}},
	} {
		out, err := run(c.getenv, c.args...)
		port, format := regexp.MustCompile(`HTTP_PORT +8123 +8080 +`+file), regexp.MustCompile(`LOG_FORMAT +json .* environment `)
		if err != nil || !port.MatchString(out) || !format.MatchString(out) || strings.Contains(out, "a-masked-password") {
			t.Errorf("%v: %v\n%s", c.args, err, out)
		}
	}
	twice := []string{"--config", file, "config", "--config", file}
	for _, args := range [][]string{{"--config"}, {"config", "--config="}, twice} {
		if out, err := run(getenv, args...); !errors.Is(err, ErrUsage) || !strings.Contains(out, "--config") {
			t.Errorf("%v: %v %s", args, err, out)
		}
	}
	if err := os.WriteFile(file, []byte("HTTP_PROT=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"serve", "config", "health", "user list", "token list", "migrate up", "check", "backup x", "restore x", "sync", "demo",
	} {
		_, err := run(getenv, append(strings.Fields(command), "--config", file)...)
		if err == nil || !strings.Contains(err.Error(), file+":1: unknown setting HTTP_PROT") {
			t.Errorf("%s: %v", command, err)
		}
	}
	if out, err := run(byVariable, "help", "serve"); err != nil || !strings.Contains(out, "SIGHUP") {
		t.Errorf("help needs no settings: %v", err)
	}
}
