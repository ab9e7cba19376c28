package app

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"linkwatch/config"
)

// pgDump is the error of a backup of PostgreSQL: it says which command makes one.
func pgDump(cfg config.Config, file string) error {
	return pgCommand(cfg, "backed up with PostgreSQL's own program",
		"pg_dump --format=custom --no-owner --file="+shellQuote(file))
}

// pgRestore is the error of a restore to PostgreSQL: it says which command does it.
func pgRestore(cfg config.Config, file string) error {
	return pgCommand(cfg, "restored with PostgreSQL's own program, after all instances of Linkwatch are stopped",
		"pg_restore --clean --if-exists --no-owner --single-transaction", shellQuote(file))
}

// pgCommand has the command with the server of the settings, without the password: what is
// on a command line is seen by all users of the machine.
func pgCommand(cfg config.Config, how, command string, last ...string) error {
	c, err := pgconn.ParseConfig(string(cfg.DatabaseURL))
	if err != nil {
		return fmt.Errorf("DATABASE_URL is on PostgreSQL and is %s, but it cannot be read", how) // the error holds parts of it
	}
	parts := append([]string{
		command, "--host=" + shellQuote(c.Host), "--port=" + strconv.Itoa(int(c.Port)),
		"--username=" + shellQuote(c.User), "--dbname=" + shellQuote(c.Database),
	}, last...)
	return fmt.Errorf("DATABASE_URL is on PostgreSQL, which is %s:\n\n  %s\n\n"+
		"It asks for the password, or takes it from PGPASSWORD or ~/.pgpass.\n%s", how, strings.Join(parts, " "), aboutKey(cfg))
}

// shellQuote is a text as one word of a command line.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
