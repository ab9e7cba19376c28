package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/ncruces/go-sqlite3"

	"linkwatch/config"
	"linkwatch/models"
)

// openStore opens the database and updates its schema.
func openStore(ctx context.Context, cfg config.Config, log *slog.Logger) (*models.DB, error) {
	db, err := models.Open(ctx, cfg.DatabaseDriver, string(cfg.DatabaseURL), log)
	if err != nil {
		return nil, storeError(cfg, err)
	}
	if err := db.Migrate(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// openExisting opens the database without creating a file or changing the schema.
func openExisting(ctx context.Context, cfg config.Config) (*models.DB, error) {
	if file := models.SQLiteFile(string(cfg.DatabaseURL)); cfg.DatabaseDriver == models.SQLite {
		info, err := os.Stat(file)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil, fmt.Errorf("DATABASE_URL=%q: no such file", cfg.DatabaseURL)
		case err == nil && info.Size() == 0:
			return nil, fmt.Errorf("DATABASE_URL=%q: the file is empty", cfg.DatabaseURL)
		}
	}
	db, err := models.Open(ctx, cfg.DatabaseDriver, string(cfg.DatabaseURL), slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, storeError(cfg, err)
	}
	return db, nil
}

// withCore calls do with the core of a command over the database of the settings, and closes both afterwards. Logs go
// to standard error: scripts read the output.
func withCore(ctx context.Context, getenv func(string) string, do func(*core) error) (err error) {
	cfg, err := config.Load(getenv)
	if err != nil {
		return fmt.Errorf("invalid setting: %w", err)
	}
	log := newLogger(cfg, os.Stderr, os.Stderr)
	db, err := openStore(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer closeStore(db, &err)
	secrets, err := newSecretBox(cfg)
	if err != nil {
		return err
	}
	c, err := newCore(Options{Config: cfg, DB: db, Log: log, Secrets: secrets})
	if err != nil {
		return err
	}
	defer c.close()
	return do(c)
}

// storeError returns an error that names the setting to check when the database cannot be opened.
func storeError(cfg config.Config, err error) error {
	if models.NoConnection(err) {
		return fmt.Errorf("DATABASE_URL: PostgreSQL or its pooler has no free connection. "+
			"Raise max_connections or default_pool_size, or use a pooler in transaction mode: %w", err)
	}
	if cfg.DatabaseDriver == models.Postgres {
		return fmt.Errorf("DATABASE_URL: cannot connect. Check that PostgreSQL runs, and the host, user, password and database name: %w", err)
	}
	if errors.Is(err, sqlite3.CANTOPEN) {
		return fmt.Errorf("DATABASE_URL=%q cannot be opened. Check that its folder exists and is writable",
			cfg.DatabaseURL)
	}
	switch fault := models.FaultOf(err); {
	case models.Damaged(err):
		return fmt.Errorf("DATABASE_URL=%q is damaged. Run \"linkwatch check\", and restore a backup", cfg.DatabaseURL)
	case fault != nil:
		return fmt.Errorf("DATABASE_URL=%q cannot be opened: %s (%w)", cfg.DatabaseURL, fault.Detail, err)
	}
	const unchanged = "and was not changed. Use a new file, or a database of Linkwatch"
	switch {
	case errors.Is(err, models.ErrNotSQLite):
		return fmt.Errorf("DATABASE_URL=%q is not an SQLite database, %s", cfg.DatabaseURL, unchanged)
	case errors.Is(err, models.ErrForeign):
		return fmt.Errorf("DATABASE_URL=%q is an SQLite database of another program, %s", cfg.DatabaseURL, unchanged)
	}
	return fmt.Errorf("DATABASE_URL=%q: %w", cfg.DatabaseURL, err)
}

// closeStore closes the database and adds an error to *err.
func closeStore(db *models.DB, err *error) { *err = errors.Join(*err, db.Close()) }
