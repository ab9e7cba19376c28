package models_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
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
	defer func() { _ = silent.Close() }()
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	for url, want := range map[string]string{
		"redis://:wrong-secret@127.0.0.1:1":                                              "refused the connection",
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
		"rediss://:wrong-secret@" + web.Listener.Addr().String():                         "does not use TLS",
		"rediss://:" + modelstest.RedisPassword + "@" + r.TLS + "?skip_verify=true":      "",
	} {
		var got string
		modelstest.Eventually(t, url+": "+want, func() bool { // again, since a busy machine causes timeouts
			got = reason(t, url)
			return strings.Contains(got, want) && (want != "" || got == "")
		})
		if strings.Contains(got, "secret") || strings.Contains(got, "127.0.0.1") {
			t.Errorf("%s: %q", url, got)
		}
	}
}

// reason returns why Redis is unavailable, "" if it is not.
func reason(t *testing.T, url string) string {
	t.Helper()
	client, err := models.OpenRedis(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	if err := client.Ping(t.Context()).Err(); err != nil {
		return models.RedisReason(client, err)
	}
	return ""
}

// Errors that a Redis on this machine does not cause.
func TestRedisReasonOfErrors(t *testing.T) {
	client, err := models.OpenRedis("rediss://redis.example")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	invalid := func(err error) error { return fmt.Errorf("dial: %w", &tls.CertificateVerificationError{Err: err}) }
	for want, err := range map[string]error{
		"was not found":           &net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}},
		"could not be looked up":  &net.OpError{Op: "dial", Err: &net.DNSError{IsTimeout: true}},
		"cannot be reached":       &net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH},
		"for the host":            invalid(x509.HostnameError{Certificate: &x509.Certificate{}}),
		"has expired":             invalid(x509.CertificateInvalidError{Reason: x509.Expired}),
		"is not valid.":           invalid(x509.CertificateInvalidError{Reason: x509.NotAuthorizedToSign}),
		"The log has the error.":  errors.New("something with a password"),
		"did not respond in time": fmt.Errorf("subscribe: %w", context.DeadlineExceeded),
	} {
		if got := models.RedisReason(client, err); !strings.Contains(got, want) {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}
