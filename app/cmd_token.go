package app

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"linkwatch/models"
	"linkwatch/models/accounts"
)

type tokenFlags struct {
	name, scopes string
	expires      time.Duration
}

func (f *tokenFlags) declare(flags *flag.FlagSet) {
	flags.StringVar(&f.name, "name", "Command line", "Name of the token, shown in lists (add)")
	flags.StringVar(&f.scopes, "scope", "read", "`Scopes` of the token, separated by commas: "+strings.Join(accounts.AllScopes(), ", ")+" (add)")
	flags.DurationVar(&f.expires, "expires", 0, "Time until the token expires, such as 2160h. It never expires by default (add)")
}

// manageTokens runs "linkwatch token add", "list" and "revoke".
func manageTokens(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	action, args, err := subcommand("token", []string{"add", "list", "revoke"}, args, stdout)
	if err != nil {
		return err
	}
	var f tokenFlags
	var declare func(*flag.FlagSet)
	params := "NAME"
	switch action {
	case "add":
		declare = f.declare
	case "list":
		params = "[NAME]"
	case "revoke":
		params = "ID"
	}
	if args, err = parse("token "+action, declare, args, params, stdout); err != nil {
		return err
	}
	arg := strings.Join(args, "") // a username, or the id of a token
	return withAccounts(ctx, getenv, func(ctx context.Context, s *accounts.Store) error {
		switch action {
		case "revoke":
			if err := s.Revoke(ctx, nil, arg); err != nil {
				return forTerminal(err)
			}
			_, err := fmt.Fprintln(stdout, "Token revoked.")
			return err
		case "list":
			return listTokens(ctx, s, arg, stdout)
		}
		return addToken(ctx, s, arg, f, stdout)
	})
}

func addToken(ctx context.Context, s *accounts.Store, username string, f tokenFlags, stdout io.Writer) error {
	u, err := s.ByName(ctx, username)
	if err != nil {
		return forTerminal(err)
	}
	n := accounts.NewToken{Name: f.name, Scopes: strings.Split(f.scopes, ","), By: u.Role}
	if f.expires != 0 {
		n.ExpiresAt = s.Now().Add(f.expires)
	}
	_, secret, err := s.AddToken(ctx, u, n)
	if err != nil {
		return forFlags(err, map[string]string{"name": "--name", "scopes": "--scope", "expires_at": "--expires"})
	}
	_, err = fmt.Fprintln(stdout, secret) // nothing else, for scripts
	return err
}

func listTokens(ctx context.Context, s *accounts.Store, username string, stdout io.Writer) error {
	var owner *accounts.User // nil: of all accounts
	if username != "" {
		u, err := s.ByName(ctx, username)
		if err != nil {
			return forTerminal(err)
		}
		owner = &u
	}
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	printTokenHead(table)
	after := models.Cursor{}
	for {
		l, err := s.Tokens(ctx, owner, after, listPage)
		if err != nil {
			return err
		}
		for _, t := range l.Items {
			printToken(table, t)
		}
		if after = l.Next; !l.More() {
			return table.Flush()
		}
	}
}

func printTokenHead(table io.Writer) {
	fmt.Fprintln(table, "ID\tUSER\tNAME\tSCOPES\tEXPIRES\tLAST USED")
}

func printToken(table io.Writer, t accounts.Token) {
	fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, t.Username, t.Name, strings.Join(t.Scopes, ","), orNever(t.ExpiresAt), orNever(t.LastUsedAt))
}

func orNever(t models.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Format(time.RFC3339)
}
