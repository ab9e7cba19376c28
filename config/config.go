// Package config reads Linkwatch's settings from environment variables.
//
// Every setting is one field of [Config]: its tags hold the variable's name, default, limits and meaning, and
// parsing, checking, error texts and [Describe] all follow from them. A new number, duration or switch is one
// line; only a text with rules of its own needs a line in rules.go too.
package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
)

// Values of [Config.DatabaseDriver].
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
)

// Values of [Config.LogFormat].
const (
	LogText = "text"
	LogJSON = "json"
)

// NoRole is the value of [Config.OIDCDefaultRole] and [Config.AuthProxyRole] that gives no role.
const NoRole = "none"

// Config is the program's settings, checked by [Load] and passed by value. An empty variable counts as unset.
//
// The settings of systems that are not built yet are read and checked too, so that one environment fits every release.
//
// Tags: env is the variable, envDefault its default, range its smallest and largest value, allowed what a text may
// be (for error messages; of a duration, what else it must be), meaning what it does, and shown a default that no single value can tell.
type Config struct {
	// HTTPHost is an IP address without brackets, or a host name.
	HTTPHost string `env:"HTTP_HOST" envDefault:"127.0.0.1" allowed:"an IP address or a host name, without brackets or port" meaning:"address to listen on; the default is reachable from this machine only"`
	// HTTPPort is 0 for any free port.
	HTTPPort int `env:"HTTP_PORT" envDefault:"8080" range:"0..65535" meaning:"port to listen on; 0 takes any free one"`
	// PublicURL is scheme://host[:port] in lower case, without a trailing slash or the scheme's own port, or empty.
	PublicURL string `env:"PUBLIC_URL" allowed:"http:// or https:// and a host, without user, path, query or fragment; OIDC_ISSUER needs it" meaning:"where visitors reach this server, for links that leave it"`
	// ShortHost is a host name or IP address without port, or empty.
	ShortHost string `env:"SHORT_HOST" allowed:"a host name or an IP address, without port, and neither HTTP_HOST nor the one of PUBLIC_URL" meaning:"host that serves short links at /{key}, and nothing else"`

	// DatabaseDriver is SQLite or Postgres, never empty after Load.
	DatabaseDriver string `env:"DATABASE_DRIVER" shown:"by DATABASE_URL, else sqlite" allowed:"sqlite or postgres, and the one DATABASE_URL is for" meaning:"kind of database: sqlite or postgres"`
	// DatabaseURL is, by driver, a file name or file: URI, or a postgres:// URL or keyword=value list. Load drops the sqlite: prefix.
	DatabaseURL DSN `env:"DATABASE_URL" envDefault:"linkwatch.db" allowed:"a file name, file:…, sqlite:…, or a valid postgres:// or postgresql:// URL" meaning:"SQLite file, or postgres:// URL"`
	// RedisURL is a redis:// or rediss:// URL, or empty: Redis wakes up, caches and fans out, and is never the truth.
	RedisURL DSN `env:"REDIS_URL" allowed:"a redis:// or rediss:// URL with a host" meaning:"Redis that several instances share, as a cache and to tell each other of changes; none is needed"`

	// BackupDir is a folder, or empty: no backups are made by themselves. It is empty on PostgreSQL.
	BackupDir string `env:"BACKUP_DIR" allowed:"a folder, and only with SQLite: PostgreSQL has pg_dump" meaning:"folder for scheduled backups of the SQLite database; none are made unless it is set"`
	// BackupInterval is the time between two scheduled backups.
	BackupInterval time.Duration `env:"BACKUP_INTERVAL" envDefault:"24h" range:"1m..8760h" meaning:"how often a backup is written to BACKUP_DIR"`
	// BackupKeep is a number of backups, the newest ones.
	BackupKeep int `env:"BACKUP_KEEP" envDefault:"7" range:"1..1000" meaning:"backups that are kept in BACKUP_DIR; older ones are deleted"`

	// CheckInterval is the time between two ticks of the scheduler of checks, and between two checks of a target without an interval of its own.
	CheckInterval time.Duration `env:"CHECK_INTERVAL" envDefault:"15s" range:"100ms..24h" meaning:"how often watched targets are checked, unless they have a longer interval of their own"`
	// HTTPTimeout bounds one outbound request from dial to the last byte of the body.
	HTTPTimeout time.Duration `env:"HTTP_TIMEOUT" envDefault:"5s" range:"1ms..5m" meaning:"time limit of one outbound request"`
	// MaxConcurrency is a number of workers.
	MaxConcurrency int `env:"MAX_CONCURRENCY" envDefault:"8" range:"1..1024" meaning:"checks that run at once"`
	// ShutdownGrace is counted from SIGTERM.
	ShutdownGrace time.Duration `env:"SHUTDOWN_GRACE" envDefault:"10s" range:"1ms..10m" meaning:"time that running work gets to finish at shutdown"`
	// LinkCheckInterval is the time between two checks of one link.
	LinkCheckInterval time.Duration `env:"LINK_CHECK_INTERVAL" envDefault:"168h" range:"1ms..8760h" meaning:"how often each saved link is checked again"`
	// ResultRetention is the age at which a check result is deleted.
	ResultRetention time.Duration `env:"RESULT_RETENTION" envDefault:"720h" range:"1h..87600h" meaning:"how long single check results are kept"`

	// ShortCacheSize is a number of short links, in this process.
	ShortCacheSize int `env:"SHORT_CACHE_SIZE" envDefault:"100000" range:"1000..10000000" meaning:"short links kept in memory; 100,000 take about 35 MB"`
	// ShortTombstoneTTL is how long a cache remembers that a short link has ended.
	ShortTombstoneTTL time.Duration `env:"SHORT_TOMBSTONE_TTL" envDefault:"1h" range:"1s..24h" meaning:"how long a cache remembers that a short link has expired or was disabled or deleted"`
	// ShortBlockedHosts are host names in lower case; each stands for the hosts below it too.
	ShortBlockedHosts []string `env:"SHORT_BLOCKED_HOSTS" allowed:"host names such as spam.example, separated by commas" meaning:"hosts, with all below them, that no short link may lead to"`
	// ShortCreateLimit is a number of short links; 0 is no limit.
	ShortCreateLimit int `env:"SHORT_CREATE_LIMIT" envDefault:"600" range:"0..1000000" meaning:"short links that one client without a login may make per minute; 0 is any number; clients on this machine are free unless PUBLIC_URL is set: then a proxy stands in front, and all who come by it count as one unless TRUSTED_PROXIES names it"`

	// CleanupEnabled lets the reaper delete short links. It deletes everything else in any case.
	CleanupEnabled bool `env:"CLEANUP_ENABLED" envDefault:"true" allowed:"true or false" meaning:"false keeps expired and deleted short links in the database; the reaper deletes all other expired data in any case"`
	// CleanupInterval is the time between two runs of the reaper.
	CleanupInterval time.Duration `env:"CLEANUP_INTERVAL" envDefault:"15m" range:"1s..24h" meaning:"how often the reaper deletes expired data"`
	// CleanupBatchSize is the number of rows that one transaction of the reaper deletes at most.
	CleanupBatchSize int `env:"CLEANUP_BATCH_SIZE" envDefault:"1000" range:"1..10000" meaning:"rows that the reaper deletes in one transaction"`
	// CleanupBufferTime is how long a short link is kept after its end.
	CleanupBufferTime time.Duration `env:"CLEANUP_BUFFER_TIME" envDefault:"1h" range:"0s..8760h" meaning:"how long an expired short link is kept before the reaper deletes it"`
	// CleanupMaxDuration bounds one run of the reaper.
	CleanupMaxDuration time.Duration `env:"CLEANUP_MAX_DURATION" envDefault:"5m" range:"100ms..1h" meaning:"time limit of one run of the reaper; the next one goes on"`

	// CrawlerPollInterval is the time between two looks for crawl jobs that are due.
	CrawlerPollInterval time.Duration `env:"CRAWLER_POLL_INTERVAL" envDefault:"10s" range:"100ms..1h" meaning:"how often due crawl jobs are started"`
	// CrawlerStaleLockAfter is counted from the last progress of a crawl.
	CrawlerStaleLockAfter time.Duration `env:"CRAWLER_STALE_LOCK_AFTER" envDefault:"5m" range:"1s..24h" meaning:"a running crawl without progress for this long is given up and started again"`
	// CrawlerRespectRobotsTxt applies to crawls only.
	CrawlerRespectRobotsTxt bool `env:"CRAWLER_RESPECT_ROBOTS_TXT" envDefault:"true" allowed:"true or false" meaning:"false crawls pages that robots.txt disallows too"`
	// CrawlerUseRandomUserAgent applies to crawls only, in place of [Config.UserAgent].
	CrawlerUseRandomUserAgent bool `env:"CRAWLER_USE_RANDOM_USER_AGENT" envDefault:"false" allowed:"true or false" meaning:"true crawls with the User-Agent of a random browser"`
	// CrawlerProxiesEnabled is true only if CrawlerProxyURLs has a URL.
	CrawlerProxiesEnabled bool `env:"CRAWLER_PROXIES_ENABLED" envDefault:"false" allowed:"true or false, and true only with CRAWLER_PROXY_URLS" meaning:"true crawls through the proxies of CRAWLER_PROXY_URLS"`
	// CrawlerProxyURLs are scheme://[user:password@]host:port, at most maxProxies.
	CrawlerProxyURLs []DSN `env:"CRAWLER_PROXY_URLS" allowed:"at most 100 http://, https:// or socks5:// URLs with a host and a port, without path, separated by commas" meaning:"proxies to crawl through, as http://, https:// or socks5:// URLs separated by commas"`
	// CrawlerFeedDiscoveryEnabled applies to the start pages of crawls.
	CrawlerFeedDiscoveryEnabled bool `env:"CRAWLER_FEED_DISCOVERY_ENABLED" envDefault:"false" allowed:"true or false" meaning:"true adds the feeds that the start page of a crawl names"`
	// CrawlerFeedPollEnabled applies to feeds however they were added.
	CrawlerFeedPollEnabled bool `env:"CRAWLER_FEED_POLL_ENABLED" envDefault:"false" allowed:"true or false" meaning:"true polls the feeds of enabled sources and fetches what is new in them"`
	// CrawlerFeedPollInterval is the time between two polls of one feed, while they succeed.
	CrawlerFeedPollInterval time.Duration `env:"CRAWLER_FEED_POLL_INTERVAL" envDefault:"15m" range:"1m..24h" meaning:"how often each feed is polled; after failures less often"`
	// CrawlerSourcesAPIURL is an http:// or https:// URL, or empty: no sources are synced.
	CrawlerSourcesAPIURL DSN `env:"CRAWLER_SOURCES_API_URL" allowed:"an http:// or https:// URL with a host, without fragment" meaning:"source manager whose enabled sources are synced; none is needed"`
	// CrawlerReadabilityFallbackEnabled costs some milliseconds for each page that has little text.
	CrawlerReadabilityFallbackEnabled bool `env:"CRAWLER_READABILITY_FALLBACK_ENABLED" envDefault:"false" allowed:"true or false" meaning:"true extracts the text of a page a second time, with go-readability, if little was found"`
	// CrawlerArchiveURL is a path, file:///path, s3://bucket[/prefix][?region=…&endpoint=…], or empty: no pages are archived.
	CrawlerArchiveURL DSN `env:"CRAWLER_ARCHIVE_URL" allowed:"a folder, file:///path, or s3://bucket?region=…&endpoint=http(s)://host[:port]" meaning:"where copies of crawled pages are archived: a folder, or s3://bucket; none are unless it is set"`
	// CrawlerArchiveRetention is counted from when a page was last fetched with this content.
	CrawlerArchiveRetention time.Duration `env:"CRAWLER_ARCHIVE_RETENTION" envDefault:"2160h" range:"1h..87600h" meaning:"how long archived copies of pages are kept"`
	// CrawlerMinIOEnabled is true only without a CrawlerArchiveURL, and with endpoint, bucket and keys.
	CrawlerMinIOEnabled bool `env:"CRAWLER_MINIO_ENABLED" envDefault:"false" allowed:"true or false, and true only without CRAWLER_ARCHIVE_URL" meaning:"true archives crawled pages in MinIO, in place of CRAWLER_ARCHIVE_URL"`
	// CrawlerMinIOUseSSL is the scheme of an endpoint without one. It is checked first: the rule of the endpoint adds the scheme.
	CrawlerMinIOUseSSL bool `env:"CRAWLER_MINIO_USE_SSL" envDefault:"false" allowed:"true or false, and not true with an http:// URL in CRAWLER_MINIO_ENDPOINT" meaning:"true connects to MinIO by HTTPS"`
	// CrawlerMinIOEndpoint is http:// or https:// and host[:port] after Load, or empty.
	CrawlerMinIOEndpoint string `env:"CRAWLER_MINIO_ENDPOINT" allowed:"host:port, or an http:// or https:// URL without path, which CRAWLER_MINIO_ENABLED=true needs" meaning:"MinIO server"`
	// CrawlerMinIOBucket is the name of a bucket, or empty.
	CrawlerMinIOBucket string `env:"CRAWLER_MINIO_BUCKET" allowed:"the name of a bucket, which CRAWLER_MINIO_ENABLED=true needs" meaning:"bucket of MinIO"`
	// CrawlerMinIOAccessKey is empty when unset.
	CrawlerMinIOAccessKey Secret `env:"CRAWLER_MINIO_ACCESS_KEY" allowed:"a key without white space, which CRAWLER_MINIO_ENABLED=true needs" meaning:"access key of MinIO"`
	// CrawlerMinIOSecretKey is empty when unset.
	CrawlerMinIOSecretKey Secret `env:"CRAWLER_MINIO_SECRET_KEY" allowed:"a key without white space, which CRAWLER_MINIO_ENABLED=true needs" meaning:"secret key of MinIO"`
	// CrawlerElasticsearchURL is scheme://[user:password@]host[:port][/path], or empty: nothing is sent.
	CrawlerElasticsearchURL DSN `env:"CRAWLER_ELASTICSEARCH_URL" allowed:"an http:// or https:// URL with a host, without query or fragment" meaning:"Elasticsearch or OpenSearch that gets the crawled pages; none is needed"`
	// CrawlerElasticsearchAPIKey goes before the user and password of CrawlerElasticsearchURL.
	CrawlerElasticsearchAPIKey Secret `env:"CRAWLER_ELASTICSEARCH_API_KEY" allowed:"printable ASCII characters without spaces" meaning:"API key for Elasticsearch, in place of a user and password in CRAWLER_ELASTICSEARCH_URL"`
	// CrawlerRedisStorageEnabled has no effect. It is read so that the environment of another crawler fits.
	CrawlerRedisStorageEnabled bool `env:"CRAWLER_REDIS_STORAGE_ENABLED" envDefault:"false" allowed:"true or false" meaning:"no effect: the URLs to crawl are always in the database"`
	// FetcherFollowRedirects applies to crawls only.
	FetcherFollowRedirects bool `env:"FETCHER_FOLLOW_REDIRECTS" envDefault:"true" allowed:"true or false" meaning:"false stores the 3xx response of a crawled page in place of following it"`
	// FetcherMaxRedirects is a number of redirects for one crawled page.
	FetcherMaxRedirects int `env:"FETCHER_MAX_REDIRECTS" envDefault:"5" range:"0..20" meaning:"redirects that the crawl of a page follows"`
	// RedisEventsEnabled is true only if there is a RedisURL.
	RedisEventsEnabled bool `env:"REDIS_EVENTS_ENABLED" envDefault:"false" allowed:"true or false, and true only with REDIS_URL" meaning:"true reads events that enable or disable sources from Redis"`

	// SitemapInterval is the time between two reads of the sitemaps of all websites.
	SitemapInterval time.Duration `env:"SITEMAP_INTERVAL" envDefault:"6h" range:"1s..168h" meaning:"how often the sitemaps of websites are read"`
	// SubmissionInterval is the time between two runs of the job that submits pages.
	SubmissionInterval time.Duration `env:"SUBMISSION_INTERVAL" envDefault:"5m" range:"1s..24h" meaning:"how often new and changed pages are submitted to search engines"`
	// VerificationInterval is the time between two runs of the job that verifies pages.
	VerificationInterval time.Duration `env:"VERIFICATION_INTERVAL" envDefault:"1h" range:"1s..24h" meaning:"how often Google is asked which pages are indexed"`
	// GooglePublishPerDay is of a Google project.
	GooglePublishPerDay int `env:"GOOGLE_PUBLISH_PER_DAY" envDefault:"200" range:"0..1000000" meaning:"notifications to the Indexing API per day and Google project; the day ends at midnight Pacific time"`
	// GoogleMetadataPerMinute is of a Google project.
	GoogleMetadataPerMinute int `env:"GOOGLE_METADATA_PER_MINUTE" envDefault:"180" range:"0..100000" meaning:"metadata requests to the Indexing API per minute and Google project"`
	// GoogleRequestsPerMinute is of a Google project.
	GoogleRequestsPerMinute int `env:"GOOGLE_REQUESTS_PER_MINUTE" envDefault:"380" range:"0..100000" meaning:"requests of any kind to the Indexing API per minute and Google project"`
	// GoogleInspectionsPerDay is of a property.
	GoogleInspectionsPerDay int `env:"GOOGLE_INSPECTIONS_PER_DAY" envDefault:"2000" range:"0..1000000" meaning:"URL inspections per day and property; the day ends at midnight Pacific time"`
	// GoogleInspectionsPerMinute is of a property.
	GoogleInspectionsPerMinute int `env:"GOOGLE_INSPECTIONS_PER_MINUTE" envDefault:"600" range:"0..100000" meaning:"URL inspections per minute and property"`
	// GoogleConcurrency is a number of requests of one website, on all instances together.
	GoogleConcurrency int `env:"GOOGLE_CONCURRENCY" envDefault:"4" range:"1..100" meaning:"requests to Google that run at once for one website"`
	// GoogleIndexingEndpoint is an http:// or https:// URL. Only its host and port are connected to.
	GoogleIndexingEndpoint string `env:"GOOGLE_INDEXING_ENDPOINT" envDefault:"https://indexing.googleapis.com/" allowed:"an http:// or https:// URL with a host, without query or fragment" meaning:"where the Indexing API is reached"`
	// GoogleSearchConsoleEndpoint is as GoogleIndexingEndpoint.
	GoogleSearchConsoleEndpoint string `env:"GOOGLE_SEARCHCONSOLE_ENDPOINT" envDefault:"https://searchconsole.googleapis.com/" allowed:"an http:// or https:// URL with a host, without query or fragment" meaning:"where the Search Console API is reached"`
	// GoogleTokenEndpoint is as GoogleIndexingEndpoint. Credentials never choose it.
	GoogleTokenEndpoint string `env:"GOOGLE_TOKEN_ENDPOINT" envDefault:"https://oauth2.googleapis.com/token" allowed:"an http:// or https:// URL with a host, without query or fragment" meaning:"where service accounts get their access tokens; what their key files name is ignored"`
	// IndexNowEndpoint is as GoogleIndexingEndpoint.
	IndexNowEndpoint string `env:"INDEXNOW_ENDPOINT" envDefault:"https://api.indexnow.org/indexnow" allowed:"an http:// or https:// URL with a host, without query or fragment" meaning:"where pages are submitted by IndexNow"`

	// TrustedProxies are networks, each with its host bits cleared.
	TrustedProxies []netip.Prefix `env:"TRUSTED_PROXIES" allowed:"networks or addresses such as 10.0.0.0/8 or 127.0.0.1, separated by commas" meaning:"reverse proxies whose X-Forwarded-For and X-Forwarded-Proto are believed; none are unless it is set"`

	// OutboundAllowCIDRs are networks, each with its host bits cleared.
	OutboundAllowCIDRs []netip.Prefix `env:"OUTBOUND_ALLOW_CIDRS" allowed:"networks or addresses such as 10.0.0.0/8 or 192.168.1.5, separated by commas" meaning:"private networks that may be fetched all the same; others are refused"`
	// OutboundUserAgent starts with the name that robots.txt rules are matched against. It is empty when unset: see [Config.UserAgent].
	OutboundUserAgent string `env:"OUTBOUND_USER_AGENT" shown:"Linkwatch/<version>, and (+PUBLIC_URL) if that is set" allowed:"at most 256 printable ASCII characters that start with a letter, such as Linkwatch/1.0" meaning:"User-Agent of outbound requests"`

	// LogLevel is the lowest level that is written.
	LogLevel slog.Level `env:"LOG_LEVEL" envDefault:"info" allowed:"debug, info, warn or error" meaning:"least important messages to log: debug, info, warn or error"`
	// LogFormat is LogText, LogJSON, or empty for [Config.LogFormatFor] to decide.
	LogFormat string `env:"LOG_FORMAT" shown:"text on a terminal, else json" allowed:"text or json" meaning:"how log lines are written: text or json"`

	// AdminPassword is empty when unset.
	AdminPassword Secret `env:"ADMIN_PASSWORD" allowed:"a text without white space at its beginning or end" meaning:"password that opens the pages and the API"`
	// AuthDisabled opens everything to everyone who can connect.
	AuthDisabled bool `env:"AUTH_DISABLED" envDefault:"false" allowed:"true or false" meaning:"true serves other machines without any login"`
	// AuthJWTSecret is empty when unset: no JWT is accepted then. It leaves the pages open, so it is no login for [Config.CheckOpen].
	AuthJWTSecret Secret `env:"AUTH_JWT_SECRET" allowed:"at least 16 bytes" meaning:"key of the JWTs (HS256) that the API requires, also with AUTH_DISABLED=true; the pages do not ask for them"`
	// SessionIdleTimeout is how long a session lives without a request.
	SessionIdleTimeout time.Duration `env:"SESSION_IDLE_TIMEOUT" envDefault:"168h" range:"5m..8760h" meaning:"how long a login lasts without being used"`
	// SessionMaxAge is how long a session lives however much it is used.
	SessionMaxAge time.Duration `env:"SESSION_MAX_AGE" envDefault:"720h" range:"5m..8760h" meaning:"how long a login lasts at most, however much it is used"`
	// AuditRetention is the age at which an audit entry is deleted.
	AuditRetention time.Duration `env:"AUDIT_RETENTION" envDefault:"8760h" range:"24h..87600h" meaning:"how long entries of the audit log are kept"`

	// OIDCIssuer is empty when unset: there is no single sign-on.
	OIDCIssuer string `env:"OIDC_ISSUER" allowed:"the https:// URL of an OpenID Connect issuer, or an http:// URL on this machine, without user, query or fragment" meaning:"identity provider of single sign-on (OpenID Connect), such as https://accounts.example; there is none unless it is set"`
	// OIDCClientID is what the issuer calls this server.
	OIDCClientID string `env:"OIDC_CLIENT_ID" allowed:"a text without white space; OIDC_ISSUER needs it" meaning:"id of this server at the identity provider"`
	// OIDCClientSecret is empty for a public client.
	OIDCClientSecret Secret `env:"OIDC_CLIENT_SECRET" allowed:"a text without white space at its beginning or end" meaning:"secret of this server at the identity provider; a public client has none"`
	// OIDCName is what the button on the login page says after "Sign in with".
	OIDCName string `env:"OIDC_NAME" envDefault:"single sign-on" allowed:"at most 50 characters, without white space at its beginning or end" meaning:"name of the identity provider on the login page"`
	// OIDCScopes are those that are asked for beside openid.
	OIDCScopes []string `env:"OIDC_SCOPES" envDefault:"profile,email" allowed:"scopes separated by commas" meaning:"scopes that are requested from the identity provider, beside openid"`
	// OIDCRoleClaim is empty when unset: all get OIDCDefaultRole.
	OIDCRoleClaim string `env:"OIDC_ROLE_CLAIM" allowed:"the name of a claim, such as groups, of at most 256 bytes" meaning:"claim whose values OIDC_ROLES maps to roles"`
	// OIDCRoles are value=role. OIDCRoleMap divides them.
	OIDCRoles []string `env:"OIDC_ROLES" allowed:"pairs such as staff=editor, separated by commas, each value once, with the roles admin, editor and viewer; they need OIDC_ROLE_CLAIM" meaning:"role for each value of OIDC_ROLE_CLAIM; the highest one counts"`
	// OIDCDefaultRole is admin, editor, viewer or none.
	OIDCDefaultRole string `env:"OIDC_DEFAULT_ROLE" envDefault:"none" allowed:"admin, editor, viewer or none" meaning:"role of those whose claims map to no role; none refuses them"`
	// OIDCAllowedDomains are in lower case; empty allows all that the issuer lets in.
	OIDCAllowedDomains []string `env:"OIDC_ALLOWED_DOMAINS" allowed:"host names such as example.com, separated by commas" meaning:"domains of the verified e-mail addresses that may sign in; all may unless it is set"`

	// AuthProxyHeader is empty when unset: no header is believed.
	AuthProxyHeader string `env:"AUTH_PROXY_HEADER" allowed:"the name of a header, such as Remote-User, that no client sends itself: not Authorization, Cookie, Host or X-Forwarded-…" meaning:"header in which a reverse proxy names the user that it has authenticated, such as Remote-User"`
	// AuthProxyFrom are the addresses from which AuthProxyHeader is believed.
	AuthProxyFrom []netip.Prefix `env:"AUTH_PROXY_FROM" allowed:"networks or addresses such as 127.0.0.1, separated by commas; AUTH_PROXY_HEADER and AUTH_PROXY_FROM need each other" meaning:"addresses of the reverse proxies whose AUTH_PROXY_HEADER is believed"`
	// AuthProxyRole is admin, editor, viewer or none.
	AuthProxyRole string `env:"AUTH_PROXY_ROLE" envDefault:"none" allowed:"admin, editor, viewer or none" meaning:"role of new accounts for users that the proxy names; none lets in only users with an account"`

	// SecretKey is empty when unset.
	SecretKey Secret `env:"SECRET_KEY" meaning:"text from which the key is made that encrypts stored credentials; without it the key is in a file that is made at the first start, and several instances need the same"`
}

