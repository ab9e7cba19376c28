package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
)

// parsers are for types that the env package does not support.
var parsers = map[reflect.Type]env.ParserFunc{
	reflect.TypeFor[[]netip.Prefix](): parsePrefixes,
}

// rules check values beyond their type and range, by variable. A rule may normalize the value that it accepts.
var rules = map[string]func(*Config) bool{
	"HTTP_HOST":               func(c *Config) bool { return validHost(c.HTTPHost) },
	"HTTP_TLS_CERT":           func(c *Config) bool { return c.HTTPTLSCert != "" || c.HTTPTLSKey == "" },
	"HTTP_TLS_KEY":            func(c *Config) bool { return c.HTTPTLSKey != "" || c.HTTPTLSCert == "" },
	"PUBLIC_URL":              (*Config).tidyPublicURL,
	"SHORT_HOST":              (*Config).tidyShortHost,
	"SHORT_BLOCKED_HOSTS":     (*Config).tidyBlockedHosts,
	"REDIS_URL":               func(c *Config) bool { return c.RedisURL == "" || validRedisURL(string(c.RedisURL)) },
	"DATABASE_DRIVER":         (*Config).chooseDriver,
	"CRAWLER_PROXIES_ENABLED": func(c *Config) bool { return !c.CrawlerProxiesEnabled || len(c.CrawlerProxyURLs) > 0 },
	"CRAWLER_PROXY_URLS":      (*Config).tidyProxyURLs,
	"CRAWLER_SOURCES_API_URL": func(c *Config) bool {
		return c.CrawlerSourcesAPIURL == "" || validSourcesURL(string(c.CrawlerSourcesAPIURL))
	},
	"CRAWLER_ARCHIVE_URL":   func(c *Config) bool { return validArchiveURL(string(c.CrawlerArchiveURL)) },
	"CRAWLER_MINIO_ENABLED": func(c *Config) bool { return !c.CrawlerMinIOEnabled || c.CrawlerArchiveURL == "" },
	"CRAWLER_MINIO_USE_SSL": func(c *Config) bool {
		return !c.CrawlerMinIOUseSSL || !strings.HasPrefix(c.CrawlerMinIOEndpoint, "http://")
	},
	"CRAWLER_MINIO_ENDPOINT": (*Config).tidyMinIOEndpoint,
	"CRAWLER_MINIO_BUCKET": func(c *Config) bool {
		return validBucket(c.CrawlerMinIOBucket) || c.CrawlerMinIOBucket == "" && !c.CrawlerMinIOEnabled
	},
	"CRAWLER_MINIO_ACCESS_KEY": func(c *Config) bool { return c.validMinIOKey(c.CrawlerMinIOAccessKey) },
	"CRAWLER_MINIO_SECRET_KEY": func(c *Config) bool { return c.validMinIOKey(c.CrawlerMinIOSecretKey) },
	"CRAWLER_ELASTICSEARCH_URL": func(c *Config) bool {
		return c.CrawlerElasticsearchURL == "" || validSearchURL(string(c.CrawlerElasticsearchURL))
	},
	"CRAWLER_ELASTICSEARCH_API_KEY": func(c *Config) bool { return token.MatchString(string(c.CrawlerElasticsearchAPIKey)) },
	"REDIS_EVENTS_ENABLED":          func(c *Config) bool { return !c.RedisEventsEnabled || c.RedisURL != "" },
	"DATABASE_URL":                  (*Config).tidyDatabaseURL,
	"BACKUP_DIR":                    func(c *Config) bool { return c.BackupDir == "" || c.DatabaseDriver == SQLite },
	"OUTBOUND_USER_AGENT":           func(c *Config) bool { return c.OutboundUserAgent == "" || userAgent.MatchString(c.OutboundUserAgent) },
	"ADMIN_PASSWORD":                func(c *Config) bool { p := string(c.AdminPassword); return strings.TrimSpace(p) == p },
	"AUTH_JWT_SECRET":               func(c *Config) bool { return c.AuthJWTSecret == "" || len(c.AuthJWTSecret) >= minJWTSecret },
	"AUTH_JWT_ISSUER":               func(c *Config) bool { return c.validJWTRule(c.AuthJWTIssuer) },
	"AUTH_JWT_AUDIENCE":             func(c *Config) bool { return c.validJWTRule(c.AuthJWTAudience) },
	"AUTH_JWT_MAX_AGE":              func(c *Config) bool { return c.AuthJWTMaxAge == 0 || c.AuthJWTSecret != "" },
	"GOOGLE_INDEXING_ENDPOINT":      func(c *Config) bool { return validSearchURL(c.GoogleIndexingEndpoint) },
	"GOOGLE_SEARCHCONSOLE_ENDPOINT": func(c *Config) bool { return validSearchURL(c.GoogleSearchConsoleEndpoint) },
	"GOOGLE_TOKEN_ENDPOINT":         func(c *Config) bool { return validSearchURL(c.GoogleTokenEndpoint) },
	"INDEXNOW_ENDPOINT":             func(c *Config) bool { return validSearchURL(c.IndexNowEndpoint) },
	"OIDC_ISSUER":                   func(c *Config) bool { return c.OIDCIssuer == "" || validIssuer(c.OIDCIssuer) },
	"OIDC_CLIENT_ID":                (*Config).validClientID,
	"OIDC_CLIENT_SECRET":            func(c *Config) bool { s := string(c.OIDCClientSecret); return strings.TrimSpace(s) == s },
	"OIDC_NAME":                     func(c *Config) bool { return validOIDCName(c.OIDCName) },
	"OIDC_SCOPES":                   (*Config).tidyScopes,
	"OIDC_ROLE_CLAIM":               func(c *Config) bool { return validClaim(c.OIDCRoleClaim) },
	"OIDC_ROLES":                    (*Config).tidyOIDCRoles,
	"OIDC_DEFAULT_ROLE":             func(c *Config) bool { return validDefaultRole(c.OIDCDefaultRole) },
	"OIDC_ROLE_SYNC":                func(c *Config) bool { return c.OIDCRoleSync == SyncAlways || c.OIDCRoleSync == SyncFirst },
	"OIDC_ALLOWED_DOMAINS":          (*Config).tidyDomains,
	"AUTH_PROXY_HEADER":             (*Config).tidyProxyHeader,
	"AUTH_PROXY_FROM":               (*Config).validProxyFrom,
	"AUTH_PROXY_ROLE":               func(c *Config) bool { return validDefaultRole(c.AuthProxyRole) },
	"LOG_FORMAT": func(c *Config) bool {
		return c.LogFormat == "" || c.LogFormat == LogText || c.LogFormat == LogJSON
	},
}

