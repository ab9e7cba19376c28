package app

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// command is a command of the program. usage has one line for each form of its arguments; flags may be nil.
type command struct {
	name    string
	summary string // for the list of commands
	usage   []string
	details string
	flags   func(*flag.FlagSet)
	run     func(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error
}

func commands() []command {
	return []command{
		{name: "serve", summary: "Serve the pages and the API (default)", run: serve,
			details: "SIGINT or SIGTERM stops the server after SHUTDOWN_GRACE at most. A second signal stops it at once.\n" +
				"SIGHUP reloads the TLS certificate."},
		{name: "user", summary: "Manage accounts", run: manageUsers, flags: new(userFlags).declare,
			usage: []string{"add NAME [flags]", "passwd NAME [flags]", "role NAME --role ROLE", "disable NAME", "enable NAME", "restore NAME", "list"},
			details: "Once an account exists, pages and API calls need a login. Public pages, such as status pages, and short links do not.\n" +
				"A running server sees changes at once."},
		{name: "token", summary: "Manage API tokens", run: manageTokens, flags: new(tokenFlags).declare,
			usage:   []string{"add NAME [flags]", "list [NAME]", "revoke ID"},
			details: "NAME is the username of an account. The command add prints the token, which is not shown again."},
		{name: "sync", summary: "Create or update a crawl job for every enabled source", run: syncSources,
			details: "A running server starts new jobs after CRAWLER_POLL_INTERVAL at most."},
		{name: "demo", summary: "Fill an empty database with sample data", usage: []string{"[flags]"}, run: fillDemo, flags: new(demoFlags).declare,
			details: "The sample links are the same in each run. Links that the database already has are not added again. If it has any of\n" +
				"the sample links, no other sample data is added."},
		{name: "migrate", summary: "Update the database schema, or revert migrations", usage: []string{"up", "down [N]"}, run: migrate,
			details: "The command up runs all new migrations, as the server does at start. The command down reverts the newest N migrations (default 1),\n" +
				"but none that creates a system."},
		{name: "check", summary: "Check the database for damage", run: check,
			details: "Exits with status 1 if there are problems. Changes nothing."},
		{name: "backup", summary: "Write a backup of the database to a file", usage: []string{"FILE [--force]"}, run: writeBackup, flags: new(forceFlag).forBackup,
			details: "The server may keep running. For PostgreSQL, prints the pg_dump command to run."},
		{name: "restore", summary: "Replace the database with a backup", usage: []string{"FILE [--force]"}, run: restoreBackup, flags: new(forceFlag).forRestore,
			details: "Stop the server first. For PostgreSQL, prints the pg_restore command to run."},
		{name: "health", summary: "Check whether the running server is ready", run: health,
			details: "Sends GET /readyz to HTTP_HOST and HTTP_PORT. Exits with status 1 if the server is not ready."},
		{name: "config", summary: "Print all settings with values, defaults and descriptions", usage: []string{"[flags]"}, run: printConfig,
			flags: new(configFlags).declare,
			details: "Secrets are masked. The source of a setting is the environment, the settings file, or a variable that\n" +
				"names a file."},
		{name: "openapi", summary: "Print the OpenAPI document", usage: []string{"[flags]"}, run: printOpenAPI, flags: new(openapiFlags).declare},
		{name: "version", summary: "Print the version, commit and date", run: printVersion},
		{name: "help", summary: "Print help for a command", usage: []string{"[COMMAND]"}, run: help},
	}
}

func findCommand(name string) (command, bool) {
	for _, c := range commands() {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

// help prints the list of commands, or the help of the command in args.
func help(_ context.Context, args []string, _ func(string) string, stdout io.Writer) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return printCommands(stdout)
	}
	c, ok := findCommand(args[0])
	if !ok {
		return unknownCommand(stdout, args[0])
	}
	if len(args) > 1 {
		return wrongUsage(stdout, "help", "unexpected argument %q", args[1])
	}
	return c.printHelp(stdout)
}

func printCommands(w io.Writer) error {
	fmt.Fprint(w, "Linkwatch saves links, monitors URLs, serves short links, crawls websites and submits their pages to search engines.\n\n"+
		"Usage: linkwatch [--config FILE] [COMMAND] [ARGUMENTS]\n\nCommands:\n")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range commands() {
		fmt.Fprintf(table, "  %s\t%s\n", c.name, c.summary)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprint(w, "\nRun \"linkwatch help COMMAND\" for the usage and the flags of a command.\n"+
		"Settings are environment variables, or NAME=value lines of a file: --config FILE or LINKWATCH_CONFIG=FILE.\n"+
		"Run \"linkwatch config\" for a list.\n")
	return err
}

func (c command) printHelp(w io.Writer) error {
	fmt.Fprintf(w, "%s.\n\nUsage:\n", c.summary)
	usage := c.usage
	if len(usage) == 0 {
		usage = []string{""}
	}
	for _, u := range usage {
		fmt.Fprintf(w, "  %s\n", strings.TrimSpace("linkwatch "+c.name+" "+u))
	}
	if c.details != "" {
		fmt.Fprintf(w, "\n%s\n", c.details)
	}
	if c.flags == nil {
		return nil
	}
	fmt.Fprint(w, "\nFlags:\n")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	newFlagSet(c.flags).VisitAll(func(f *flag.Flag) {
		value, text := flag.UnquoteUsage(f)
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0s" {
			text += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(table, "  %s\t%s\n", strings.TrimSpace("--"+f.Name+" "+strings.ToUpper(value)), text)
	})
	return table.Flush()
}

// firstWord returns "user" of "user add".
func firstWord(name string) string {
	word, _, _ := strings.Cut(name, " ")
	return word
}
