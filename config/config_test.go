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
		HTTPTimeout: 5 * time.Second, MaxConcurrency: 8, ShutdownGrace: 10 * time.Second, LinkCheckInterval: 168 * time.Hour,
		CheckInterval: 15 * time.Second, ResultRetention: 720 * time.Hour,
		ShortCacheSize: 100_000, ShortTombstoneTTL: time.Hour, ShortCreateLimit: 600,
		CleanupEnabled: true, CleanupInterval: 15 * time.Minute, CleanupBatchSize: 1000,
		CleanupBufferTime: time.Hour, CleanupMaxDuration: 5 * time.Minute,
	}
	for i, f := range fields() {
		have, should := reflect.ValueOf(got).Field(i), reflect.ValueOf(want).Field(i)
		if should.IsZero() && f.Tag.Get("envDefault") != "" { // its tag says it, and no code here depends on it
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

// values holds, for every variable, values that are taken (with what they become) and values that are refused.
var values = map[string]struct {
	good map[string]string
	bad  []string
}{
	"HTTP_HOST": {
		good: map[string]string{"0.0.0.0": "0.0.0.0", "::1": "::1", "localhost": "localhost", "my-host.example": "my-host.example"},
		bad:  []string{"[::1]", "localhost:80", "300.1.1.1", "a b", "-x", "http://x", "*"},
	},
	"HTTP_PORT": {
		good: map[string]string{"0": "0", "65535": "65535"},
		bad:  []string{"-1", "65536", "http", "80.0", " 80"},
	},
	"PUBLIC_URL": {
		good: map[string]string{
			"https://Go.Example/": "https://go.example", "HTTP://localhost:8080": "http://localhost:8080", "https://[::1]:1": "https://[::1]:1",
			"https://go.example:443/": "https://go.example", "http://[::1]:080": "http://[::1]", "https://go.example:80": "https://go.example:80", "http://go.example:443": "http://go.example:443",
		},
		bad: []string{
			"go.example", "ftp://go.example", "https://", "https://go.example/a", "https://go.example?", "https://go.example#", "https://u@go.example",
			"https://go.example:0", "https://go.example:65536", "https://go.example:", "https://go.example:x", "https:go.example", "https://b_d!",
		},
	},
	"SHORT_HOST": {
		good: map[string]string{"Go.Example": "go.example", "192.0.2.7": "192.0.2.7"},
		bad:  []string{"127.0.0.1", "go.example:80", "https://go.example", "a b"},
	},
	"REDIS_URL": {
		good: map[string]string{"redis://127.0.0.1:6379/0": "redis://127.0.0.1:6379/0", "rediss://u:secret@h": "rediss://u:***@h"},
		bad:  []string{"127.0.0.1:6379", "http://h", "redis://", "redis://h:port"},
	},
	"SHORT_CACHE_SIZE": {
		good: map[string]string{"1000": "1000", "10000000": "10000000"},
		bad:  []string{"999", "1e5", "-1"},
	},
	"SHORT_TOMBSTONE_TTL": {
		good: map[string]string{"1s": "1s", "24h": "24h"},
		bad:  []string{"0", "25h", "999ms"},
	},
	"SHORT_BLOCKED_HOSTS": {
		good: map[string]string{"Spam.example": "spam.example", "a.example, b.example": "a.example,b.example"},
		bad:  []string{"https://spam.example", "a.example,,b.example", "a b", "*.example"},
	},
	"SHORT_CREATE_LIMIT": {
		good: map[string]string{"0": "0", "1000000": "1000000"},
		bad:  []string{"-1", "1000001", "ten"},
	},
	"CLEANUP_ENABLED": {
		good: map[string]string{"true": "true", "false": "false", "": "true"},
		bad:  []string{"yes", "off"},
	},
	"CLEANUP_INTERVAL": {
		good: map[string]string{"1s": "1s", "24h": "24h"},
		bad:  []string{"15", "0s", "999ms"},
	},
	"CLEANUP_BATCH_SIZE": {
		good: map[string]string{"1": "1", "10000": "10000"},
		bad:  []string{"0", "10001", "many"},
	},
	"CLEANUP_BUFFER_TIME": {
		good: map[string]string{"0s": "0s", "8760h": "8760h"},
		bad:  []string{"-1s", "8761h", "1d"},
	},
	"CLEANUP_MAX_DURATION": {
		good: map[string]string{"100ms": "100ms", "1h": "1h"},
		bad:  []string{"0s", "61m"},
	},
	"CHECK_INTERVAL": {
		good: map[string]string{"100ms": "100ms", "24h": "24h"},
		bad:  []string{"15", "99ms", "25h", "-1s"},
	},
	"RESULT_RETENTION": {
		good: map[string]string{"1h": "1h", "8760h": "8760h"},
		bad:  []string{"30d", "59m", "0"},
	},
	"AUTH_JWT_SECRET": {
		good: map[string]string{"a long enough secret": "***", "0123456789abcdef": "***", "": ""},
		bad:  []string{"0123456789abcde", "x"},
	},
	"SECRET_KEY": {
		good: map[string]string{"a long enough secret": "***"},
	},
	"GOOGLE_INDEXING_ENDPOINT": {
		good: map[string]string{"http://127.0.0.1:9/x": "http://127.0.0.1:9/x"},
		bad:  []string{"google.example", "ftp://google.example", "https://google.example/?x", "https://google.example/#x"},
	},
	"GOOGLE_SEARCHCONSOLE_ENDPOINT": {
		good: map[string]string{"http://127.0.0.1:9/x": "http://127.0.0.1:9/x"},
		bad:  []string{"google.example", "ftp://google.example", "https://google.example/?x", "https://google.example/#x"},
	},
	"GOOGLE_TOKEN_ENDPOINT": {
		good: map[string]string{"http://127.0.0.1:9/x": "http://127.0.0.1:9/x"},
		bad:  []string{"google.example", "ftp://google.example", "https://google.example/?x", "https://google.example/#x"},
	},
	"INDEXNOW_ENDPOINT": {
		good: map[string]string{"http://127.0.0.1:9/x": "http://127.0.0.1:9/x"},
		bad:  []string{"google.example", "ftp://google.example", "https://google.example/?x", "https://google.example/#x"},
	},
	"CRAWLER_PROXIES_ENABLED": {
		good: map[string]string{"false": "false", "": "false"},
		bad:  []string{"yes", "true"}, // there is no proxy
	},
	"CRAWLER_PROXY_URLS": {
		good: map[string]string{
			"http://127.0.0.1:3128":                                "http://127.0.0.1:3128",
			"https://u:secret@proxy.example:443/":                  "https://u:***@proxy.example:443/",
			"socks5://[::1]:1080 , http://u:secret@h:1,http://h:2": "socks5://[::1]:1080,http://u:***@h:1,http://h:2",
			strings.Repeat("http://h:1,", 99) + "http://h:1":       strings.Repeat("http://h:1,", 99) + "http://h:1",
		},
		bad: []string{
			"proxy.example:3128", "ftp://h:21", "socks4://h:1080", "http://h", "http://:3128", "http://h:0", "http://h:65536", "http://h:port",
			"http://h:1,", "http://h:1,,http://h:2", "http://h:1/path", "http://h:1?a", "http://h:1#a", strings.Repeat("http://h:1,", 100) + "http://h:1",
		},
	},
	"CRAWLER_SOURCES_API_URL": {
		good: map[string]string{
			"http://localhost:8050/api/v1/sources": "http://localhost:8050/api/v1/sources", "https://h/?a=b": "https://h/?a=b",
			"https://u:secret@h/sources": "https://u:***@h/sources", "": "",
		},
		bad: []string{"localhost:8050", "ftp://h/", "https://", "https://h/#a", "https://h:port/", "/sources"},
	},
	"CRAWLER_ARCHIVE_URL": {
		good: map[string]string{
			"archive": "archive", "/var/lib/archive": "/var/lib/archive", "file:///var/lib/archive": "file:///var/lib/archive", "": "",
			"s3://bucket": "s3://bucket", "s3://bucket/a/b?region=eu-central-1": "s3://bucket/a/b?region=eu-central-1",
			"s3://key:hunter2@bucket?endpoint=http://127.0.0.1:9000": "s3://key:***@bucket?endpoint=http://127.0.0.1:9000",
		},
		bad: []string{
			"http://h/", "file://h/x", "file://", "file:///x?a=b", "s3://", "s3://B", "s3://bucket?x=y", "s3://bucket?endpoint=127.0.0.1:9000",
			"s3://bucket?endpoint=http://h/path", "s3://bucket?endpoint=http://u:p@h", "s3://bucket#a", "s3://key@bucket", "s3://bucket/../x", "s3://bucket?region=", "s3://bucket?region=a&region=b",
		},
	},
	"CRAWLER_MINIO_ENABLED": {
		good: map[string]string{"false": "false", "": "false"},
		bad:  []string{"yes"},
	},
	"CRAWLER_MINIO_ENDPOINT": {
		good: map[string]string{
			"127.0.0.1:9000": "http://127.0.0.1:9000", "minio": "http://minio", "https://minio:9000/": "https://minio:9000", "http://[::1]:9000": "http://[::1]:9000", "": "",
		},
		bad: []string{"ftp://h", "http://h/path", "h/path", "h:port", "http://u:p@h", "a b", "http://h?x"},
	},
	"CRAWLER_MINIO_BUCKET": {
		good: map[string]string{"pages": "pages", "my-bucket.2": "my-bucket.2", "": ""},
		bad:  []string{"Pages", "a/b", "ab", "-pages", "a b"},
	},
	"CRAWLER_MINIO_ACCESS_KEY": {good: map[string]string{"minioadmin": "***", "": ""}, bad: []string{"a b", "a\n", "schlüssel"}},
	"CRAWLER_MINIO_SECRET_KEY": {good: map[string]string{"a/b+c=": "***", "": ""}, bad: []string{"a b", "a\n"}},
	"CRAWLER_ELASTICSEARCH_URL": {
		good: map[string]string{
			"http://localhost:9200": "http://localhost:9200", "https://elastic:secret@h/search/": "https://elastic:***@h/search/", "": "",
		},
		bad: []string{"localhost:9200", "ftp://h/", "https://", "https://h/#a", "https://h/?a=b", "https://h:port/"},
	},
	"CRAWLER_ELASTICSEARCH_API_KEY": {
		good: map[string]string{"VnVhQ2ZHY0JDZGJrU==": "***", "": ""},
		bad:  []string{"a b", "a\r\nX: y", "schlüssel"},
	},
	"REDIS_EVENTS_ENABLED": {
		good: map[string]string{"false": "false", "": "false"},
		bad:  []string{"yes", "true"}, // there is no Redis
	},
	"DATABASE_DRIVER": {
		good: map[string]string{"sqlite": SQLite},
		bad:  []string{"postgres", "mysql", "SQLite"},
	},
	"DATABASE_URL": {
		good: map[string]string{
			"/var/lib/x.db": "/var/lib/x.db", "file:x.db?mode=ro": "file:x.db?mode=ro", "file:///x.db": "file:///x.db", `C:\x.db`: `C:\x.db`,
			"sqlite:x.db": "x.db", "sqlite:///x.db": "/x.db", "postgres://u@h/db": "postgres://u@h/db", "postgresql:///db": "postgresql:///db",
		},
		bad: []string{"mysql://h/db", "sqlite:", "sqlite://", "file:", "postgres://h:port/db", "postgres://u:%zz@h/db"},
	},
	"HTTP_TIMEOUT": {
		good: map[string]string{"1ms": "1ms", "1500ms": "1.5s", "5m": "5m"},
		bad:  []string{"5", "0s", "-1s", "5m1s", "soon"},
	},
	"MAX_CONCURRENCY": {
		good: map[string]string{"1": "1", "1024": "1024"},
		bad:  []string{"0", "1025", "-1", "many", "1.5"},
	},
	"SHUTDOWN_GRACE": {
		good: map[string]string{"1ms": "1ms", "10m": "10m"},
		bad:  []string{"0", "10m1ms", "-5s"},
	},
	"LINK_CHECK_INTERVAL": {
		good: map[string]string{"1s": "1s", "90m": "1h30m", "8760h": "8760h"},
		bad:  []string{"7d", "0s", "8761h"},
	},
	"OUTBOUND_ALLOW_CIDRS": {
		good: map[string]string{
			"10.1.2.3/8": "10.0.0.0/8", "127.0.0.1": "127.0.0.1/32", "::1, fd00::/8": "::1/128,fd00::/8",
		},
		bad: []string{"10.0.0.0/33", "10.0.0.0/8,", "home", "10.0.0.0-10.0.0.9", "fe80::1%eth0"},
	},
	"TRUSTED_PROXIES": {
		good: map[string]string{"10.1.2.3/8": "10.0.0.0/8", "127.0.0.1, ::1": "127.0.0.1/32,::1/128"},
		bad:  []string{"10.0.0.0/33", "nginx", "true"},
	},
	"BACKUP_DIR": {
		good: map[string]string{"/var/backups": "/var/backups", "backups": "backups"},
	},
	"BACKUP_INTERVAL": {
		good: map[string]string{"1m": "1m", "8760h": "8760h"},
		bad:  []string{"59s", "8761h", "daily"},
	},
	"BACKUP_KEEP": {
		good: map[string]string{"1": "1", "1000": "1000"},
		bad:  []string{"0", "1001", "all"},
	},
	"OUTBOUND_USER_AGENT": {
		good: map[string]string{"Mine/2 (me@example.org)": "Mine/2 (me@example.org)", strings.Repeat("a", 256): strings.Repeat("a", 256)},
		bad:  []string{" Mine", "2Mine", "Mine\r\nX: y", "Möwe", strings.Repeat("a", 257)},
	},
	"LOG_LEVEL": {
		good: map[string]string{"debug": "debug", "WARN": "warn", "error": "error"},
		bad:  []string{"verbose", "1"},
	},
	"LOG_FORMAT": {
		good: map[string]string{"text": "text", "json": "json"},
		bad:  []string{"JSON", "logfmt"},
	},
	"ADMIN_PASSWORD": {
		good: map[string]string{"correct horse": "***", "x": "***", "": ""},
		bad:  []string{" ", "\t\n", "\u3000", " hunter2", "hunter2 ", "hunter2\n", "hunter2\u00a0", "\u2028hunter2"},
	},
	"AUTH_DISABLED": {
		good: map[string]string{"true": "true", "1": "true", "false": "false", "": "false"},
		bad:  []string{"yes", "on", "2"},
	},
}

func TestValues(t *testing.T) {
	for _, f := range fields() {
		name := f.Tag.Get("env")
		if _, ok := values[name]; ok {
			continue
		}
		least, most, ok := strings.Cut(f.Tag.Get("range"), "..")
		if f.Type.Kind() == reflect.Bool {
			least, most, ok = "false", "true", true
		}
		if ok { // the tag says all about a number, a duration or a switch
			for _, in := range []string{least, most, "nonsense"} {
				if _, err := load(name, in); (err == nil) != (in != "nonsense") {
					t.Errorf("%s=%q: %v", name, in, err)
				}
			}
			continue
		}
		t.Errorf("%s has no test values", name)
	}
	for name, v := range values {
		for in, want := range v.good {
			c, err := load(name, in)
			if err != nil {
				t.Errorf("%s=%q: %v", name, in, err)
			} else if got := setting(c, name).Value; got != want {
				t.Errorf("%s=%q became %q, want %q", name, in, got, want)
			}
		}
		for _, in := range v.bad {
			c, err := load(name, in)
			if err == nil {
				t.Errorf("%s=%q was taken as %q", name, in, setting(c, name).Value)
			} else if !strings.HasPrefix(err.Error(), name+"=") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s=%q: the error should name it, and it alone: %v", name, in, err)
			}
		}
	}
}

// Some switches need another setting.
func TestSwitchesWithWhatTheyNeed(t *testing.T) {
	c, err := load("CRAWLER_PROXIES_ENABLED", "true", "CRAWLER_PROXY_URLS", "http://h:1,socks5://h:2", "REDIS_EVENTS_ENABLED", "true", "REDIS_URL", "redis://h")
	if err != nil || !c.CrawlerProxiesEnabled || len(c.CrawlerProxyURLs) != 2 || !c.RedisEventsEnabled {
		t.Errorf("%+v %v", c, err)
	}
	_, err = load("CRAWLER_PROXIES_ENABLED", "true", "REDIS_EVENTS_ENABLED", "true")
	want := `CRAWLER_PROXIES_ENABLED="true": must be true or false, and true only with CRAWLER_PROXY_URLS
REDIS_EVENTS_ENABLED="true": must be true or false, and true only with REDIS_URL`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// MinIO needs all its parts, and is no second archive. The errors name what is wrong,
// and no key.
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

// FuzzProxyURLs: a password is never shown, whether the list is accepted or refused.
func FuzzProxyURLs(f *testing.F) {
	for _, seed := range []string{"", "a", "a@b", "a,b", "a/b", "a,http://h:1", "a@h:1,http://u:b", "%zz", "a\n", "#", "?"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, more string) {
		given := "http://user:hunter2" + more + "@proxy.example:3128"
		if strings.Contains(more, ",") && strings.Contains(more, "hunter2") {
			return // a user of that name, in another URL
		}
		c, err := load("CRAWLER_PROXY_URLS", given)
		shown := setting(c, "CRAWLER_PROXY_URLS").Value
		if err != nil {
			shown = err.Error()
		}
		if strings.Contains(shown, "hunter2") {
			t.Errorf("%q is shown as %q", given, shown)
		}
	})
}

// A host of short links serves nothing else: it cannot be the one of the pages.
func TestShortHost(t *testing.T) {
	if c, err := load("PUBLIC_URL", "https://Links.example:8443", "SHORT_HOST", "go.example"); err != nil || c.ShortHost != "go.example" {
		t.Errorf("%q %v", c.ShortHost, err)
	}
	_, err := load("PUBLIC_URL", "https://Links.example:8443", "SHORT_HOST", "LINKS.example")
	if err == nil || !strings.Contains(err.Error(), "SHORT_HOST") {
		t.Errorf("got %v", err)
	}
}

func TestAuthorities(t *testing.T) {
	for env, want := range map[[2]string]string{
		{"PUBLIC_URL", "https://Links.example"}: "[links.example 127.0.0.1:8080 localhost:8080 [::1]:8080 127.0.0.1:8080]",
		{"HTTP_PORT", "8081"}:                   "[127.0.0.1:8081 localhost:8081 [::1]:8081 127.0.0.1:8081]",
		{"HTTP_PORT", "80"}:                     "[127.0.0.1 localhost [::1] 127.0.0.1]",
	} {
		if c, err := load(env[:]...); err != nil || fmt.Sprint(c.Authorities()) != want {
			t.Errorf("%s: %v %v", env, c.Authorities(), err)
		}
	}
}

// Scheduled backups are those of an SQLite file.
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
HTTP_TIMEOUT="1h": must be a duration from 1ms to 5m, such as 5s
MAX_CONCURRENCY="0": must be a whole number from 1 to 1024
LOG_LEVEL="loud": must be debug, info, warn or error`
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

// A password that is refused is told by its name alone.
func TestRefusedPasswordIsMasked(t *testing.T) {
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

// setting is the line of c's description for one variable.
func setting(c Config, name string) Setting {
	for _, s := range Describe(c) {
		if s.Name == name {
			return s
		}
	}
	return Setting{}
}