const (
	minJWTSecret = 16 // bytes: a shorter key can be found by brute force from one token
	maxProxies   = 100
)

var (
	hostName   = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$`)
	optionName = regexp.MustCompile(`^[A-Za-z_]+$`)
	numeric    = regexp.MustCompile(`^[0-9.]+$`)
	// publicPath matches the path of PUBLIC_URL: without "//", ".", ".." and anything that URLs, cookies or HTML escape.
	publicPath = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$`)
	userAgent  = regexp.MustCompile(`^[A-Za-z][ -~]{0,255}$`)
	token      = regexp.MustCompile(`^[!-~]*$`)
	notToken   = regexp.MustCompile("[^A-Za-z0-9!#$%&'*+.^_`|~-]") // RFC 9110, 5.6.2
)

// allows reports whether the parsed value of f is in its range and passes its rule.
func (c *Config) allows(f reflect.StructField) bool {
	low, high := limits(f)
	switch v := reflect.ValueOf(c).Elem().FieldByIndex(f.Index).Interface().(type) {
	case int:
		least, _ := strconv.Atoi(low)
		most, _ := strconv.Atoi(high)
		if v < least || v > most {
			return false
		}
	case time.Duration:
		least, _ := time.ParseDuration(low)
		most, _ := time.ParseDuration(high)
		if v < least || v > most {
			return false
		}
	}
	rule := rules[f.Tag.Get("env")]
	return rule == nil || rule(c)
}

// allowed describes the values that f may have.
func allowed(f reflect.StructField) string {
	low, high := limits(f)
	switch f.Type {
	case reflect.TypeFor[int]():
		return fmt.Sprintf("a whole number from %s to %s", low, high)
	case reflect.TypeFor[time.Duration]():
		return fmt.Sprintf("a duration from %s to %s, such as %s", low, high, f.Tag.Get("envDefault")) + f.Tag.Get("allowed")
	default:
		return f.Tag.Get("allowed")
	}
}

func limits(f reflect.StructField) (low, high string) {
	low, high, _ = strings.Cut(f.Tag.Get("range"), "..")
	return low, high
}

// validHost accepts IP addresses and host names. Digits and dots that are no address are a typo.
func validHost(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return hostName.MatchString(host) && !numeric.MatchString(host)
}

// maxPublicPath is the maximum length of the path of PUBLIC_URL in bytes.
const maxPublicPath = 100

func (c *Config) tidyPublicURL() bool {
	if c.PublicURL == "" {
		return c.mayOmitPublicURL()
	}
	u, err := url.Parse(c.PublicURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || !validHost(u.Hostname()) {
		return false
	}
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	if u.User != nil || len(path) > maxPublicPath || !publicPath.MatchString(path) || strings.ContainsAny(c.PublicURL, "?#") {
		return false
	}
	authority := strings.ToLower(u.Host)
	if port := u.Port(); port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return false
		}
		if u.Scheme == "http" && n == 80 || u.Scheme == "https" && n == 443 { // browsers and canonical URLs omit it
			authority = strings.TrimSuffix(authority, ":"+port)
		}
	} else if strings.HasSuffix(u.Host, ":") {
		return false
	}
	c.PublicURL = u.Scheme + "://" + authority + path
	return true
}

