package models

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9"
)

// redisReplies are the errors that Redis replies with, by their beginning, and what to do about them.
var redisReplies = []struct{ prefix, reason string }{
	{"NOAUTH", "Redis requires a password. Add it to REDIS_URL."},
	{"WRONGPASS", "Redis refused the user name or the password in REDIS_URL."},
	{"NOPERM", "The user in REDIS_URL may not run a command that Linkwatch needs."},
	{"DENIED", "Redis runs in protected mode, which refuses other machines. Set a password in Redis and in REDIS_URL."},
	{"DB index is out of range", "Redis has no database with the number in REDIS_URL."},
	{"LOADING", "Redis is loading its data."},
	{"READONLY", "Redis is a replica that cannot be written. Set REDIS_URL to the primary."},
	{"MASTERDOWN", "Redis is a replica without a connection to its primary."},
	{"OOM", "Redis has no memory left. Set maxmemory-policy allkeys-lru in Redis, or give it more memory."},
	{"max number of clients reached", "Redis has too many clients. Raise maxclients in Redis."},
}

// RedisReason says in a sentence why Redis is unavailable, and what to do. It has no part of REDIS_URL.
func RedisReason(client *redis.Client, err error) string {
	for _, reply := range redisReplies {
		if redis.HasErrorPrefix(err, reply.prefix) {
			return reply.reason
		}
	}
	encrypted := client.Options().TLSConfig != nil
	if reason := certificateReason(err); encrypted && reason != "" {
		return reason
	}
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	network, isNetwork := errors.AsType[net.Error](err)
	timeout := isNetwork && network.Timeout() || isAny(err, context.DeadlineExceeded, os.ErrDeadlineExceeded)
	lookup, isLookup := errors.AsType[*net.DNSError](err)
	closed := isAny(err, io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE)
	switch {
	case isLookup && lookup.IsNotFound:
		return "The host name in REDIS_URL was not found."
	case isLookup:
		return "The host name in REDIS_URL could not be looked up."
	case errors.Is(err, syscall.ECONNREFUSED):
		return "Redis refused the connection. Check that it runs, and the host and port in REDIS_URL."
	case isAny(err, syscall.EHOSTUNREACH, syscall.ENETUNREACH):
		return "The host in REDIS_URL cannot be reached."
	case encrypted && (noTLS || closed):
		return "The port in REDIS_URL does not use TLS. Change the port, or write redis:// in REDIS_URL."
	case encrypted && timeout: // Redis without TLS waits for the end of a command
		return "Redis did not respond in time. If it does not use TLS, write redis:// in REDIS_URL."
	case timeout:
		return "Redis did not respond in time."
	case closed:
		return "Redis closed the connection. If it requires TLS, write rediss:// in REDIS_URL."
	case strings.Contains(err.Error(), "can't parse"):
		return "The server in REDIS_URL is not Redis."
	}
	return "Redis is unavailable. The log has the error."
}

func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

// certificateReason returns the reason of a failed TLS handshake, "" for another error.
func certificateReason(err error) string {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "The certificate of Redis is not trusted. Name the certificate of its authority in SSL_CERT_FILE."
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "The certificate of Redis is not valid for the host in REDIS_URL."
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return "The certificate of Redis has expired or is not valid yet."
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "The certificate of Redis is not valid."
	}
	if strings.Contains(err.Error(), "tls: certificate required") { // crypto/tls does not export the type of an alert
		return "Redis requires a client certificate, which Linkwatch does not have. Set tls-auth-clients no in Redis."
	}
	return ""
}
