package config

import (
	"net/url"
	"regexp"
	"strings"
)

// bucketName follows the naming rules for buckets of S3, which MinIO shares.
var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

func validBucket(name string) bool { return bucketName.MatchString(name) }

// validArchiveURL accepts what archive.ParseLocation reads.
func validArchiveURL(s string) bool {
	scheme, _, isURL := strings.Cut(s, "://")
	if !isURL {
		return !strings.Contains(s, "\x00")
	}
	u, err := url.Parse(s)
	if err != nil || strings.Contains(s, "#") {
		return false
	}
	switch scheme {
	case "file":
		return u.Host == "" && strings.HasPrefix(u.Path, "/") && u.User == nil && u.RawQuery == ""
	case "s3":
	default:
		return false
	}
	if u.User != nil {
		if secret, ok := u.User.Password(); !ok || secret == "" || u.User.Username() == "" {
			return false
		}
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil || !validBucket(u.Host) || strings.Contains(u.Path, "..") {
		return false
	}
	for name, values := range q {
		switch {
		case len(values) != 1:
			return false
		case name == "region":
			if !bucketName.MatchString(values[0]) {
				return false
			}
		case name != "endpoint" || !validEndpoint(values[0]):
			return false
		}
	}
	return true
}

// validEndpoint accepts a scheme, a host and an optional port.
func validEndpoint(s string) bool {
	u, err := url.Parse(s)
	return err == nil && validSearchURL(s) && u.User == nil && (u.Path == "" || u.Path == "/")
}

// tidyMinIOEndpoint adds a missing scheme according to CRAWLER_MINIO_USE_SSL.
func (c *Config) tidyMinIOEndpoint() bool {
	if c.CrawlerMinIOEndpoint == "" {
		return !c.CrawlerMinIOEnabled
	}
	endpoint := c.CrawlerMinIOEndpoint
	if !strings.Contains(endpoint, "://") {
		scheme := "http://"
		if c.CrawlerMinIOUseSSL {
			scheme = "https://"
		}
		endpoint = scheme + endpoint
	}
	if !validEndpoint(endpoint) {
		return false
	}
	c.CrawlerMinIOEndpoint = strings.TrimSuffix(endpoint, "/")
	return true
}

func (c *Config) validMinIOKey(key Secret) bool {
	return token.MatchString(string(key)) && (key != "" || !c.CrawlerMinIOEnabled)
}
