package config

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"
)

// load reads settings from name, value pairs.
func load(pairs ...string) (Config, error) {
	vars := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		vars[pairs[i]] = pairs[i+1]
	}
	return Load(func(name string) string { return vars[name] })
}

func TestDefaults(t *testing.T) {
	got, err := load()
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		HTTPHost: "127.0.0.1", HTTPPort: 8080,
		DatabaseDriver: SQLite, DatabaseURL: "linkwatch.db",
		HTTPTimeout: 5 * time.Second, MaxConcurrency: 8, ChecksPerHost: 1, ShutdownGrace: 10 * time.Second, LinkCheckInterval: 168 * time.Hour,
		CheckInterval: 15 * time.Second, ResultRetention: 720 * time.Hour,
		ShortCacheSize: 100_000, ShortTombstoneTTL: time.Hour, ShortCreateLimit: 600,
		CleanupEnabled: true, CleanupInterval: 15 * time.Minute, CleanupBatchSize: 1000,
		CleanupBufferTime: time.Hour, CleanupMaxDuration: 5 * time.Minute,
	}
	for i, f := range fields() {
		have, should := reflect.ValueOf(got).Field(i), reflect.ValueOf(want).Field(i)
		if should.IsZero() && f.Tag.Get("envDefault") != "" { // the tag is enough
			continue
		}
		if !reflect.DeepEqual(have.Interface(), should.Interface()) {
			t.Errorf("%s: got %v, want %v", f.Name, have, should)
		}
	}
	if got.Addr() != "127.0.0.1:8080" {
		t.Errorf("Addr() = %q", got.Addr())
	}
}

func TestSwitchesRequireOtherSettings(t *testing.T) {
	c, err := load("CRAWLER_PROXIES_ENABLED", "true", "CRAWLER_PROXY_URLS", "http://h:1,socks5://h:2", "REDIS_EVENTS_ENABLED", "true", "REDIS_URL", "redis://h")
	if err != nil || !c.CrawlerProxiesEnabled || len(c.CrawlerProxyURLs) != 2 || !c.RedisEventsEnabled {
		t.Errorf("%+v %v", c, err)
	}
	_, err = load("CRAWLER_PROXIES_ENABLED", "true", "REDIS_EVENTS_ENABLED", "true")
	want := `REDIS_EVENTS_ENABLED="true": must be true or false, and true only with REDIS_URL
CRAWLER_PROXIES_ENABLED="true": must be true or false, and true only with CRAWLER_PROXY_URLS`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// MinIO needs all its settings, and cannot be used together with CRAWLER_ARCHIVE_URL. Errors show no key.
func TestMinIO(t *testing.T) {
	all := []string{
		"CRAWLER_MINIO_ENABLED", "true", "CRAWLER_MINIO_ENDPOINT", "minio:9000", "CRAWLER_MINIO_BUCKET", "pages",
		"CRAWLER_MINIO_ACCESS_KEY", "access", "CRAWLER_MINIO_SECRET_KEY", "hunter2",
	}
	c, err := load(append(all, "CRAWLER_MINIO_USE_SSL", "true")...)
	if err != nil || c.CrawlerMinIOEndpoint != "https://minio:9000" || c.CrawlerMinIOSecretKey != "hunter2" {
		t.Errorf("%v %v", c.CrawlerMinIOEndpoint, err)
	}
	refused := func(name string, pairs ...string) {
		t.Helper()
		_, err := load(pairs...)
		if err == nil || !strings.HasPrefix(err.Error(), name+"=") || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := 2; i < len(all); i += 2 {
		refused(all[i], append(append([]string(nil), all[:i]...), all[i+2:]...)...)
	}
	refused("CRAWLER_MINIO_ENABLED", append(all, "CRAWLER_ARCHIVE_URL", "/archive")...)
	refused("CRAWLER_MINIO_USE_SSL", append(all[:2:2], append(all[4:], "CRAWLER_MINIO_ENDPOINT", "http://minio", "CRAWLER_MINIO_USE_SSL", "true")...)...)
}

// FuzzProxyURLs checks that a password is never shown, whether the list is valid or not.
func FuzzProxyURLs(f *testing.F) {
	for _, seed := range []string{"", "a", "a@b", "a,b", "a/b", "a,http://h:1", "a@h:1,http://u:b", "%zz", "a\n", "#", "?"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, more string) {
		given := "http://user:hunter2" + more + "@proxy.example:3128"
		if strings.Contains(more, ",") && strings.Contains(more, "hunter2") {
			return // "hunter2" is the user of another URL
		}
		c, err := load("CRAWLER_PROXY_URLS", given)
		shown := setting(c, "CRAWLER_PROXY_URLS").Value
		if err != nil {
			shown = err.Error()
		}
		if strings.Contains(shown, "hunter2") {
			t.Errorf("%q: password shown: %q", given, shown)
		}
	})
}

// SHORT_HOST serves only short links, so it must differ from the host of the pages.
func TestShortHost(t *testing.T) {
	if c, err := load("PUBLIC_URL", "https://Links.example:8443", "SHORT_HOST", "go.example"); err != nil || c.ShortHost != "go.example" {
		t.Errorf("%q %v", c.ShortHost, err)
	}
	_, err := load("PUBLIC_URL", "https://Links.example:8443", "SHORT_HOST", "LINKS.example")
	if err == nil || !strings.Contains(err.Error(), "SHORT_HOST") {
		t.Errorf("got %v", err)
	}
}

func TestBases(t *testing.T) {
	for env, want := range map[[6]string]string{
		{"PUBLIC_URL", "https://Links.example"}: "[links.example 127.0.0.1:8080 localhost:8080 [::1]:8080 127.0.0.1:8080]",
		{"PUBLIC_URL", "https://Links.example/A/"}: "[links.example/A 127.0.0.1:8080 127.0.0.1:8080/A localhost:8080 localhost:8080/A " +
			"[::1]:8080 [::1]:8080/A 127.0.0.1:8080 127.0.0.1:8080/A]",
		{"HTTP_PORT", "8081"}: "[127.0.0.1:8081 localhost:8081 [::1]:8081 127.0.0.1:8081]",
		{"HTTP_PORT", "80"}:   "[127.0.0.1 localhost [::1] 127.0.0.1]",
		{"HTTP_PORT", "443", "HTTP_TLS_CERT", "c.pem", "HTTP_TLS_KEY", "k.pem"}: "[127.0.0.1 localhost [::1] 127.0.0.1]",
		{"HTTP_PORT", "80", "HTTP_TLS_CERT", "c.pem", "HTTP_TLS_KEY", "k.pem"}:  "[127.0.0.1:80 localhost:80 [::1]:80 127.0.0.1:80]",
	} {
		if c, err := load(env[:]...); err != nil || fmt.Sprint(c.Bases()) != want {
			t.Errorf("%s: %v %v", env, c.Bases(), err)
		}
	}
}

func TestBackupDirOnPostgreSQL(t *testing.T) {
	_, err := load("BACKUP_DIR", "/var/backups", "DATABASE_URL", "postgres://h/db")
	if err == nil || !strings.Contains(err.Error(), "BACKUP_DIR") || !strings.Contains(err.Error(), "pg_dump") {
		t.Errorf("got %v", err)
	}
}

func TestOutboundAllowCIDRs(t *testing.T) {
	c, err := load("OUTBOUND_ALLOW_CIDRS", "127.0.0.1,10.0.0.0/8")
	want := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("10.0.0.0/8")}
	if err != nil || !reflect.DeepEqual(c.OutboundAllowCIDRs, want) {
		t.Errorf("got %v, %v", c.OutboundAllowCIDRs, err)
	}
}

