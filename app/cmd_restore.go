package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"text/tabwriter"
	"time"

	"gorm.io/gorm"

	"linkwatch/config"
	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/views/ui"
)

// restoreBackup replaces the SQLite database with a backup. No server may use the database. For PostgreSQL, its error names
// the command to run.
func restoreBackup(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	var force forceFlag
	rest, err := parse("restore", force.forRestore, args, "FILE", stdout)
	if err != nil {
		return err
	}
	file := rest[0]
	cfg, err := config.Load(getenv)
	if err != nil {
		return fmt.Errorf("invalid setting: %w", err)
	}
	if cfg.DatabaseDriver == models.Postgres {
		return pgRestore(cfg, file)
	}
	key := keyFile(cfg)
	if databaseFile(cfg) == "" {
		return errors.New("DATABASE_URL: an in-memory database cannot be restored. Set it to a file")
	}
	database := models.SQLiteFile(string(cfg.DatabaseURL))
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("%s: no such file. Name a backup", file)
	}
	var back accounts.Restored
	r, err := models.Restore(ctx, file, database, bool(force), func(tx *gorm.DB) (err error) {
		back, err = accounts.AfterRestore(tx, models.At(time.Now()))
		return err
	})
	switch {
	case errors.Is(err, models.ErrNoFile):
		return fmt.Errorf("%s: %w. Name a backup", file, err)
	case models.Damaged(err):
		return fmt.Errorf("%s is damaged. The database is unchanged. Choose another backup: %w", file, err)
	case errors.Is(err, models.ErrNotEmpty):
		return fmt.Errorf("DATABASE_URL=%q: %w. Use --force to replace it: its files are renamed, not deleted", cfg.DatabaseURL, err)
	case errors.Is(err, models.ErrDangling):
		return fmt.Errorf("DATABASE_URL=%q: %w. Set it to the file itself", cfg.DatabaseURL, err)
	case errors.Is(err, models.ErrInUse):
		return fmt.Errorf("DATABASE_URL=%q: %w. Stop the server first", cfg.DatabaseURL, err)
	case err != nil:
		return fmt.Errorf("restore %s: the database is unchanged: %w", file, writeError(database, err))
	}
	fmt.Fprintf(stdout, "Restored %s with schema version %d. The server updates the schema when it starts.\n", file, r.Schema)
	if r.Kept != "" {
		fmt.Fprintf(stdout, "The previous database was renamed to %s. Delete it when you no longer need it.\n", r.Kept)
	}
	if err := printRestoredAccess(back, stdout); err != nil {
		return err
	}
	if cfg.SecretKey == "" && isMissing(key) && isMissing(oldKeyFile(cfg)) {
		fmt.Fprintf(stdout, "The key file %s does not exist. Copy the one that belongs to the backup, or enter all stored credentials again.\n", key)
	}
	return nil
}

func isMissing(file string) bool {
	_, err := os.Stat(file)
	return err != nil
}

// printRestoredAccess says who has access to a restored database: accounts and tokens are as they were in the backup.
func printRestoredAccess(back accounts.Restored, stdout io.Writer) error {
	if back.Sessions > 0 {
		fmt.Fprintf(stdout, "%s ended: all users must sign in again.\n", ui.Plural(back.Sessions, "session"))
	}
	if back.Users > 0 {
		fmt.Fprintln(stdout, "Accounts have the roles and passwords of the backup, also those that were disabled or deleted later.")
	}
	if len(back.Tokens) == 0 {
		return nil
	}
	fmt.Fprintf(stdout, "These API tokens are valid again. Revoke those that were revoked after the backup: linkwatch token revoke ID\n\n")
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	printTokenHead(table)
	for _, t := range back.Tokens {
		printToken(table, t)
	}
	return table.Flush()
}