// Load reads the settings through getenv (os.Getenv, or a map in tests) and checks them. The error names every bad
// variable on a line of its own, with its value (passwords masked) and what is allowed.
func Load(getenv func(string) string) (Config, error) {
	given := map[string]string{}
	for _, f := range fields() {
		if v := getenv(f.Tag.Get("env")); v != "" {
			given[f.Tag.Get("env")] = v
		}
	}
	var c Config
	unparsed, err := parse(&c, given)
	if err != nil {
		return Config{}, err
	}
	var problems []error
	for _, f := range fields() {
		name := f.Tag.Get("env")
		if unparsed[f.Name] || !c.allows(f) {
			problems = append(problems, fmt.Errorf("%s=%q: must be %s", name, mask(f, given[name]), allowed(f)))
		}
	}
	if len(problems) > 0 {
		return Config{}, errors.Join(problems...)
	}
	return c, nil
}

// parse fills c and returns the names of the fields whose text is not of their type. The parser's own messages
// are dropped: they speak of Go fields and types, and repeat the value unmasked.
func parse(c *Config, given map[string]string) (unparsed map[string]bool, err error) {
	err = env.ParseWithOptions(c, env.Options{Environment: given, FuncMap: parsers})
	all, ok := errors.AsType[env.AggregateError](err)
	if !ok {
		return nil, err
	}
	unparsed = map[string]bool{}
	for _, e := range all.Errors {
		bad, ok := errors.AsType[env.ParseError](e)
		if !ok {
			return nil, fmt.Errorf("reading settings: %w", e)
		}
		unparsed[bad.Name] = true
	}
	return unparsed, nil
}

