package models_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"linkwatch/models"
	"linkwatch/models/modelstest"
)

func TestOpenRedis(t *testing.T) {
	if _, err := models.OpenRedis("redis://:secret@127.0.0.1:port/x"); err == nil {
		t.Error("a URL without sense is taken")
	}
	r := miniredis.RunT(t)
	r.RequireAuth("secret")
	client, err := models.OpenRedis("redis://:secret@" + r.Addr() + "/0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Error(err)
	}
}

// With a real Redis, the reason why it is unavailable says what to change, without the password or the address.
func TestRedisReason(t *testing.T) {
	r, strict := modelstest.StartRedis(t), modelstest.StartRedis(t, "--tls-auth-clients", "yes")
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	for url, want := range map[string]string{
		"redis://:wrong-secret@127.0.0.1:1":                                              "refused the connection",
		"redis://:wrong-secret@redis.invalid:6379":                                       "host name",
		"redis://" + r.Plain:                                                             "requires a password",
		"redis://:wrong-secret@" + r.Plain:                                               "refused the user name or the password",
		"redis://bob:" + modelstest.RedisPassword + "@" + r.Plain:                        "refused the user name or the password",
		"redis://:" + modelstest.RedisPassword + "@" + r.Plain + "/99":                   "database with the number",
		"redis://:" + modelstest.RedisPassword + "@" + r.TLS:                             "write rediss://",
		"rediss://:" + modelstest.RedisPassword + "@" + r.Plain:                          "write redis://",
		"rediss://:" + modelstest.RedisPassword + "@" + r.TLS:                            "SSL_CERT_FILE",
		"rediss://:" + modelstest.RedisPassword + "@" + strict.TLS + "?skip_verify=true": "client certificate",
		"redis://:wrong-secret@" + silent.Addr().String():                                "did not respond in time",
		"rediss://:wrong-secret@" + silent.Addr().String():                               "did not respond in time",
		"redis://:wrong-secret@" + web.Listener.Addr().String():                          "is not Redis",
		"rediss://:wrong-secret@" + web.Listener.Addr().String():                         "does not speak TLS",
		"rediss://:" + modelstest.RedisPassword + "@" + r.TLS + "?skip_verify=true":      "",
	} {
		client, err := models.OpenRedis(url)
		if err != nil {
			t.Fatal(err)
		}
		err = client.Ping(t.Context()).Err()
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", url, err)
			}
		} else if err == nil {
			t.Errorf("%s: no error", url)
		} else if got := models.RedisReason(client, err); !strings.Contains(got, want) || strings.Contains(got, "secret") || strings.Contains(got, "127.0.0.1") {
			t.Errorf("%s: %q, want %q; %v", url, got, want, err)
		}
		_ = client.Close()
	}
}