func TestDriver(t *testing.T) {
	tests := []struct{ driver, url, want string }{
		{"", "a.db", SQLite},
		{"", "file:a.db", SQLite},
		{"", "a=b.db", SQLite},
		{"", "postgres://h/db", Postgres},
		{"", "postgresql://h/db", Postgres},
		{"postgres", "postgres://h/db", Postgres},
		{"postgres", "host=h dbname=db", Postgres},
		{"sqlite", "sqlite:a.db", SQLite},
		{"sqlite", "a=b.db", SQLite},
		{"sqlite", "postgres://h/db", ""},
		{"postgres", "file:a.db", ""},
		{"postgres", "sqlite:a.db", ""},
		{"postgres", "a.db", ""},
	}
	for _, tt := range tests {
		c, err := load("DATABASE_DRIVER", tt.driver, "DATABASE_URL", tt.url)
		if c.DatabaseDriver != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q with %q: got %q, %v; want %q", tt.driver, tt.url, c.DatabaseDriver, err, tt.want)
		}
	}
}

func TestEveryBadValueIsReported(t *testing.T) {
	_, err := load("HTTP_PORT", "x", "MAX_CONCURRENCY", "0", "HTTP_TIMEOUT", "1h", "LOG_LEVEL", "loud", "ADMIN_PASSWORD", "hunter2")
	want := `HTTP_PORT="x": must be a whole number from 0 to 65535
LOG_LEVEL="loud": must be debug, info, warn or error
MAX_CONCURRENCY="0": must be a whole number from 1 to 1024
HTTP_TIMEOUT="1h": must be a duration from 1ms to 5m, such as 5s`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestLogFormatFor(t *testing.T) {
	tests := []struct {
		format     string
		isTerminal bool
		want       string
	}{
		{"", true, LogText}, {"", false, LogJSON}, {"json", true, LogJSON}, {"text", false, LogText},
	}
	for _, tt := range tests {
		c, err := load("LOG_FORMAT", tt.format)
		if got := c.LogFormatFor(tt.isTerminal); err != nil || got != tt.want {
			t.Errorf("LOG_FORMAT=%q, terminal %v: got %q, %v; want %q", tt.format, tt.isTerminal, got, err, tt.want)
		}
	}
}

func TestInvalidPasswordIsMasked(t *testing.T) {
	_, err := load("ADMIN_PASSWORD", "hunter2 ")
	if want := `ADMIN_PASSWORD="***": must be a text without white space at its beginning or end`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestUserAgent(t *testing.T) {
	for _, c := range []struct{ set, public, version, want string }{
		{"", "", "v1.2.3", "Linkwatch/v1.2.3"},
		{"", "https://Links.example/", "v1.2.3", "Linkwatch/v1.2.3 (+https://links.example)"},
		{"", "", "v0.0.0-20260324120000-0123456789ab+dirty", "Linkwatch/v0.0.0-20260324120000-0123456789ab+dirty"},
		{"", "", "a b/(c)\r\nX: ü", "Linkwatch/a-b--c---X---"},
		{"Mine/2", "https://links.example", "v1.2.3", "Mine/2"},
	} {
		cfg, err := load("OUTBOUND_USER_AGENT", c.set, "PUBLIC_URL", c.public)
		if got := cfg.UserAgent(c.version); err != nil || got != c.want {
			t.Errorf("%+v: %q %v", c, got, err)
		}
	}
}

// setting returns the description of one variable of c.
func setting(c Config, name string) Setting {
	for _, s := range Describe(c) {
		if s.Name == name {
			return s
		}
	}
	return Setting{}
}
