package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"linkwatch/config"
	"linkwatch/models"
)

// restoreBackup puts a backup in the place of the SQLite database, on which no server may
// run. For PostgreSQL it only says how.
func restoreBackup(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	file, force, err := fileAndForce("restore", "replace a database that is not empty; it is kept under another name", args, stdout)
	if err != nil {
		return err
	}
	cfg, err := config.Load(getenv)
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	if cfg.DatabaseDriver == models.Postgres {
		return pgRestore(cfg, file)
	}
	key := keyFile(cfg)
	if key == "" {
		return errors.New("DATABASE_URL: a database in memory cannot be restored: name a file")
	}
	database := models.SQLiteFile(string(cfg.DatabaseURL))
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("%s: there is no such file; name a backup", file)
	}
	r, err := models.Restore(ctx, file, database, force)
	switch {
	case errors.Is(err, models.ErrNoFile):
		return fmt.Errorf("%s: %w; name a backup", file, err)
	case models.Damaged(err):
		return fmt.Errorf("%s is damaged and was not restored; the database is as it was. Take another backup: %w", file, err)
	case errors.Is(err, models.ErrNotEmpty):
		return fmt.Errorf("DATABASE_URL=%q: %w; --force replaces it and keeps it under another name", cfg.DatabaseURL, err)
	case errors.Is(err, models.ErrDangling):
		return fmt.Errorf("DATABASE_URL=%q: %w; name the file itself", cfg.DatabaseURL, err)
	case errors.Is(err, models.ErrInUse):
		return fmt.Errorf("DATABASE_URL=%q: %w; stop the server first", cfg.DatabaseURL, err)
	case err != nil:
		return fmt.Errorf("%s was not restored, and the database is as it was: %w", file, inFolder(database, err))
	}
	fmt.Fprintf(stdout, "%s is now the database, with schema %d. The next start of the server brings the schema to the newest version.\n", file, r.Schema)
	if r.Kept != "" {
		fmt.Fprintf(stdout, "The database before it is kept as %s: delete that when you no longer need it.\n", r.Kept)
	}
	if _, err := os.Stat(key); cfg.SecretKey == "" && err != nil {
		fmt.Fprintf(stdout, "There is no key file %s. Put the one there that belongs to the backup, or enter all stored credentials again.\n", key)
	}
	return nil
}
