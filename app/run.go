// Package app puts the program together: the systems, the server and the commands.
package app

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"linkwatch/config"
)

// ErrUsage is the error of a wrong command line. Run has already printed what is wrong.
var ErrUsage = errors.New("usage")

// Run runs the command that args name ("serve" by default). It returns when the command has finished or ctx has ended.
func Run(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	setUmask()
	args, file, err := cutConfig(args)
	if err != nil {
		fmt.Fprintf(stdout, "linkwatch: %s\nRun \"linkwatch help\" for usage.\n", err)
		return ErrUsage
	}
	if file != "" {
		getenv = withConfig(getenv, file)
	}
	name := "serve"
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	switch name {
	case "-h", "-help", "--help":
		name = "help"
	case "-version", "--version":
		name = "version"
	}
	c, ok := findCommand(name)
	if !ok {
		return unknownCommand(stdout, name)
	}
	err = c.run(ctx, args, getenv, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return c.printHelp(stdout)
	}
	return err
}

// cutConfig removes the flag --config FILE, which all commands have, from a command line. It may be before or after the
// name of the command. file is "" if the flag is missing.
func cutConfig(args []string) (rest []string, file string, err error) {
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(rest, args[i:]...), file, nil
		}
		flag, value, given := strings.Cut(args[i], "=")
		if flag != "--config" && flag != "-config" {
			rest = append(rest, args[i])
			continue
		}
		if !given && i+1 < len(args) {
			i++
			value = args[i]
		}
		switch {
		case value == "":
			return nil, "", errors.New("--config needs a file")
		case file != "":
			return nil, "", errors.New("--config is given twice")
		}
		file = value
	}
	return rest, file, nil
}

// withConfig returns a getenv for which the settings file is file.
func withConfig(getenv func(string) string, file string) func(string) string {
	return func(name string) string {
		if name == config.FileVariable {
			return file
		}
		return getenv(name)
	}
}

func unknownCommand(stdout io.Writer, name string) error {
	fmt.Fprintf(stdout, "linkwatch: unknown command %q\nRun \"linkwatch help\" for a list of commands.\n", name)
	return ErrUsage
}

// wrongUsage prints what is wrong with the command line of a command, such as "user add".
func wrongUsage(stdout io.Writer, name, format string, args ...any) error {
	fmt.Fprintf(stdout, "linkwatch %s: %s\nRun \"linkwatch help %s\" for usage.\n", name, fmt.Sprintf(format, args...), firstWord(name))
	return ErrUsage
}

// parse parses the flags of a command, which declare defines, and its arguments, in any order. params has the names of the
// arguments as the help shows them, such as "FILE" or "[N]". It returns ErrUsage after printing what is wrong, and
// flag.ErrHelp for -h.
func parse(name string, declare func(*flag.FlagSet), args []string, params string, stdout io.Writer) (rest []string, err error) {
	flags := newFlagSet(declare)
	for {
		if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
			return nil, err
		} else if err != nil {
			return nil, wrongUsage(stdout, name, "%s", flagError(flags, err))
		}
		if args = flags.Args(); len(args) == 0 {
			break
		}
		rest, args = append(rest, args[0]), args[1:]
	}
	names := strings.Fields(params)
	switch {
	case len(rest) > len(names):
		return nil, wrongUsage(stdout, name, "unexpected argument %q", rest[len(names)])
	case len(rest) < len(names) && !strings.HasPrefix(names[len(rest)], "["):
		return nil, wrongUsage(stdout, name, "missing %s", names[len(rest)])
	}
	return rest, nil
}

var invalidFlag = regexp.MustCompile(`^invalid (?:boolean )?value .* for (?:flag )?-(\S+): `)

// flagError returns the text of an error of the flag package. It names the flag as the help does, and the valid values.
func flagError(flags *flag.FlagSet, err error) string {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		return "unknown flag --" + name
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: -"); ok {
		return "--" + name + " needs a value"
	}
	m := invalidFlag.FindStringSubmatch(text)
	if m == nil || flags.Lookup(m[1]) == nil {
		return text
	}
	valid := "a valid value"
	if v, ok := flags.Lookup(m[1]).Value.(flag.Getter); ok {
		switch v.Get().(type) {
		case time.Duration:
			valid = "a duration such as 90m or 2160h"
		case int:
			valid = "a whole number"
		case bool:
			valid = "true or false"
		}
	}
	return "--" + m[1] + " must be " + valid
}

// newFlagSet returns a flag set that prints nothing itself. declare may be nil.
func newFlagSet(declare func(*flag.FlagSet)) *flag.FlagSet {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	if declare != nil {
		declare(flags)
	}
	return flags
}

// noArgs parses the command line of a command that has neither flags nor arguments.
func noArgs(name string, args []string, stdout io.Writer) error {
	_, err := parse(name, nil, args, "", stdout)
	return err
}
