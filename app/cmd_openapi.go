package app

import (
	"context"
	"flag"
	"io"
	"log/slog"

	"linkwatch/config"
	"linkwatch/handlers"
	"linkwatch/models"
)

// printOpenAPI prints the description of the API, which needs no store.
func printOpenAPI(_ context.Context, args []string, _ func(string) string, stdout io.Writer) error {
	flags := flag.NewFlagSet("openapi", flag.ContinueOnError)
	old := flags.Bool("3.0", false, "OpenAPI 3.0.3 instead of 3.1")
	if err := parseFlags(flags, args, stdout); err != nil {
		return err
	}
	cfg, err := config.Load(func(string) string { return "" })
	if err != nil {
		return err
	}
	c, err := newCore(Options{Config: cfg, DB: &models.DB{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer c.close()
	systems, err := newSystems(c)
	if err != nil {
		return err
	}
	defer systems.Close()
	operations := handlers.Operations(c.health, systems.served())
	describe := operations.OpenAPI
	if *old {
		describe = operations.OpenAPI30
	}
	doc, err := describe()
	if err != nil {
		return err
	}
	_, err = stdout.Write(doc)
	return err
}
