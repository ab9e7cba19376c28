//go:build e2e

package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"linkwatch/models/modelstest"
)

// Redis works over TLS, with a certificate of a private authority and a password. /health and the log say why it does
// not.
func TestRedisWithTLSAndPassword(t *testing.T) {
	t.Parallel()
	r := modelstest.StartRedis(t)
	right, wrong := "REDIS_URL=rediss://:"+modelstest.RedisPassword+"@"+r.TLS+"/0", "REDIS_URL=rediss://:wrong-secret@"+r.TLS+"/0"
	trust := "SSL_CERT_FILE=" + r.CA
	for _, c := range []struct {
		name   string
		env    []string
		detail string // "": Redis is available
	}{
		{"right", []string{right, trust}, ""},
		{"wrong password", []string{wrong, trust}, "Redis refused the user name or the password in REDIS_URL."},
		{"unknown authority", []string{wrong}, "The certificate of Redis is not trusted."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := Start(t, c.env...)
			var body string
			modelstest.Eventually(t, "the state of Redis", func() bool {
				var health struct {
					Redis struct {
						Status string
						Detail *string
					}
				}
				body = bodyOf(t, s, "/health")
				if err := json.Unmarshal([]byte(body), &health); err != nil {
					t.Fatal(err)
				}
				if c.detail == "" {
					return health.Redis.Status == "ok" && health.Redis.Detail == nil
				}
				return health.Redis.Status == "unavailable" && health.Redis.Detail != nil &&
					strings.HasPrefix(*health.Redis.Detail, c.detail)
			})
			if log := s.log(); strings.Contains(body+log, "-secret") || !strings.Contains(log, c.detail) {
				t.Errorf("the reason is missing, or the password is shown: %s\n%s", body, log)
			}
		})
	}
}
