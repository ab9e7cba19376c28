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

// writeBackup writes a copy of the SQLite database to a file. A server may be running on
// it. For PostgreSQL it only says how.
func writeBackup(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) (err error) {
	file, force, err := fileAndForce("backup", "replace FILE if it is there", args, stdout)
	if err != nil {
		return err
	}
	cfg, err := config.Load(getenv)
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	if cfg.DatabaseDriver == models.Postgres {
		return pgDump(cfg, file)
	}
	if keyFile(cfg) == "" {
		return errors.New("DATABASE_URL: a database in memory ends with its program and cannot be backed up")
	}
	db, err := openExisting(ctx, cfg)
	if err != nil {
		return err
	}
	defer closeStore(db, &err)
	begun := time.Now()
	size, err := db.Backup(ctx, file, force)
	switch {
	case errors.Is(err, models.ErrExists):
		return fmt.Errorf("%s: %w; choose another name or use --force", file, err)
	case errors.Is(err, models.ErrNoFile), errors.Is(err, models.ErrDatabase):
		return fmt.Errorf("%s: %w; choose another name", file, err)
	case models.Damaged(err):
		return fmt.Errorf("DATABASE_URL=%q is damaged, so no backup was made: run \"linkwatch check\", and restore an older backup: %w", cfg.DatabaseURL, err)
	case err != nil:
		return fmt.Errorf("%s was not written: %w", file, inFolder(file, err))
	}
	_, err = fmt.Fprintf(stdout, "%s: %s, verified in %s.\n%s\n",
		file, humanize.Bytes(uint64(size)), ui.Took(time.Since(begun)), aboutKey(cfg))
	return err
}

// inFolder is the error of a file that cannot be written, in plain words, with what to do.
func inFolder(file string, err error) error {
	folder := filepath.Dir(file)
	switch {
	case errors.Is(err, models.ErrNoSpace), errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%w: free disk space, or choose another disk", models.ErrNoSpace)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("there is no folder %s: create it, or choose another one", folder)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("the folder %s cannot be written to: change its permissions, or choose another one", folder)
	}
	return err
}

// aboutKey says what is needed to read stored credentials besides a backup. A backup does not
// hold the key: who finds one must not find the credentials.
func aboutKey(cfg config.Config) string {
	if cfg.SecretKey != "" {
		return "Stored credentials are readable only with the SECRET_KEY of this server. The backup does not hold it: keep it elsewhere."
	}
	return fmt.Sprintf("Stored credentials are readable only with the key in %s. The backup does not hold it: keep a copy elsewhere.", keyFile(cfg))
}

// fileAndForce reads the arguments of a command that takes a FILE and --force, in
// any order. It returns ErrUsage, after printing what is wrong, for others.
func fileAndForce(command, forceMeans string, args []string, stdout io.Writer) (file string, force bool, err error) {
	flags := flag.NewFlagSet(command, flag.ContinueOnError)
	flags.BoolVar(&force, "force", false, forceMeans)
	flags.SetOutput(stdout)
	flags.Usage = func() {
		fmt.Fprintf(stdout, "Usage: linkwatch %s FILE [--force]\n", command)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return "", false, ErrUsage
	}
	if file = flags.Arg(0); file == "" {
		flags.Usage()
		return "", false, ErrUsage
	}
	err = parseFlags(flags, flags.Args()[1:], stdout) // --force may come behind FILE
	return file, force, err
}
