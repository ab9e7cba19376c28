package app

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/user"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"linkwatch/models"
	"linkwatch/models/accounts"
)

// listPage is the number of rows that list commands read at a time.
const listPage = 500

// withAccounts calls do with the store of accounts. The audit log names the user of this machine.
func withAccounts(ctx context.Context, getenv func(string) string, do func(context.Context, *accounts.Store) error) error {
	return withCore(ctx, getenv, func(c *core) error {
		name := "unknown"
		if u, err := user.Current(); err == nil {
			name = u.Username
		}
		ctx := models.WithActor(ctx, models.Actor{Name: name, Via: "cli", SeesAll: true})
		return do(ctx, accounts.NewStore(c.DB, c.Clock, accountOptions(c.Options)))
	})
}

// userParams has the arguments and flags for the fields of accounts.
var userParams = map[string]string{"username": "NAME", "role": "--role"}

type userFlags struct {
	role          string
	passwordStdin bool
	revokeTokens  bool
}

func (f *userFlags) declare(flags *flag.FlagSet) {
	f.declareRole(flags)
	f.declarePasswd(flags)
}

func (f *userFlags) declareRole(flags *flag.FlagSet) {
	flags.StringVar(&f.role, "role", "", "Role of the account: admin, editor or viewer (role; add, where the default is viewer)")
}

func (f *userFlags) declarePassword(flags *flag.FlagSet) {
	flags.BoolVar(&f.passwordStdin, "password-stdin", false, "Read the password from standard input. By default a password is generated and printed (add, passwd)")
}

func (f *userFlags) declarePasswd(flags *flag.FlagSet) {
	f.declarePassword(flags)
	flags.BoolVar(&f.revokeTokens, "revoke-tokens", false, "Also revoke all API tokens of the account, which stay valid otherwise (passwd)")
}

func (f *userFlags) declareAdd(flags *flag.FlagSet) {
	f.declareRole(flags)
	f.declarePassword(flags)
}

// manageUsers runs "linkwatch user add", "passwd", "role", "disable", "enable", "restore" and "list".
func manageUsers(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	action, args, err := subcommand("user", []string{"add", "passwd", "role", "disable", "enable", "restore", "list"}, args, stdout)
	if err != nil {
		return err
	}
	var f userFlags
	declare := map[string]func(*flag.FlagSet){"add": f.declareAdd, "passwd": f.declarePasswd, "role": f.declareRole}[action]
	params := "NAME"
	if action == "list" {
		params = ""
	}
	if args, err = parse("user "+action, declare, args, params, stdout); err != nil {
		return err
	}
	if action == "role" && f.role == "" { // no default: it could demote an admin by mistake
		return wrongUsage(stdout, "user role", "--role is missing")
	}
	return withAccounts(ctx, getenv, func(ctx context.Context, s *accounts.Store) error {
		switch action {
		case "list":
			return listUsers(ctx, s, stdout)
		case "add":
			password, generated, err := newPassword(f.passwordStdin)
			if err != nil {
				return err
			}
			u, err := s.Add(ctx, accounts.NewUser{Username: args[0], Role: accounts.Role(cmp.Or(f.role, string(accounts.Viewer))), Password: password})
			if err != nil {
				return forFlags(err, userParams)
			}
			fmt.Fprintf(stdout, "Added %s with role %s.\n", u.Username, u.Role)
			return printPassword(stdout, password, generated)
		}
		find := s.ByName
		if action == "restore" {
			find = s.ByNameWithDeleted
		}
		u, err := find(ctx, args[0])
		if err != nil {
			return forTerminal(err)
		}
		return changeUser(ctx, s, u, action, f, stdout)
	})
}

