// Linkwatch saves links, monitors URLs, serves short links, crawls websites and submits their pages to search engines.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"linkwatch/app"
)

func main() {
	err := app.Run(signalContext(), os.Args[1:], os.Getenv, os.Stdout)
	switch {
	case errors.Is(err, app.ErrUsage):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "linkwatch:", err)
		os.Exit(1)
	}
}

// signalContext returns a context that ends with the first SIGINT or SIGTERM. The second one ends the program at once.
// signal.NotifyContext loses a second signal that follows shortly after the first.
func signalContext() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		<-signals
		os.Exit(1)
	}()
	return ctx
}
