package config

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write writes a file with mode 0600 and returns its name.
func write(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// loadFile reads settings from a settings file and name, value pairs of the environment.
func loadFile(t *testing.T, content string, env ...string) (Config, Sources, string, error) {
	t.Helper()
	file := write(t, "linkwatch.conf", content)
	vars := map[string]string{FileVariable: file}
	for i := 0; i < len(env); i += 2 {
		vars[env[i]] = env[i+1]
	}
	c, from, err := LoadSources(func(name string) string { return vars[name] })
	return c, from, file, err
}

func TestSettingsFile(t *testing.T) {
	c, from, file, err := loadFile(t, "\uFEFF# comment\r\n\r\n  HTTP_PORT = 8081\r\nADMIN_PASSWORD=\"a\\b #'c\"\nAUTH_JWT_ISSUER='it''s'\n"+
		"AUTH_JWT_SECRET='\"0123456789abcdef'\nCHECK_INTERVAL=1m", "CHECK_INTERVAL", "2m", "HTTP_PORT", "", "NO_SETTING", "x")
	if err != nil || c.HTTPPort != 8081 || c.AdminPassword != `a\b #'c` || c.AuthJWTIssuer != "it''s" ||
		c.AuthJWTSecret != `"0123456789abcdef` || c.CheckInterval.String() != "2m0s" {
		t.Errorf("%+v %v", c, err)
	}
	want := map[string]string{
		"HTTP_PORT": file, "ADMIN_PASSWORD": file, "AUTH_JWT_ISSUER": file, "AUTH_JWT_SECRET": file, "CHECK_INTERVAL": "environment",
	}
	if !maps.Equal(from.Of, want) || len(from.Exposed) > 0 {
		t.Errorf("%+v", from)
	}
}

// The error has the file and the line of each problem, and never a value.
func TestBadSettingsFile(t *testing.T) {
	_, _, file, err := loadFile(t, "HTTP_PORT=1\nhunter2\n=hunter2\nexport A=hunter2\nHTTP_PROT=hunter2\nHTTP_PORT=hunter2\n\n"+
		"ADMIN_PASSWORD='hunter2\nLINKWATCH_CONFIG=hunter2\nHTTP_PORT_FILE=hunter2\nhunter2=")
	var lines []string
	for line := range strings.Lines(err.Error()) {
		line, ok := strings.CutPrefix(line, file+":")
		number, text, _ := strings.Cut(line, ": ")
		if !ok || strings.Contains(text, "hunter2") {
			t.Errorf("%q", line)
		}
		lines = append(lines, number)
	}
	if got := strings.Join(lines, " "); got != "2 3 4 5 6 8 9 10 11" {
		t.Errorf("lines %s: %v", got, err)
	}
	large := strings.Repeat("#\n", maxSettingsFile)
	for name, content := range map[string]string{"NUL": "HTTP_PORT=\x00", "binary": "\xff\xfe", "too large": large} {
		if _, _, file, err := loadFile(t, content); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, file := range []string{"/nonexistent/x", t.TempDir()} {
		if _, err := load(FileVariable, file); err == nil || strings.Count(err.Error(), file) != 1 {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestSecretsInFiles(t *testing.T) {
	password, redis := write(t, "a", "pass word\n"), write(t, "b", "redis://:secret@h\r\n")
	c, from, _, err := loadFile(t, "ADMIN_PASSWORD_FILE="+password+"\nSECRET_KEY=of the file\nAUTH_JWT_SECRET=one in the file",
		"REDIS_URL_FILE", redis, "SECRET_KEY_FILE", write(t, "c", "two\nlines\n\n"), "AUTH_JWT_SECRET", "one of the environment", "HTTP_PORT_FILE", "x")
	if err != nil || c.AdminPassword != "pass word" || c.RedisURL != "redis://:secret@h" || c.SecretKey != "two\nlines\n" ||
		c.AuthJWTSecret != "one of the environment" {
		t.Errorf("%q %q %v", string(c.AdminPassword), string(c.SecretKey), err)
	}
	want := map[string]string{
		"ADMIN_PASSWORD": "ADMIN_PASSWORD_FILE", "REDIS_URL": "REDIS_URL_FILE", "SECRET_KEY": "SECRET_KEY_FILE", "AUTH_JWT_SECRET": "environment",
	}
	if !maps.Equal(from.Of, want) {
		t.Errorf("%+v", from)
	}
	for problem, env := range map[string][]string{
		"both set":     {"ADMIN_PASSWORD", "hunter2", "ADMIN_PASSWORD_FILE", password},
		"is empty":     {"ADMIN_PASSWORD_FILE", write(t, "d", "\n")},
		"no such file": {"ADMIN_PASSWORD_FILE", "hunter2"}, // the password itself, by mistake
		"larger":       {"ADMIN_PASSWORD_FILE", write(t, "e", strings.Repeat("x", maxSecretFile+1))},
		"text file":    {"ADMIN_PASSWORD_FILE", write(t, "f", "hunter2\x00")},
		"directory":    {"ADMIN_PASSWORD_FILE", t.TempDir()},
	} {
		_, err := load(env...)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", problem, err)
		} else if !strings.Contains(err.Error(), problem) || !strings.Contains(err.Error(), "ADMIN_PASSWORD_FILE") {
			t.Errorf("%s: %v", problem, err)
		}
	}
}

// A settings file that every user can read is worth a warning only if it has a secret.
func TestExposedSecrets(t *testing.T) {
	for content, want := range map[string]string{
		"HTTP_PORT=1": "", "SECRET_KEY=x\nDATABASE_URL=a.db\nREDIS_URL=redis://:x@h": "SECRET_KEY REDIS_URL",
	} {
		file := write(t, "linkwatch.conf", content)
		if err := os.Chmod(file, 0o644); err != nil {
			t.Fatal(err)
		}
		_, from, err := LoadSources(func(name string) string { return map[string]string{FileVariable: file}[name] })
		if got := strings.Join(from.Exposed, " "); err != nil || got != want {
			t.Errorf("%s: %q %v", content, got, err)
		}
	}
}
