// Linkwatch looks after links: it saves them with their title and picture,
// tags them, finds them again, and notices when they die.
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
	err := app.Run(untilSignal(), os.Args[1:], os.Getenv, os.Stdout)
	switch {
	case errors.Is(err, app.ErrUsage):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "linkwatch:", err)
		os.Exit(1)
	}
}

// untilSignal ends with the first SIGINT or SIGTERM; the second ends the
// program at once. (With signal.NotifyContext a second one that comes close
// behind the first is lost.)
func untilSignal() context.Context {
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
