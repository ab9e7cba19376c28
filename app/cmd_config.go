package app

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"linkwatch/config"
)

func printConfig(_ context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	if err := noArgs("config", args, stdout); err != nil {
		return err
	}
	cfg, err := config.Load(getenv)
	if err != nil {
		return fmt.Errorf("invalid setting: %w", err)
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SETTING\tVALUE\tDEFAULT\tDESCRIPTION")
	for _, s := range config.Describe(cfg) {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.Name, orDash(s.Value), orDash(s.Default), s.Meaning)
	}
	return w.Flush()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
