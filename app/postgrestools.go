package app

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"linkwatch/config"
)

// pgDump returns an error that names the command for a backup of PostgreSQL.
func pgDump(cfg config.Config, file string) error {
	return pgCommand(cfg, "a backup", "pg_dump",
		"pg_dump --format=custom --no-owner --file="+shellQuote(file))
}

// pgRestore returns an error that names the command for a restore to PostgreSQL.
func pgRestore(cfg config.Config, file string) error {
	err := pgCommand(cfg, "a restore, after all instances of Linkwatch are stopped", "pg_restore",
		"pg_restore --clean --if-exists --no-owner --single-transaction", shellQuote(file))
	return fmt.Errorf("%w\nBefore the start, end the sessions of the backup with the SQL statement DELETE FROM sessions. "+
		"\"linkwatch token list\" lists the API tokens that are valid again", err)
}

// pgCommand completes a command with the connection of the settings. It leaves out the password, since all users of a machine
// can see command lines.
func pgCommand(cfg config.Config, purpose, tool, command string, last ...string) error {
	c, err := pgconn.ParseConfig(string(cfg.DatabaseURL))
	if err != nil {
		return fmt.Errorf("DATABASE_URL cannot be parsed. Use %s for %s", tool, purpose) // err contains parts of the URL
	}
	parts := append([]string{
		command, "--host=" + shellQuote(c.Host), "--port=" + strconv.Itoa(int(c.Port)),
		"--username=" + shellQuote(c.User), "--dbname=" + shellQuote(c.Database),
	}, last...)
	return fmt.Errorf("DATABASE_URL is a PostgreSQL database. Use %s for %s:\n\n  %s\n\n"+
		"It reads the password from PGPASSWORD or ~/.pgpass, or prompts for it.\n%s", tool, purpose, strings.Join(parts, " "), keyHint(cfg))
}

// shellQuote quotes a text as one word of a command line.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
