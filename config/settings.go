package config

import (
	"log/slog"
	"net/netip"
	"time"
)

// Config is the program's settings, checked by [Load] and passed by value. An empty variable counts as unset.
//
// Tags:
//   - env: the variable.
//   - envDefault: its default. shown describes a default that depends on other values.
//   - range: the smallest and largest value of a number or a duration.
//   - allowed: what a text may be, for error messages and docs/settings.md.
//   - meaning: what the setting does.
//   - group: the heading under which this setting and the following ones are listed (see groups).
//
// Settings are checked in the order of the fields. A rule that reads another setting comes after it.
type Config struct {
	// HTTPHost is an IP address without brackets, or a host name.
	HTTPHost string `group:"Server" env:"HTTP_HOST" envDefault:"127.0.0.1" allowed:"an IP address or a host name, without brackets or port" meaning:"Address to listen on. The default is reachable from this machine only. Any other address needs an account, ADMIN_PASSWORD, OIDC_ISSUER, AUTH_PROXY_HEADER or AUTH_DISABLED=true."`
	HTTPPort int    `env:"HTTP_PORT" envDefault:"8080" range:"0..65535" meaning:"Port to listen on. 0 chooses a free port."`
	// HTTPTLSCert and HTTPTLSKey are both set or both empty.
	HTTPTLSCert string `env:"HTTP_TLS_CERT" allowed:"the name of a file; HTTP_TLS_CERT and HTTP_TLS_KEY require each other" meaning:"PEM file with the TLS certificate of the server, followed by those of intermediate authorities. With HTTP_TLS_KEY, the server answers HTTPS instead of HTTP. Changed files are loaded within a minute, or at SIGHUP."`
	HTTPTLSKey  string `env:"HTTP_TLS_KEY" allowed:"the name of a file; HTTP_TLS_CERT and HTTP_TLS_KEY require each other" meaning:"PEM file with the private key of HTTP_TLS_CERT, without a passphrase."`
	// PublicURL is scheme://host[:port] in lower case, and a path if there is one, or empty. It has no trailing slash and
	// not the default port of the scheme.
	PublicURL string `env:"PUBLIC_URL" allowed:"an http:// or https:// URL with a host, and without user, query or fragment; a path has at most 100 bytes of letters, digits and -._~, and no part that starts with a dot" meaning:"URL by which visitors reach the server, such as https://links.example or https://example.com/linkwatch. It is used in links, for example in alerts. OIDC_ISSUER requires it."`
	// ShortHost is a host name or IP address without port, or empty.
	ShortHost string `env:"SHORT_HOST" allowed:"a host name or an IP address, without port, and different from HTTP_HOST and the host of PUBLIC_URL" meaning:"Host that serves only short links, at /{key}."`
	// TrustedProxies are networks, each with its host bits cleared.
	TrustedProxies []netip.Prefix `env:"TRUSTED_PROXIES" allowed:"networks or addresses such as 10.0.0.0/8 or 127.0.0.1, separated by commas" meaning:"Reverse proxies whose X-Forwarded-For and X-Forwarded-Proto headers are trusted."`
	// ShutdownGrace is counted from SIGTERM.
	ShutdownGrace time.Duration `env:"SHUTDOWN_GRACE" envDefault:"10s" range:"1ms..10m" meaning:"How long running requests and jobs may take to finish at shutdown."`
	LogLevel      slog.Level    `env:"LOG_LEVEL" envDefault:"info" allowed:"debug, info, warn or error" meaning:"Lowest level of the messages to log."`
	// LogFormat is LogText, LogJSON, or empty for [Config.LogFormatFor] to decide.
	LogFormat string `env:"LOG_FORMAT" shown:"text on a terminal, else json" allowed:"text or json" meaning:"Format of the log."`
	// PprofPort is 0 when profiles are not served.
	PprofPort int `env:"PPROF_PORT" envDefault:"0" range:"0..65535" meaning:"Port of Go's profiles (net/http/pprof) on 127.0.0.1, without a login. They contain parts of the memory, such as passwords. 0 turns it off."`

	AdminPassword Secret `group:"Access" env:"ADMIN_PASSWORD" allowed:"a text without white space at its beginning or end" meaning:"Password of the user admin. The API also accepts it as a bearer token, and as the password of HTTP Basic with any user name."`
	AuthDisabled  bool   `env:"AUTH_DISABLED" envDefault:"false" allowed:"true or false" meaning:"true lets everyone who reaches the server read and change everything. Accounts and ADMIN_PASSWORD have no effect. AUTH_JWT_SECRET still protects the API."`
	// AuthJWTSecret is empty when unset: no JWT is accepted. It does not protect the pages, so [Config.CheckOpen] ignores it.
	AuthJWTSecret   Secret `env:"AUTH_JWT_SECRET" allowed:"at least 16 bytes" meaning:"Key of the JWTs (HS256) that every API call requires. It does not protect the pages."`
	AuthJWTIssuer   string `env:"AUTH_JWT_ISSUER" allowed:"at most 256 bytes, without white space at the beginning or end; AUTH_JWT_SECRET is required" meaning:"Value that the claim iss of a JWT must have. If unset, any issuer is accepted."`
	AuthJWTAudience string `env:"AUTH_JWT_AUDIENCE" allowed:"at most 256 bytes, without white space at the beginning or end; AUTH_JWT_SECRET is required" meaning:"Value that the claim aud of a JWT must have or include. If unset, any audience is accepted."`
	// AuthJWTMaxAge is 0 when the age is not limited.
	AuthJWTMaxAge      time.Duration `env:"AUTH_JWT_MAX_AGE" envDefault:"0s" range:"0s..8760h" allowed:" or 15m; AUTH_JWT_SECRET is required" meaning:"How long ago a JWT may have been issued. JWTs then need the claim iat. 0s sets no limit."`
	SessionIdleTimeout time.Duration `env:"SESSION_IDLE_TIMEOUT" envDefault:"168h" range:"5m..8760h" meaning:"How long an unused session lasts."`
	SessionMaxAge      time.Duration `env:"SESSION_MAX_AGE" envDefault:"720h" range:"5m..8760h" meaning:"How long a session lasts at most."`
	AuditRetention     time.Duration `env:"AUDIT_RETENTION" envDefault:"8760h" range:"24h..87600h" meaning:"How long entries of the audit log are kept."`
	SecretKey          Secret        `env:"SECRET_KEY" meaning:"Long random text that encrypts stored credentials. If unset, a key file is created at the first start: DATABASE_URL plus .key for SQLite, else linkwatch.key in the working directory. If DATABASE_URL is a symbolic link, the key is beside the file that it points to. All instances need the same key. After a change, stored credentials must be entered again."`

	// OIDCIssuer is empty when there is no single sign-on.
	OIDCIssuer       string `group:"Single sign-on" env:"OIDC_ISSUER" allowed:"the https:// URL of an OpenID Connect issuer, or an http:// URL on this machine, without user, query or fragment" meaning:"URL of the OpenID Connect identity provider, exactly as the provider writes it. Enables single sign-on. It requires OIDC_CLIENT_ID and PUBLIC_URL; PUBLIC_URL is optional for a provider on this machine."`
	OIDCClientID     string `env:"OIDC_CLIENT_ID" allowed:"a text of at most 256 bytes without white space" meaning:"Client ID of this server at the identity provider. OIDC_ISSUER requires it."`
	OIDCClientSecret Secret `env:"OIDC_CLIENT_SECRET" allowed:"a text without white space at its beginning or end" meaning:"Client secret of this server at the identity provider. A public client has none."`
	OIDCName         string `env:"OIDC_NAME" envDefault:"single sign-on" allowed:"at most 50 characters, without white space at its beginning or end" meaning:"Name of the identity provider on the login page, after \"Sign in with\"."`
	// OIDCScopes does not include openid, which is always requested.
	OIDCScopes []string `env:"OIDC_SCOPES" envDefault:"profile,email" allowed:"scopes separated by commas" meaning:"Scopes to request in addition to openid."`
	// OIDCRoleClaim is empty when everyone gets OIDCDefaultRole.
	OIDCRoleClaim string `env:"OIDC_ROLE_CLAIM" allowed:"the name of a claim, such as groups, of at most 256 bytes" meaning:"Claim whose values OIDC_ROLES maps to roles. The claim is a text or a list of texts."`
	// OIDCRoles are value=role. See OIDCRoleMap.
	OIDCRoles []string `env:"OIDC_ROLES" allowed:"pairs such as staff=editor, separated by commas, each value once, with the roles admin, editor and viewer; OIDC_ROLE_CLAIM is required" meaning:"Role of each value of OIDC_ROLE_CLAIM, such as staff=editor,ops=admin. The highest role applies. Values are case-sensitive and contain no comma. The last = of a pair separates value and role."`
	// OIDCDefaultRole is admin, editor, viewer or NoRole.
	OIDCDefaultRole string `env:"OIDC_DEFAULT_ROLE" envDefault:"none" allowed:"admin, editor, viewer or none" meaning:"Role of users whose claims map to no role. none refuses them."`
	// OIDCRoleSync is SyncAlways or SyncFirst.
	OIDCRoleSync string        `env:"OIDC_ROLE_SYNC" envDefault:"always" allowed:"always or first" meaning:"When OIDC_ROLES decides the role of a user. always: at each sign-in and check, and admins cannot change the role. first: at the first sign-in only."`
	OIDCRecheck  time.Duration `env:"OIDC_RECHECK" envDefault:"1h" range:"1m..168h" meaning:"How long a session of single sign-on lasts until it is checked again at the identity provider. Sessions of users who were removed there end then."`
	// OIDCAllowedDomains are in lower case. Empty allows every domain.
	OIDCAllowedDomains []string `env:"OIDC_ALLOWED_DOMAINS" allowed:"host names such as example.com, separated by commas" meaning:"Domains of the verified email addresses that may sign in, without their subdomains. If unset, all users of the provider may."`

	// AuthProxyHeader is empty when no header is trusted.
	AuthProxyHeader string `group:"Reverse proxy login" env:"AUTH_PROXY_HEADER" allowed:"the name of a header that browsers do not send themselves, such as Remote-User, and not Authorization, Cookie, Host or X-Forwarded-…" meaning:"Header in which a reverse proxy names the user that it has authenticated."`
	// AuthProxyFrom are the addresses from which AuthProxyHeader is trusted.
	AuthProxyFrom []netip.Prefix `env:"AUTH_PROXY_FROM" allowed:"networks or addresses such as 127.0.0.1, separated by commas, and not all addresses; AUTH_PROXY_HEADER and AUTH_PROXY_FROM require each other" meaning:"Addresses of the reverse proxies whose AUTH_PROXY_HEADER is trusted."`
	// AuthProxyRole is admin, editor, viewer or NoRole.
	AuthProxyRole string `env:"AUTH_PROXY_ROLE" envDefault:"none" allowed:"admin, editor, viewer or none" meaning:"Role of a new account for a user that the proxy names. none lets in only users who have an account."`

	// DatabaseDriver is SQLite or Postgres, never empty after Load.
	DatabaseDriver string `group:"Database and Redis" env:"DATABASE_DRIVER" shown:"from DATABASE_URL, else sqlite" allowed:"sqlite or postgres, and the one that DATABASE_URL is for" meaning:"Database engine. It is needed only for a keyword=value DATABASE_URL of PostgreSQL."`
	// DatabaseURL is, by driver, a file name or file: URI, or a postgres:// URL or keyword=value list. Load removes the sqlite: prefix.
	DatabaseURL DSN `env:"DATABASE_URL" envDefault:"linkwatch.db" allowed:"a file name without ?, file:PATH or sqlite:PATH with an optional query of name=value pairs, or a valid postgres:// or postgresql:// URL" meaning:"SQLite file or PostgreSQL URL. A file: URL may have options of SQLite, such as file:links.db?mode=rw. Other characters of the path, such as # and %, stand for themselves."`
	// BackupDir is a directory, or empty when there are no scheduled backups. It is always empty on PostgreSQL.
	BackupDir      string        `env:"BACKUP_DIR" allowed:"a directory, and only with SQLite: PostgreSQL has pg_dump" meaning:"Directory for scheduled backups of the SQLite database. It must exist. If unset, no backups are made."`
	BackupInterval time.Duration `env:"BACKUP_INTERVAL" envDefault:"24h" range:"1m..8760h" meaning:"Time between two scheduled backups."`
	BackupKeep     int           `env:"BACKUP_KEEP" envDefault:"7" range:"1..1000" meaning:"Number of backups to keep in BACKUP_DIR. Older ones are deleted."`
	// RedisURL is a redis:// or rediss:// URL, or empty. Redis is only a cache and a message bus; the database holds all data.
	RedisURL DSN `env:"REDIS_URL" allowed:"a redis:// or rediss:// URL with a host" meaning:"Optional Redis that several instances share as a cache and for notifications."`
	// RedisEventsEnabled is true only if there is a RedisURL.
	RedisEventsEnabled bool `env:"REDIS_EVENTS_ENABLED" envDefault:"false" allowed:"true or false, and true only with REDIS_URL" meaning:"true reads events from Redis that enable or disable sources."`

	LinkCheckInterval time.Duration `group:"Links and targets" env:"LINK_CHECK_INTERVAL" envDefault:"168h" range:"1ms..8760h" meaning:"How often each saved link is rechecked."`
	// CheckInterval is the period of the check scheduler, and the interval of targets that set none.
	CheckInterval time.Duration `env:"CHECK_INTERVAL" envDefault:"15s" range:"100ms..24h" meaning:"How often targets are checked, unless they have a longer interval."`
	// MaxConcurrency is the number of workers that check targets.
	MaxConcurrency int `env:"MAX_CONCURRENCY" envDefault:"8" range:"1..1024" meaning:"Number of checks that run at the same time."`
	// ChecksPerHost is the number of concurrent checks of a host and port.
	ChecksPerHost int `env:"CHECKS_PER_HOST" envDefault:"1" range:"1..16" meaning:"Number of checks of the same host and port that run at the same time, with their retries."`
	// AlertStormSize is the number of alerts of a kind that may start within a minute. Further ones are one alert.
	AlertStormSize int `env:"ALERT_STORM_SIZE" envDefault:"5" range:"1..1000" meaning:"Number of hosts with their own alert if an event starts on many hosts within a minute. The other hosts are one alert."`
	// ResultRetention is the age at which a check result is deleted.
	ResultRetention time.Duration `env:"RESULT_RETENTION" envDefault:"720h" range:"1h..87600h" meaning:"How long check results are kept."`

	// ShortCacheSize is a number of short links in the memory of this process.
	ShortCacheSize int `group:"Short links" env:"SHORT_CACHE_SIZE" envDefault:"100000" range:"1000..10000000" meaning:"Number of short links cached in memory. 100,000 use about 35 MB."`
	// ShortKeepExpired starts when a short link expires.
	ShortKeepExpired time.Duration `env:"SHORT_KEEP_EXPIRED" envDefault:"9600h" range:"0s..876000h" meaning:"How long an expired short link is kept with its statistics. Its key is taken until then."`
	// ShortTombstoneTTL is how long a cache keeps a tombstone of a short link.
	ShortTombstoneTTL time.Duration `env:"SHORT_TOMBSTONE_TTL" envDefault:"1h" range:"1s..24h" meaning:"How long caches remember that a short link has expired or was disabled or deleted."`
	// ShortBlockedHosts are host names in lower case. Each includes its subdomains.
	ShortBlockedHosts []string `env:"SHORT_BLOCKED_HOSTS" allowed:"host names such as spam.example, separated by commas" meaning:"Hosts that destinations of short links must not have, including their subdomains."`
	ShortCreateLimit  int      `env:"SHORT_CREATE_LIMIT" envDefault:"600" range:"0..1000000" meaning:"Number of short links that a client without a login can create per minute. 0 is no limit. Clients on this machine have no limit unless PUBLIC_URL is set. Behind a proxy, set TRUSTED_PROXIES: otherwise all clients share one limit."`

	CrawlerPollInterval time.Duration `group:"Crawler" env:"CRAWLER_POLL_INTERVAL" envDefault:"10s" range:"100ms..1h" meaning:"How often the crawler looks for due crawl jobs."`
	// CrawlerStaleLockAfter is counted from the last progress of a crawl.
	CrawlerStaleLockAfter time.Duration `env:"CRAWLER_STALE_LOCK_AFTER" envDefault:"5m" range:"1s..24h" meaning:"A crawl is stopped and retried if it finishes no page and gets no response for this long. Delays that a host demands do not count."`
	// CrawlerRespectRobotsTxt applies to crawls only.
	CrawlerRespectRobotsTxt bool `env:"CRAWLER_RESPECT_ROBOTS_TXT" envDefault:"true" allowed:"true or false" meaning:"false also crawls pages that robots.txt disallows."`
	// CrawlerUseRandomUserAgent applies to crawls only, instead of [Config.UserAgent].
	CrawlerUseRandomUserAgent bool `env:"CRAWLER_USE_RANDOM_USER_AGENT" envDefault:"false" allowed:"true or false" meaning:"true crawls with the User-Agent of a random browser."`
	// FetcherFollowRedirects applies to crawls only.
	FetcherFollowRedirects bool `env:"FETCHER_FOLLOW_REDIRECTS" envDefault:"true" allowed:"true or false" meaning:"false stores a crawled page that redirects, by a 3xx or a refresh, instead of following the redirect."`
	FetcherMaxRedirects    int  `env:"FETCHER_MAX_REDIRECTS" envDefault:"5" range:"0..20" meaning:"Maximum number of redirects to follow for a crawled page."`
	// CrawlerProxiesEnabled is true only if CrawlerProxyURLs has a URL.
	CrawlerProxiesEnabled bool `env:"CRAWLER_PROXIES_ENABLED" envDefault:"false" allowed:"true or false, and true only with CRAWLER_PROXY_URLS" meaning:"true crawls through the proxies of CRAWLER_PROXY_URLS."`
	// CrawlerProxyURLs are scheme://[user:password@]host:port, at most maxProxies.
	CrawlerProxyURLs []DSN `env:"CRAWLER_PROXY_URLS" allowed:"at most 100 http://, https:// or socks5:// URLs with a host and a port, without path, separated by commas" meaning:"Proxies to crawl through. A URL can have a user and a password; write a comma in them as %2C. A proxy connects to the address that Linkwatch has checked (CONNECT). If it refuses CONNECT for http pages, it gets the URL and resolves the name again."`
	// CrawlerFeedDiscoveryEnabled applies to the start pages of crawls.
	CrawlerFeedDiscoveryEnabled bool `env:"CRAWLER_FEED_DISCOVERY_ENABLED" envDefault:"false" allowed:"true or false" meaning:"true adds the RSS, Atom and JSON feeds that the start page of a crawl links to."`
	// CrawlerFeedPollEnabled applies to all feeds, including those that were added by hand.
	CrawlerFeedPollEnabled bool `env:"CRAWLER_FEED_POLL_ENABLED" envDefault:"false" allowed:"true or false" meaning:"true polls the feeds of enabled sources and fetches their new entries."`
	// CrawlerFeedPollInterval applies while polls succeed.
	CrawlerFeedPollInterval time.Duration `env:"CRAWLER_FEED_POLL_INTERVAL" envDefault:"15m" range:"1m..24h" meaning:"How often each feed is polled. Failing feeds are polled less often."`
	// CrawlerSourcesAPIURL is an http:// or https:// URL, or empty when sources are not synced. Its default is only shown.
	CrawlerSourcesAPIURL              DSN  `env:"CRAWLER_SOURCES_API_URL" shown:"http://localhost:8050/api/v1/sources, off until it is set" allowed:"an http:// or https:// URL with a host, without fragment" meaning:"Source manager whose enabled sources are synced. The default is off: few installations have a source manager, and without one every sync would fail, or read what another program on port 8050 sends. Set it, also to the default, to turn it on."`
	CrawlerReadabilityFallbackEnabled bool `env:"CRAWLER_READABILITY_FALLBACK_ENABLED" envDefault:"false" allowed:"true or false" meaning:"true extracts the text of a page with little text again, with go-readability. This adds some milliseconds per such page."`
	// CrawlerRedisStorageEnabled exists so that the environment of another crawler can be used unchanged.
	CrawlerRedisStorageEnabled bool `env:"CRAWLER_REDIS_STORAGE_ENABLED" envDefault:"false" allowed:"true or false" meaning:"Accepted, and has no effect: the URLs to crawl are always in the database."`

	// CrawlerArchiveURL is a path, file:///path, s3://bucket[/prefix][?region=…&endpoint=…], or empty when pages are not archived.
	CrawlerArchiveURL DSN `group:"Page archive" env:"CRAWLER_ARCHIVE_URL" allowed:"a directory, file:///path, or s3://bucket?region=…&endpoint=http(s)://host[:port]" meaning:"Where copies of crawled pages are archived: a directory, which is created, or an S3 bucket. If unset, pages are not archived."`
	// CrawlerArchiveRetention is counted from the last fetch of a page with the same content.
	CrawlerArchiveRetention time.Duration `env:"CRAWLER_ARCHIVE_RETENTION" envDefault:"2160h" range:"1h..87600h" meaning:"How long a copy is kept after the page was last fetched with the same content."`
	// CrawlerMinIOEnabled is true only without a CrawlerArchiveURL, and with endpoint, bucket and keys.
	CrawlerMinIOEnabled bool `env:"CRAWLER_MINIO_ENABLED" envDefault:"false" allowed:"true or false, and true only without CRAWLER_ARCHIVE_URL" meaning:"true archives crawled pages in MinIO. It requires endpoint, bucket and both keys."`
	// CrawlerMinIOUseSSL applies to an endpoint without a scheme. It comes before the endpoint, whose rule adds the scheme.
	CrawlerMinIOUseSSL bool `env:"CRAWLER_MINIO_USE_SSL" envDefault:"false" allowed:"true or false, and not true with an http:// URL in CRAWLER_MINIO_ENDPOINT" meaning:"true connects to MinIO over HTTPS. A scheme in CRAWLER_MINIO_ENDPOINT takes precedence."`
	// CrawlerMinIOEndpoint is http:// or https:// and host[:port] after Load, or empty.
	CrawlerMinIOEndpoint  string `env:"CRAWLER_MINIO_ENDPOINT" allowed:"host:port, or an http:// or https:// URL without path; CRAWLER_MINIO_ENABLED=true requires it" meaning:"Address of the MinIO server."`
	CrawlerMinIOBucket    string `env:"CRAWLER_MINIO_BUCKET" allowed:"the name of a bucket; CRAWLER_MINIO_ENABLED=true requires it" meaning:"MinIO bucket. It must exist."`
	CrawlerMinIOAccessKey Secret `env:"CRAWLER_MINIO_ACCESS_KEY" allowed:"a key without white space; CRAWLER_MINIO_ENABLED=true requires it" meaning:"Access key of MinIO."`
	CrawlerMinIOSecretKey Secret `env:"CRAWLER_MINIO_SECRET_KEY" allowed:"a key without white space; CRAWLER_MINIO_ENABLED=true requires it" meaning:"Secret key of MinIO."`

	// CrawlerElasticsearchURL is scheme://[user:password@]host[:port][/path], or empty when pages are not sent.
	CrawlerElasticsearchURL DSN `group:"Elasticsearch" env:"CRAWLER_ELASTICSEARCH_URL" allowed:"an http:// or https:// URL with a host, without query or fragment" meaning:"Optional Elasticsearch or OpenSearch to which crawled pages are sent. The URL can have a user and a password."`
	// CrawlerElasticsearchAPIKey takes precedence over the user and password of CrawlerElasticsearchURL.
	CrawlerElasticsearchAPIKey Secret `env:"CRAWLER_ELASTICSEARCH_API_KEY" allowed:"printable ASCII characters without spaces" meaning:"API key for Elasticsearch. It replaces the user and password of CRAWLER_ELASTICSEARCH_URL."`

	SitemapInterval      time.Duration `group:"Sites" env:"SITEMAP_INTERVAL" envDefault:"6h" range:"1s..168h" meaning:"How often the sitemaps of websites are read. The first read of a new sitemap starts within seconds."`
	SubmissionInterval   time.Duration `env:"SUBMISSION_INTERVAL" envDefault:"5m" range:"1s..24h" meaning:"How often new and changed pages are submitted to search engines."`
	VerificationInterval time.Duration `env:"VERIFICATION_INTERVAL" envDefault:"1h" range:"1s..24h" meaning:"How often Google is asked which pages are indexed."`
	// The limits of the Indexing API apply to a Google project, those of URL inspections to a property.
	GooglePublishPerDay        int `env:"GOOGLE_PUBLISH_PER_DAY" envDefault:"200" range:"0..1000000" meaning:"Notifications to the Indexing API per day and Google project. The day ends at midnight Pacific time."`
	GoogleMetadataPerMinute    int `env:"GOOGLE_METADATA_PER_MINUTE" envDefault:"180" range:"0..100000" meaning:"Metadata requests to the Indexing API per minute and Google project."`
	GoogleRequestsPerMinute    int `env:"GOOGLE_REQUESTS_PER_MINUTE" envDefault:"380" range:"0..100000" meaning:"Requests of any kind to the Indexing API per minute and Google project."`
	GoogleInspectionsPerDay    int `env:"GOOGLE_INSPECTIONS_PER_DAY" envDefault:"2000" range:"0..1000000" meaning:"URL inspections per day and property. The day ends at midnight Pacific time."`
	GoogleInspectionsPerMinute int `env:"GOOGLE_INSPECTIONS_PER_MINUTE" envDefault:"600" range:"0..100000" meaning:"URL inspections per minute and property."`
	GoogleConcurrency          int `env:"GOOGLE_CONCURRENCY" envDefault:"4" range:"1..100" meaning:"Number of requests to Google that run at the same time for one website, on all instances together."`
	// Of an endpoint, only the host and port are connected to. Credentials never choose GoogleTokenEndpoint.
	GoogleIndexingEndpoint      string `env:"GOOGLE_INDEXING_ENDPOINT" envDefault:"https://indexing.googleapis.com/" allowed:"an http:// or https:// URL with a host, without query or fragment" meaning:"URL of the Indexing API."`
	GoogleSearchConsoleEndpoint string `env:"GOOGLE_SEARCHCONSOLE_ENDPOINT" envDefault:"https://searchconsole.googleapis.com/" allowed:"an http:// or https:// URL with a host, without query or fragment" meaning:"URL of the Search Console API."`
	GoogleTokenEndpoint         string `env:"GOOGLE_TOKEN_ENDPOINT" envDefault:"https://oauth2.googleapis.com/token" allowed:"an http:// or https:// URL with a host, without query or fragment" meaning:"URL at which service accounts get their access tokens. The URL in their key files is ignored."`
	IndexNowEndpoint            string `env:"INDEXNOW_ENDPOINT" envDefault:"https://api.indexnow.org/indexnow" allowed:"an http:// or https:// URL with a host, without query or fragment" meaning:"URL to which pages are submitted with IndexNow."`

	// HTTPTimeout bounds one outbound request from dial to the last byte of the body.
	HTTPTimeout time.Duration `group:"Outbound requests" env:"HTTP_TIMEOUT" envDefault:"5s" range:"1ms..5m" meaning:"Time limit of an outbound request, including the response body."`
	// OutboundAllowCIDRs are networks, each with its host bits cleared.
	OutboundAllowCIDRs []netip.Prefix `env:"OUTBOUND_ALLOW_CIDRS" allowed:"networks or addresses such as 10.0.0.0/8 or 192.168.1.5, separated by commas" meaning:"Private networks that outbound requests may reach. All other private addresses are blocked."`
	// OutboundUserAgent starts with the name that robots.txt rules are matched against. If it is empty, [Config.UserAgent] has a default.
	OutboundUserAgent string `env:"OUTBOUND_USER_AGENT" shown:"Linkwatch/<version>, and (+PUBLIC_URL) if that is set" allowed:"at most 256 printable ASCII characters that start with a letter, such as Linkwatch/1.0" meaning:"User-Agent of outbound requests. The crawler matches the rules of robots.txt with its first word."`

	// CleanupEnabled applies to short links only. The reaper always deletes all other expired data.
	CleanupEnabled   bool          `group:"Cleanup" env:"CLEANUP_ENABLED" envDefault:"true" allowed:"true or false" meaning:"false keeps expired and deleted short links where they are. The reaper still deletes all other expired data."`
	CleanupInterval  time.Duration `env:"CLEANUP_INTERVAL" envDefault:"15m" range:"1s..24h" meaning:"How often the reaper deletes expired data."`
	CleanupBatchSize int           `env:"CLEANUP_BATCH_SIZE" envDefault:"1000" range:"1..10000" meaning:"Maximum number of rows that the reaper deletes in one transaction."`
	// CleanupBufferTime is how long a short link stays in the table that redirects read after it expires.
	CleanupBufferTime  time.Duration `env:"CLEANUP_BUFFER_TIME" envDefault:"1h" range:"0s..8760h" meaning:"How long after its expiry the reaper moves a short link to the archive."`
	CleanupMaxDuration time.Duration `env:"CLEANUP_MAX_DURATION" envDefault:"5m" range:"100ms..1h" meaning:"Time limit of one run of the reaper. The next run continues."`
}
