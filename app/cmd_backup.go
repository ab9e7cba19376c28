package app

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"

	"linkwatch/config"
	"linkwatch/models"
	"linkwatch/views/ui"
)

// writeBackup writes a copy of the SQLite database to a file, also while a server uses it. For PostgreSQL, its error names
// the command to run.
func writeBackup(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) (err error) {
	var force forceFlag
	rest, err := parse("backup", force.forBackup, args, "FILE", stdout)
	if err != nil {
		return err
	}
	file := rest[0]
	cfg, err := config.Load(getenv)
	if err != nil {
		return fmt.Errorf("invalid setting: %w", err)
	}
	if cfg.DatabaseDriver == models.Postgres {
		return pgDump(cfg, file)
	}
	if databaseFile(cfg) == "" {
		return errors.New("DATABASE_URL: an in-memory database cannot be backed up")
	}
	db, err := openExisting(ctx, cfg)
	if err != nil {
		return err
	}
	defer closeStore(db, &err)
	started := time.Now()
	size, err := db.Backup(ctx, file, bool(force))
	switch {
	case errors.Is(err, models.ErrExists):
		return fmt.Errorf("%s: %w. Choose another name, or use --force", file, err)
	case errors.Is(err, models.ErrNoFile), errors.Is(err, models.ErrDatabase):
		return fmt.Errorf("%s: %w. Choose another name", file, err)
	case models.Damaged(err):
		return fmt.Errorf("DATABASE_URL=%q is damaged. Run \"linkwatch check\", and restore an older backup: %w", cfg.DatabaseURL, err)
	case err != nil:
		return fmt.Errorf("write %s: %w", file, writeError(file, err))
	}
	_, err = fmt.Fprintf(stdout, "%s: %s, verified in %s.\n%s\n",
		file, humanize.Bytes(uint64(size)), ui.ShortDuration(time.Since(started)), keyHint(cfg))
	return err
}

// writeError turns the error of writing a file into one that says what to do.
func writeError(file string, err error) error {
	folder := filepath.Dir(file)
	switch {
	case errors.Is(err, models.ErrNoSpace), errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%w. Free disk space, or choose another disk", models.ErrNoSpace)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("the folder %s does not exist. Create it, or choose another one", folder)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("the folder %s is not writable. Change its permissions, or choose another one", folder)
	}
	return err
}

// keyHint says which key stored credentials need. Backups never contain the key, so a stolen backup does not expose them.
func keyHint(cfg config.Config) string {
	if cfg.SecretKey != "" {
		return "The backup does not contain SECRET_KEY, which decrypts stored credentials. Keep it in another place."
	}
	return fmt.Sprintf("The backup does not contain the key file %s, which decrypts stored credentials. Keep a copy of it in another place.", keyFile(cfg))
}

type forceFlag bool

func (f *forceFlag) forBackup(flags *flag.FlagSet) {
	flags.BoolVar((*bool)(f), "force", false, "Overwrite FILE if it exists")
}

func (f *forceFlag) forRestore(flags *flag.FlagSet) {
	flags.BoolVar((*bool)(f), "force", false, "Replace a database that is not empty. Its files are renamed, not deleted")
}
