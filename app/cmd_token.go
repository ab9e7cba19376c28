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

// manageTokens runs linkwatch token add | list | revoke.
func manageTokens(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	if len(args) == 0 {
		usage(stdout)
		return ErrUsage
	}
	flags := flag.NewFlagSet("token "+args[0], flag.ContinueOnError)
	var name, scopes string
	var expires time.Duration
	switch args[0] {
	case "add":
		flags.StringVar(&name, "name", "", "what the token is for")
		flags.StringVar(&scopes, "scope", "read", "scopes, separated by commas: "+strings.Join(accounts.AllScopes(), ", "))
		flags.DurationVar(&expires, "expires", 0, "when it expires, such as 2160h; 0 = never")
	case "list", "revoke":
	default:
		return noCommand(stdout, "token "+args[0])
	}
	given, err := nameAndFlags(flags, args[1:], args[0] != "list", stdout)
	if err != nil {
		return err
	}
	return withAccounts(ctx, getenv, stdout, func(ctx context.Context, s *accounts.Store) error {
		switch args[0] {
		case "revoke":
			if err := s.Revoke(ctx, nil, given); err != nil {
				return plain(err)
			}
			_, err := fmt.Fprintln(stdout, "Revoked. The token opens nothing from now on.")
			return err
		case "list":
			return listTokens(ctx, s, given, stdout)
		}
		return addToken(ctx, s, given, name, scopes, expires, stdout)
	})
}

func addToken(ctx context.Context, s *accounts.Store, username, name, scopes string, expires time.Duration, stdout io.Writer) error {
	u, err := s.ByName(ctx, username)
	if err != nil {
		return plain(err)
	}
	n := accounts.NewToken{Name: name, Scopes: strings.Split(scopes, ","), By: u.Role}
	if n.Name == "" {
		n.Name = "Command line"
	}
	if expires != 0 {
		n.ExpiresAt = s.Now().Add(expires)
	}
	_, secret, err := s.AddToken(ctx, u, n)
	if err != nil {
		return plain(err)
	}
	_, err = fmt.Fprintln(stdout, secret) // alone, for scripts
	return err
}

func listTokens(ctx context.Context, s *accounts.Store, username string, stdout io.Writer) error {
	var of *accounts.User
	if username != "" {
		u, err := s.ByName(ctx, username)
		if err != nil {
			return plain(err)
		}
		of = &u
	}
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tUSER\tNAME\tSCOPES\tEXPIRES\tLAST USED")
	after := models.Cursor{}
	for {
		l, err := s.Tokens(ctx, of, after, listAll)
		if err != nil {
			return err
		}
		for _, t := range l.Items {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, t.Username, t.Name, strings.Join(t.Scopes, ","), orNever(t.ExpiresAt), orNever(t.LastUsedAt))
		}
		if after = l.Next; !l.More() {
			return table.Flush()
		}
	}
}

func orNever(t models.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Format(time.RFC3339)
}
