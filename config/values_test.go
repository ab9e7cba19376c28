package config

import (
	"reflect"
	"strings"
	"testing"
)

// values has, for every variable, valid values with their result, and invalid values.
var values = map[string]struct {
	with []string // other settings that it requires: name, value, name, value, …
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
	"HTTP_TLS_CERT": {
		with: []string{"HTTP_TLS_KEY", "key.pem"},
		good: map[string]string{"/etc/tls/cert.pem": "/etc/tls/cert.pem"},
		bad:  []string{""},
	},
	"HTTP_TLS_KEY": {
		with: []string{"HTTP_TLS_CERT", "cert.pem"},
		good: map[string]string{"/etc/tls/key.pem": "/etc/tls/key.pem"},
		bad:  []string{""},
	},
	"PPROF_PORT": {
		good: map[string]string{"0": "0", "6060": "6060"},
		bad:  []string{"-1", "65536", "127.0.0.1:6060", "on"},
	},
	"PUBLIC_URL": {
		good: map[string]string{
			"https://Go.Example/": "https://go.example", "HTTP://localhost:8080": "http://localhost:8080", "https://[::1]:1": "https://[::1]:1",
			"https://go.example:443/": "https://go.example", "http://[::1]:080": "http://[::1]", "https://go.example:80": "https://go.example:80", "http://go.example:443": "http://go.example:443",
			"https://Go.Example:443/Link-watch": "https://go.example/Link-watch", "https://go.example/a/b_~.c/": "https://go.example/a/b_~.c",
			"https://go.example/" + strings.Repeat("a", 99): "https://go.example/" + strings.Repeat("a", 99),
		},
		bad: []string{
			"https://go.example//", "https://go.example/a//b", "https://go.example/a//", "https://go.example/..", "https://go.example/a/../b", "https://go.example/./a",
			"https://go.example/.a", "https://go.example/%61", "https://go.example/a%2fb", "https://go.example/ü", "https://go.example/a b", `https://go.example/a"b`,
			"https://go.example/a;b", `https://go.example/a\b`, "https://go.example/" + strings.Repeat("a", 100),
			"go.example", "ftp://go.example", "https://", "https://go.example?", "https://go.example#", "https://u@go.example",
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
		bad:  []string{"yes", "true"}, // without CRAWLER_PROXY_URLS
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
		bad:  []string{"yes", "true"}, // without REDIS_URL
	},
	"DATABASE_DRIVER": {
		good: map[string]string{"sqlite": SQLite},
		bad:  []string{"postgres", "mysql", "SQLite"},
	},
	"DATABASE_URL": {
		good: map[string]string{
			"/var/lib/x.db": "/var/lib/x.db", "file:x.db?mode=ro": "file:x.db?mode=ro", "file:///x.db": "file:///x.db", `C:\x.db`: `C:\x.db`,
			"sqlite:x.db": "x.db", "sqlite:///x.db": "/x.db", "postgres://u@h/db": "postgres://u@h/db", "postgresql:///db": "postgresql:///db",
			"a#b%20c.db": "a#b%20c.db", "file:a#b.db": "file:a#b.db", "sqlite:x.db?mode=ro": "file:x.db?mode=ro",
			"file:x.db?mode=rw&_pragma=x(1)&cache=shared": "file:x.db?mode=rw&_pragma=x(1)&cache=shared", "file::memory:?cache=shared": "file::memory:?cache=shared",
		},
		bad: []string{
			"mysql://h/db", "sqlite:", "sqlite://", "file:", "postgres://h:port/db", "postgres://u:%zz@h/db",
			"a?b.db", "x.db?mode=ro", "what?.db", "file:a?b.db", "sqlite:a?b.db", "file:a?", "file:a?b=%zz", "file:a?mode=ro&b.db", "file:a?mode=ro#b", "file://a.db", "sqlite:file://a.db",
		},
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
	"SESSION_IDLE_TIMEOUT": {
		good: map[string]string{"5m": "5m", "8760h": "8760h"},
		bad:  []string{"4m59s", "8761h", "a week"},
	},
	"AUTH_JWT_ISSUER": {
		with: []string{"AUTH_JWT_SECRET", "0123456789abcdef"},
		good: map[string]string{"https://id.example/": "https://id.example/"},
		bad:  []string{" x", "x ", "a\nb", strings.Repeat("x", 257)},
	},
	"AUTH_JWT_AUDIENCE": {
		with: []string{"AUTH_JWT_SECRET", "0123456789abcdef"},
		good: map[string]string{"linkwatch": "linkwatch"},
		bad:  []string{" x", "x ", "a\nb", strings.Repeat("x", 257)},
	},
	"AUTH_JWT_MAX_AGE": {
		with: []string{"AUTH_JWT_SECRET", "0123456789abcdef"},
		good: map[string]string{"0s": "0s", "8760h": "8760h"},
		bad:  []string{"-1s", "8761h", "60"},
	},
	"SESSION_MAX_AGE": {
		good: map[string]string{"5m": "5m", "8760h": "8760h"},
		bad:  []string{"4m59s", "8761h", "0"},
	},
	"OIDC_ISSUER": {
		with: []string{"OIDC_CLIENT_ID", "linkwatch", "PUBLIC_URL", "https://links.example"},
		good: map[string]string{
			"https://id.example": "https://id.example", "https://id.example:8443/realms/x": "https://id.example:8443/realms/x", "https://id.example/": "https://id.example/",
			"http://127.0.0.1:5556/dex": "http://127.0.0.1:5556/dex", "http://localhost:1": "http://localhost:1", "http://[::1]:1": "http://[::1]:1", "": "",
		},
		bad: []string{
			"http://id.example", "http://10.0.0.1", "http://localhost.example", "id.example", "ldap://id.example", "https://", "https:///realms",
			"https://u:hunter2@id.example", "https://id.example?a=b", "https://id.example#a", "https://id.example:port",
		},
	},
	"OIDC_CLIENT_ID": {
		with: []string{"OIDC_ISSUER", "https://id.example", "PUBLIC_URL", "https://links.example"},
		good: map[string]string{"linkwatch": "linkwatch", "0-a_b.apps.example": "0-a_b.apps.example"},
		bad:  []string{"", " ", "a b", "a\n", "schlüssel", strings.Repeat("a", 257)},
	},
	"OIDC_CLIENT_SECRET": {
		good: map[string]string{"hunter2": "***", "a b": "***", "": ""},
		bad:  []string{" hunter2", "hunter2\n"},
	},
	"OIDC_NAME": {
		good: map[string]string{"Büro": "Büro", strings.Repeat("ü", 50): strings.Repeat("ü", 50), "": "single sign-on"},
		bad:  []string{" ", " a", "a\tb", "a\n", "a\u202eb", strings.Repeat("a", 51)},
	},
	"OIDC_SCOPES": {
		good: map[string]string{"profile": "profile", "email, groups": "email,groups", "https://id.example/x": "https://id.example/x"},
		bad:  []string{"profile email", "profile,", `a"b`, `a\b`, "ä", "a,,b"},
	},
	"OIDC_ROLE_CLAIM": {
		good: map[string]string{"groups": "groups", "https://id.example/roles": "https://id.example/roles", "": ""},
		bad:  []string{" groups", "a\nb", strings.Repeat("a", 257)},
	},
	"OIDC_ROLES": {
		with: []string{"OIDC_ROLE_CLAIM", "groups"},
		good: map[string]string{
			"staff=editor": "staff=editor", "all staff = viewer , ops=admin": "all staff=viewer,ops=admin", "cn=ops=admin": "cn=ops=admin", "": "",
			"Staff=editor,staff=viewer": "Staff=editor,staff=viewer",
		},
		bad: []string{"staff", "staff=", "=admin", "staff=owner", "staff=none", "staff=Admin", "staff=editor,", "staff=editor,staff=admin", " = "},
	},
	"OIDC_DEFAULT_ROLE": {
		good: map[string]string{"admin": "admin", "editor": "editor", "viewer": "viewer", "none": "none", "": "none"},
		bad:  []string{"owner", "Admin", "viewer ", "public"},
	},
	"OIDC_ROLE_SYNC": {
		good: map[string]string{"always": "always", "first": "first", "": "always"},
		bad:  []string{"Always", "never", "first "},
	},
	"OIDC_RECHECK": {
		good: map[string]string{"1m": "1m", "168h": "168h", "": "1h"},
		bad:  []string{"0s", "59s", "169h", "60"},
	},
	"OIDC_ALLOWED_DOMAINS": {
		good: map[string]string{"Example.com": "example.com", "a.example, B.example": "a.example,b.example", "": ""},
		bad:  []string{"@example.com", "*.example.com", "a@example.com", "example.com,", "https://example.com", "localhost", "127.0.0.1", ".example.com", "example.com."},
	},
	"AUTH_PROXY_HEADER": {
		with: []string{"AUTH_PROXY_FROM", "127.0.0.1"},
		good: map[string]string{"Remote-User": "Remote-User", "x-webauth-user": "X-Webauth-User"},
		bad: []string{
			"Remote User", "Remote-User:", "Rémote", "a\r\nb", "Authorization", "authorization", "Cookie", "HOST", "X-Forwarded-For", "x-forwarded-user", "Forwarded", "Proxy-Authorization",
		},
	},
	"AUTH_PROXY_FROM": {
		with: []string{"AUTH_PROXY_HEADER", "Remote-User"},
		good: map[string]string{"10.1.2.3/8": "10.0.0.0/8", "127.0.0.1, ::1": "127.0.0.1/32,::1/128"},
		bad:  []string{"", "nginx", "true", "10.0.0.0/33", "0.0.0.0/0", "127.0.0.1,::/0"},
	},
	"AUTH_PROXY_ROLE": {
		good: map[string]string{"admin": "admin", "editor": "editor", "viewer": "viewer", "none": "none", "": "none"},
		bad:  []string{"owner", "Editor", "all"},
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
		if ok { // a number, duration or switch has no rule but its tag
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
			c, err := load(append([]string{name, in}, v.with...)...)
			if err != nil {
				t.Errorf("%s=%q: %v", name, in, err)
			} else if got := setting(c, name).Value; got != want {
				t.Errorf("%s=%q became %q, want %q", name, in, got, want)
			}
		}
		for _, in := range v.bad {
			c, err := load(append([]string{name, in}, v.with...)...)
			if err == nil {
				t.Errorf("%s=%q was accepted as %q", name, in, setting(c, name).Value)
			} else if !strings.HasPrefix(err.Error(), name+"=") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s=%q: the error should name only this setting: %v", name, in, err)
			}
		}
	}
}
