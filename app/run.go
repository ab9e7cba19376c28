// Package app puts the program together: the systems, the server and the subcommands.
package app

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// command is one thing the program does.
type command struct {
	name, usage, meaning string
	run                  func(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error
}

// commands are all of them; the first is the default.
func commands() []command {
	return []command{
		{"serve", "", "serve the pages and the API (the default)", serve},
		{"sync", "", "give every enabled source to crawl a job", syncSources},
		{"demo", "[-links 1000] [-force]", "fill an empty database with sample data", fillDemo},
		{"migrate", "up | down [n]", "bring the schema to the newest version, or undo its newest n steps (1)", migrate},
		{"check", "", "check the database for damage; exit 1 if there is any", check},
		{"user", "add | passwd | role | disable | enable NAME | list", "manage accounts: --role admin, editor or viewer (add, role), --password-stdin (add, passwd)", manageUsers},
		{"token", "add NAME | list [NAME] | revoke ID", "manage API tokens of the user NAME: --scope links:write,targets:read --expires 2160h --name TEXT (add)", manageTokens},
		{"health", "", "ask the running server whether it is ready; exit 1 if it is not", health},
		{"backup", "FILE [--force]", "write a backup of the database to FILE, also while the server runs", writeBackup},
		{"restore", "FILE [--force]", "replace the database with a backup, while the server is stopped", restoreBackup},
		{"config", "", "print the settings in force", printConfig},
		{"openapi", "[-3.0]", "print the description of the API", printOpenAPI},
		{"version", "", "print the version", printVersion},
		{"help", "", "print this", printHelp},
	}
}

// ErrUsage is the error of a command line that is not understood. Run has
// printed what is wrong with it.
var ErrUsage = errors.New("usage")

// Run runs the command that args ask for, and returns when it is done or ctx
// has ended.
func Run(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	name := commands()[0].name
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	switch name {
	case "-h", "-help", "--help":
		name = "help"
	case "-version", "--version":
		name = "version"
	}
	for _, c := range commands() {
		if c.name == name {
			return c.run(ctx, args, getenv, stdout)
		}
	}
	return noCommand(stdout, name)
}

func noCommand(stdout io.Writer, name string) error {
	fmt.Fprintf(stdout, "There is no command %q.\n\n", name)
	usage(stdout)
	return ErrUsage
}

func usage(w io.Writer) {
	fmt.Fprint(w, "Linkwatch looks after links.\n\nUsage: linkwatch [command]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %s\n      %s\n", strings.TrimSpace(c.name+" "+c.usage), c.meaning)
	}
	fmt.Fprint(w, "\nSettings are environment variables: linkwatch config lists them.\n")
}

// noArgs returns ErrUsage, after printing the usage, if a command that takes no
// arguments got some.
func noArgs(args []string, stdout io.Writer) error {
	if len(args) == 0 {
		return nil
	}
	usage(stdout)
	return ErrUsage
}

// parseFlags returns ErrUsage, after printing what is wrong, for unknown flags and
// for arguments after the flags. -h is no mistake, but returns ErrUsage too.
func parseFlags(flags *flag.FlagSet, args []string, stdout io.Writer) error {
	flags.SetOutput(stdout)
	if err := flags.Parse(args); err != nil {
		return ErrUsage
	}
	if flags.NArg() > 0 {
		flags.Usage()
		return ErrUsage
	}
	return nil
}