// changeUser runs an action on an existing account.
func changeUser(ctx context.Context, s *accounts.Store, u accounts.User, action string, f userFlags, stdout io.Writer) error {
	var e accounts.Edit
	message := ""
	switch action {
	case "passwd":
		password, generated, err := newPassword(f.passwordStdin)
		if err != nil {
			return err
		}
		if _, err := s.Edit(ctx, u.ID, accounts.Edit{Password: &password, RevokeTokens: f.revokeTokens}); err != nil {
			return forTerminal(err)
		}
		fmt.Fprintf(stdout, "Changed the password of %s and ended all its sessions.\n", u.Username)
		if err := printTokensLeft(ctx, s, u, f.revokeTokens, stdout); err != nil {
			return err
		}
		return printPassword(stdout, password, generated)
	case "restore":
		if _, err := s.Restore(ctx, u.ID); err != nil {
			return forTerminal(err)
		}
		_, err := fmt.Fprintf(stdout, "Restored %s, without sessions and API tokens.\n", u.Username)
		return err
	case "role":
		e.Role, message = new(accounts.Role(f.role)), "Changed the role of %s to "+f.role+".\n"
	case "disable":
		e.Disabled, message = new(true), "Disabled %s. Its sessions have ended, and its tokens no longer work.\n"
	case "enable":
		e.Disabled, message = new(false), "Enabled %s.\n"
	}
	if _, err := s.Edit(ctx, u.ID, e); err != nil {
		return forFlags(err, userParams)
	}
	_, err := fmt.Fprintf(stdout, message, u.Username)
	return err
}

// printTokensLeft says what a new password means for the API tokens of an account.
func printTokensLeft(ctx context.Context, s *accounts.Store, u accounts.User, revoked bool, stdout io.Writer) error {
	if revoked {
		_, err := fmt.Fprintln(stdout, "Revoked all its API tokens.")
		return err
	}
	l, err := s.Tokens(ctx, &u, models.Cursor{}, 1)
	if err == nil && len(l.Items) > 0 {
		_, err = fmt.Fprintf(stdout, "Its API tokens stay valid. To list them: linkwatch token list %s. To revoke them with a new password, use --revoke-tokens.\n", u.Username)
	}
	return err
}

func listUsers(ctx context.Context, s *accounts.Store, stdout io.Writer) error {
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "USERNAME\tROLE\tSTATUS\tLAST LOGIN\tID")
	after := models.Cursor{}
	for {
		l, err := s.List(ctx, after, listPage)
		if err != nil {
			return err
		}
		for _, u := range l.Items {
			status, login := "enabled", "never"
			switch {
			case u.Disabled:
				status = "disabled"
			case u.Blocked():
				status = "refused"
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

// subcommand returns the first argument, which must be one of the actions of a command, and the arguments after it.
func subcommand(name string, actions, args []string, stdout io.Writer) (action string, rest []string, err error) {
	all := strings.Join(actions, ", ")
	switch {
	case len(args) == 0:
		return "", nil, wrongUsage(stdout, name, "missing subcommand: %s", all)
	case slices.Contains([]string{"-h", "-help", "--help"}, args[0]):
		return "", nil, flag.ErrHelp
	case !slices.Contains(actions, args[0]):
		return "", nil, wrongUsage(stdout, name, "unknown subcommand %q: use %s", args[0], all)
	}
	return args[0], args[1:], nil
}

// newPassword reads a password from the first line of standard input, or generates one.
func newPassword(fromStdin bool) (password string, generated bool, err error) {
	if !fromStdin {
		return rand.Text()[:20], true, nil
	}
	line, err := bufio.NewReader(io.LimitReader(os.Stdin, 10*accounts.MaxPassword)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", false, fmt.Errorf("read the password: %w", err)
	}
	return strings.TrimRight(line, "\r\n"), false, nil
}

func printPassword(stdout io.Writer, password string, generated bool) error {
	if !generated {
		return nil
	}
	_, err := fmt.Fprintf(stdout, "Password: %s\nIt is not shown again.\n", password)
	return err
}

// forFlags is forTerminal for an error of fields that flags or arguments have set. flags has their names by field.
func forFlags(err error, flags map[string]string) error {
	m, ok := errors.AsType[*models.Error](err)
	if !ok || len(m.Fields) == 0 {
		return forTerminal(err)
	}
	details := make([]string, len(m.Fields))
	for i, f := range m.Fields {
		field, _, _ := strings.Cut(f.Location, "[")
		details[i] = cmp.Or(flags[field], f.Location) + ": " + f.Message
	}
	return errors.New(strings.Join(details, "; "))
}

// forTerminal returns the detail of an error of the models, without its code.
func forTerminal(err error) error {
	if m, ok := errors.AsType[*models.Error](err); ok {
		return errors.New(m.Detail)
	}
	return err
}
