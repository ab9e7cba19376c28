package app

import (
	"context"
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

// healthPatience is how long the server may take to say that it is ready.
const healthPatience = 5 * time.Second

// health asks the server with these settings, on this machine, whether it is ready. Its error
// says that it is not. It is for the health check of a container, which has no other program.
func health(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	if err := noArgs(args, stdout); err != nil {
		return err
	}
	cfg, err := config.Load(getenv)
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	if cfg.HTTPPort == 0 {
		return errors.New("HTTP_PORT=0: the port of the server is not known")
	}
	ctx, cancel := context.WithTimeout(ctx, healthPatience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(reachable(cfg.HTTPHost), strconv.Itoa(cfg.HTTPPort))+"/readyz", nil)
	if err != nil {
		return err
	}
	// Not by a proxy that the environment may name: it cannot reach this machine's own addresses.
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	if err != nil {
		return errors.New("the server does not answer")
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the server is not ready: /readyz answers %d", res.StatusCode)
	}
	var answer middleware.Status // another program may listen there
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<10)).Decode(&answer); err != nil || answer.Status != "ok" {
		return errors.New("another program answers at this address: check HTTP_HOST and HTTP_PORT")
	}
	_, err = fmt.Fprintln(stdout, "The server is ready.")
	return err
}

// reachable is an address at which a server that listens on host is reached from this machine.
func reachable(host string) string {
	addr, err := netip.ParseAddr(host)
	switch {
	case err != nil || !addr.IsUnspecified():
		return host
	case addr.Is4():
		return "127.0.0.1"
	}
	return "::1"
}
