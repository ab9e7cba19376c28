package app

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"linkwatch/config"
	"linkwatch/handlers/middleware"
)

// healthTimeout limits the request of the health command.
const healthTimeout = 5 * time.Second

// health returns an error unless the server with these settings on this machine is ready. It is the health check of the
// container image, which has no HTTP client.
func health(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	if err := noArgs("health", args, stdout); err != nil {
		return err
	}
	cfg, err := config.Load(getenv)
	if err != nil {
		return fmt.Errorf("invalid setting: %w", err)
	}
	if cfg.HTTPPort == 0 {
		return errors.New("HTTP_PORT=0: the port of the server is unknown. Set a port")
	}
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	server := cfg.Scheme() + "://" + net.JoinHostPort(loopback(cfg.HTTPHost), strconv.Itoa(cfg.HTTPPort))
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server+"/readyz", nil)
	if err != nil {
		return err
	}
	// No proxy of the environment: it cannot reach the loopback addresses of this machine.
	// The certificate is for the name that visitors use, not for this address. The request has no secrets.
	client := http.Client{
		Transport: &http.Transport{
			DisableKeepAlives: true,
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // see above
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("the server at %s is not reachable", server)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the server at %s is not ready: /readyz returned status %d", server, res.StatusCode)
	}
	var answer middleware.Status // another program may listen on this port
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<10)).Decode(&answer); err != nil || answer.Status != "ok" {
		return fmt.Errorf("another program listens at %s. Check HTTP_HOST and HTTP_PORT", server)
	}
	_, err = fmt.Fprintln(stdout, "The server is ready.")
	return err
}

// loopback returns the address at which this machine reaches a server that listens on host.
func loopback(host string) string {
	addr, err := netip.ParseAddr(host)
	switch {
	case err != nil || !addr.IsUnspecified():
		return host
	case addr.Is4():
		return "127.0.0.1"
	}
	return "::1"
}