func (c *Config) tidyShortHost() bool {
	c.ShortHost = strings.ToLower(c.ShortHost)
	u, err := url.Parse(c.PublicURL)
	return c.ShortHost == "" || validHost(c.ShortHost) &&
		!strings.EqualFold(c.ShortHost, c.HTTPHost) && (err != nil || u.Hostname() != c.ShortHost)
}

func (c *Config) tidyBlockedHosts() bool {
	for i, host := range c.ShortBlockedHosts {
		host = strings.ToLower(strings.TrimSpace(host))
		if !validHost(host) {
			return false
		}
		c.ShortBlockedHosts[i] = host
	}
	return true
}

func validRedisURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "redis" || u.Scheme == "rediss") && u.Hostname() != ""
}

func validSourcesURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && validHost(u.Hostname()) && !strings.Contains(s, "#")
}

func validSearchURL(s string) bool { return validSourcesURL(s) && !strings.Contains(s, "?") }

func (c *Config) tidyProxyURLs() bool {
	for i, proxy := range c.CrawlerProxyURLs {
		c.CrawlerProxyURLs[i] = DSN(strings.TrimSpace(string(proxy)))
		if !validProxyURL(string(c.CrawlerProxyURLs[i])) {
			return false
		}
	}
	return len(c.CrawlerProxyURLs) <= maxProxies
}

func validProxyURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" || !validHost(u.Hostname()) {
		return false
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	return err == nil && port != 0 && (u.Path == "" || u.Path == "/") && !strings.ContainsAny(s, "?#")
}

// chooseDriver derives the driver from DATABASE_URL if possible, and refuses a DATABASE_DRIVER that contradicts it.
func (c *Config) chooseDriver() bool {
	byURL := ""
	switch dsn := string(c.DatabaseURL); {
	case isPostgresURL(dsn):
		byURL = Postgres
	case strings.HasPrefix(dsn, "file:"), strings.HasPrefix(dsn, "sqlite:"):
		byURL = SQLite
	case c.DatabaseDriver == "", !strings.Contains(dsn, "="):
		byURL = SQLite // a file name; only a keyword=value list is ambiguous
	}
	if c.DatabaseDriver == "" {
		c.DatabaseDriver = byURL
	}
	known := c.DatabaseDriver == SQLite || c.DatabaseDriver == Postgres
	return known && (byURL == "" || byURL == c.DatabaseDriver)
}

func (c *Config) tidyDatabaseURL() bool {
	dsn := string(c.DatabaseURL)
	if isPostgresURL(dsn) {
		_, err := url.Parse(dsn)
		return err == nil
	}
	if file, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
		dsn = strings.TrimPrefix(file, "//")
		if strings.Contains(dsn, "?") && !strings.HasPrefix(dsn, "file:") {
			dsn = "file:" + dsn // only a URL has options
		}
		c.DatabaseURL = DSN(dsn)
	}
	if c.DatabaseDriver == Postgres { // a keyword=value list
		return true
	}
	if file, query, ok := strings.Cut(dsn, "?"); ok && !(strings.HasPrefix(file, "file:") && validOptions(query)) {
		return false
	}
	scheme, path, isURL := strings.Cut(dsn, "://")
	if isURL && scheme == "file" {
		return strings.HasPrefix(path, "/") // else its first folder would be a host
	}
	return dsn != "" && dsn != "file:" && (!isURL || strings.Contains(scheme, "="))
}

// validOptions accepts the query of a file: URL. It refuses the rest of a file name that contains a question mark.
func validOptions(query string) bool {
	for option := range strings.SplitSeq(query, "&") {
		if name, value, _ := strings.Cut(option, "="); !optionName.MatchString(name) || value == "" {
			return false
		}
	}
	_, err := url.ParseQuery(query)
	return err == nil && !strings.Contains(query, "#")
}

func isPostgresURL(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://")
}

// parsePrefixes reads networks separated by commas. An address without a length is the network of this one address.
func parsePrefixes(list string) (any, error) {
	var prefixes []netip.Prefix
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		if addr, err := netip.ParseAddr(item); err == nil && addr.Zone() == "" {
			prefixes = append(prefixes, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		prefix, err := netip.ParsePrefix(item)
		if err != nil {
			return nil, fmt.Errorf("read network: %w", err)
		}
		prefixes = append(prefixes, prefix.Masked())
	}
	return prefixes, nil
}
