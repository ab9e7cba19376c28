package app

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/user"
	"strings"
	"text/tabwriter"
	"time"

	"linkwatch/models"
	"linkwatch/models/accounts"
)

// listAll is how many rows a command asks for at a time.
const listAll = 500

// withAccounts calls do with the store of accounts. What it does is recorded as done by the
// user of this machine.
func withAccounts(ctx context.Context, getenv func(string) string, stdout io.Writer, do func(context.Context, *accounts.Store) error) error {
	return withCore(ctx, getenv, stdout, func(c *core) error {
		name := "unknown"
		if u, err := user.Current(); err == nil {
			name = u.Username
		}
		ctx := models.WithActor(ctx, models.Actor{Name: name, Via: "cli", SeesAll: true})
		return do(ctx, accounts.NewStore(c.DB, c.Clock, accountOptions(c.Options)))
	})
}

// manageUsers runs linkwatch user add | passwd | role | disable | enable | list.
func manageUsers(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	if len(args) == 0 {
		usage(stdout)
		return ErrUsage
	}
	flags := flag.NewFlagSet("user "+args[0], flag.ContinueOnError)
	fromStdin := false
	role := string(accounts.Viewer)
	switch args[0] {
	case "add":
		flags.StringVar(&role, "role", role, "admin, editor or viewer")
		fallthrough
	case "passwd":
		flags.BoolVar(&fromStdin, "password-stdin", false, "read the password from standard input; without it one is made and printed")
	case "role":
		role = "" // it must be given: a slip would make an admin a viewer
		flags.StringVar(&role, "role", "", "admin, editor or viewer")
	case "disable", "enable", "list":
	default:
		return noCommand(stdout, "user "+args[0])
	}
	name, err := nameAndFlags(flags, args[1:], args[0] != "list", stdout)
	if err != nil {
		return err
	}
	if args[0] == "role" && role == "" {
		fmt.Fprintf(stdout, "Say which role: linkwatch user role %s --role editor\n", name)
		return ErrUsage
	}
	if args[0] == "list" && name != "" {
		usage(stdout)
		return ErrUsage
	}
	return withAccounts(ctx, getenv, stdout, func(ctx context.Context, s *accounts.Store) error {
		switch args[0] {
		case "list":
			return listUsers(ctx, s, stdout)
		case "add":
			password, made, err := newPassword(fromStdin)
			if err != nil {
				return err
			}
			u, err := s.Add(ctx, accounts.New{Username: name, Role: accounts.Role(role), Password: password})
			if err != nil {
				return plain(err)
			}
			fmt.Fprintf(stdout, "Added %s as %s.\n", u.Username, u.Role)
			return tellPassword(stdout, password, made)
		}
		u, err := s.ByName(ctx, name)
		if err != nil {
			return plain(err)
		}
		return changeUser(ctx, s, u, args[0], accounts.Role(role), fromStdin, stdout)
	})
}

// changeUser changes an account as a command says.
func changeUser(ctx context.Context, s *accounts.Store, u accounts.User, command string, role accounts.Role, fromStdin bool, stdout io.Writer) error {
	var e accounts.Edit
	did := ""
	switch command {
	case "passwd":
		password, made, err := newPassword(fromStdin)
		if err != nil {
			return err
		}
		if _, err := s.Edit(ctx, u.ID, accounts.Edit{Password: &password}); err != nil {
			return plain(err)
		}
		fmt.Fprintf(stdout, "Changed the password of %s. Its sessions have ended.\n", u.Username)
		return tellPassword(stdout, password, made)
	case "role":
		e.Role, did = &role, "%s is "+string(role)+" now.\n"
	case "disable":
		e.Disabled, did = new(true), "Disabled %s. Its sessions have ended, and its tokens open nothing.\n"
	case "enable":
		e.Disabled, did = new(false), "Enabled %s.\n"
	}
	if _, err := s.Edit(ctx, u.ID, e); err != nil {
		return plain(err)
	}
	_, err := fmt.Fprintf(stdout, did, u.Username)
	return err
}

func listUsers(ctx context.Context, s *accounts.Store, stdout io.Writer) error {
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "USERNAME\tROLE\tSTATUS\tLAST LOGIN\tID")
	after := models.Cursor{}
	for {
		l, err := s.List(ctx, after, listAll)
		if err != nil {
			return err
		}
		for _, u := range l.Items {
			status, login := "enabled", "never"
			if u.Disabled {
				status = "disabled"
			}
			if !u.LastLoginAt.IsZero() {
				login = u.LastLoginAt.Format(time.RFC3339)
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", u.Username, u.Role, status, login, u.ID)
		}
		if after = l.Next; !l.More() {
			return table.Flush()
		}
	}
}

// nameAndFlags parses a name with flags before or after it. Without needed, the name may be left out.
func nameAndFlags(flags *flag.FlagSet, args []string, needed bool, stdout io.Writer) (name string, err error) {
	flags.SetOutput(stdout)
	if err := flags.Parse(args); err != nil {
		return "", ErrUsage
	}
	if rest := flags.Args(); len(rest) > 0 {
		name = rest[0]
		if err := flags.Parse(rest[1:]); err != nil {
			return "", ErrUsage
		}
	}
	if flags.NArg() > 0 || needed && name == "" {
		usage(stdout)
		return "", ErrUsage
	}
	return name, nil
}

// newPassword reads a password from the first line of standard input, or makes one.
func newPassword(fromStdin bool) (password string, made bool, err error) {
	if !fromStdin {
		return rand.Text()[:20], true, nil
	}
	line, err := bufio.NewReader(io.LimitReader(os.Stdin, 10*accounts.MaxPassword)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", false, fmt.Errorf("reading the password: %w", err)
	}
	return strings.TrimRight(line, "\r\n"), false, nil
}

func tellPassword(stdout io.Writer, password string, made bool) error {
	if !made {
		return nil
	}
	_, err := fmt.Fprintf(stdout, "Password: %s\nIt is shown only here.\n", password)
	return err
}

// plain is an error as somebody at a terminal should read it.
func plain(err error) error {
	if m, ok := errors.AsType[*models.Error](err); ok {
		return errors.New(m.Detail)
	}
	return err
}
