package app

import (
	"crypto/rand"
	"fmt"

	"linkwatch/config"
	"linkwatch/models"
	"linkwatch/models/secret"
)

// pgKeyFile is the key file for a PostgreSQL database, in the working directory.
const pgKeyFile = "linkwatch.key"

// newSecretBox returns the box that encrypts stored credentials. The key comes from SECRET_KEY. Otherwise it is in a file that
// the first start creates: the name of the SQLite file with ".key", or pgKeyFile. For a database in memory the key is random.
func newSecretBox(cfg config.Config) (*secret.Box, error) {
	if cfg.SecretKey != "" {
		return secret.FromText(string(cfg.SecretKey))
	}
	file, old := keyFile(cfg), oldKeyFile(cfg)
	if file == "" {
		return secret.FromText(rand.Text())
	}
	var err error
	if old != file {
		err = secret.Adopt(file, old)
	}
	var box *secret.Box
	if err == nil {
		box, err = secret.FromFile(file)
	}
	if err != nil {
		return nil, fmt.Errorf("key file (SECRET_KEY is not set): %w", err)
	}
	return box, nil
}

// keyFile returns the file with the key, "" for a database in memory. It is beside the database itself, so that all
// names of the database lead to the same key.
func keyFile(cfg config.Config) string {
	if file := databaseFile(cfg); file != "" {
		return models.RealFile(file) + ".key"
	}
	return oldKeyFile(cfg)
}

// oldKeyFile returns the file that had the key when a symbolic link to a database had a key of its own.
func oldKeyFile(cfg config.Config) string {
	if cfg.DatabaseDriver == models.Postgres {
		return pgKeyFile
	}
	if file := databaseFile(cfg); file != "" {
		return file + ".key"
	}
	return ""
}

// databaseFile returns the file of DATABASE_URL. It is "" for PostgreSQL and for a database in memory.
func databaseFile(cfg config.Config) string {
	if dsn := string(cfg.DatabaseURL); cfg.DatabaseDriver != models.Postgres && !models.InMemory(dsn) {
		return models.SQLiteFile(dsn)
	}
	return ""
}
