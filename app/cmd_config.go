package app

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"text/tabwriter"

	"linkwatch/config"
)

type configFlags struct{ markdown bool }

func (f *configFlags) declare(flags *flag.FlagSet) {
	flags.BoolVar(&f.markdown, "markdown", false, "Print docs/settings.md, without current values")
}

func printConfig(_ context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	var f configFlags
	if _, err := parse("config", f.declare, args, "", stdout); err != nil {
		return err
	}
	if f.markdown {
		return config.WriteMarkdown(stdout)
	}
	cfg, from, err := config.LoadSources(getenv)
	if err != nil {
		return fmt.Errorf("invalid setting: %w", err)
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SETTING\tVALUE\tDEFAULT\tSOURCE\tDESCRIPTION")
	const row = "%s\t%s\t%s\t%s\t%s\n"
	fmt.Fprintf(w, row, config.FileVariable, orDash(getenv(config.FileVariable)), "-", "--config, else environment",
		"File with NAME=value lines. The environment takes precedence.")
	for _, s := range config.Describe(cfg) {
		source := cmp.Or(from.Of[s.Name], "default")
		fmt.Fprintf(w, row, s.Name, orDash(s.Value), orDash(s.Default), source, s.Meaning)
	}
	return w.Flush()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