// Addr is HTTPHost and HTTPPort as net.Listen takes them.
func (c Config) Addr() string {
	return net.JoinHostPort(c.HTTPHost, strconv.Itoa(c.HTTPPort))
}

// Authorities are the hosts by which pages and API are reached, with the port unless it is the scheme's own: the names of
// this machine, and the one of PublicURL.
func (c Config) Authorities() []string {
	var all []string
	if _, public, ok := strings.Cut(c.PublicURL, "://"); ok {
		all = append(all, public)
	}
	for _, host := range []string{"127.0.0.1", "localhost", "::1", strings.ToLower(c.HTTPHost)} {
		authority := strings.TrimSuffix(net.JoinHostPort(host, strconv.Itoa(c.HTTPPort)), ":80")
		all = append(all, authority)
	}
	return all
}

// UserAgent is the User-Agent of outbound requests: OutboundUserAgent, or if that is unset the name and version of
// the program, and PublicURL if there is one. Characters of version that a product token cannot have become "-".
func (c Config) UserAgent(version string) string {
	if c.OutboundUserAgent != "" {
		return c.OutboundUserAgent
	}
	agent := "Linkwatch/" + notToken.ReplaceAllString(version, "-")
	if c.PublicURL != "" {
		agent += " (+" + c.PublicURL + ")"
	}
	return agent
}

// LogFormatFor is the format to log in: LogFormat, or if that is unset LogText on a terminal and LogJSON elsewhere.
func (c Config) LogFormatFor(isTerminal bool) string {
	switch {
	case c.LogFormat != "":
		return c.LogFormat
	case isTerminal:
		return LogText
	default:
		return LogJSON
	}
}

// fields are the settings in the order they are declared.
func fields() []reflect.StructField {
	return reflect.VisibleFields(reflect.TypeFor[Config]())
}
