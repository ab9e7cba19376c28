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

type openapiFlags struct{ v30 bool }

func (f *openapiFlags) declare(flags *flag.FlagSet) {
	flags.BoolVar(&f.v30, "3.0", false, "Print OpenAPI 3.0.3 instead of 3.1")
}

// printOpenAPI prints the OpenAPI document. It needs no database.
func printOpenAPI(_ context.Context, args []string, _ func(string) string, stdout io.Writer) error {
	var f openapiFlags
	if _, err := parse("openapi", f.declare, args, "", stdout); err != nil {
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
	if f.v30 {
		describe = operations.OpenAPI30
	}
	doc, err := describe()
	if err != nil {
		return err
	}
	_, err = stdout.Write(doc)
	return err
}
