package app

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"

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
	file := keyFile(cfg)
	if file == "" {
		return secret.FromText(rand.Text())
	}
	box, err := secret.FromFile(file)
	if err != nil {
		return nil, fmt.Errorf("key file (SECRET_KEY is not set): %w", err)
	}
	return box, nil
}

// keyFile returns the file with the key, "" for a database in memory.
func keyFile(cfg config.Config) string {
	if cfg.DatabaseDriver == models.Postgres {
		return pgKeyFile
	}
	dsn := string(cfg.DatabaseURL)
	file := models.SQLiteFile(dsn)
	_, query, _ := strings.Cut(dsn, "?")
	options, err := url.ParseQuery(query)
	if err != nil { // models.Open ignores it too
		options = nil
	}
	if file == "" || file == ":memory:" || options.Get("mode") == "memory" || options.Get("vfs") == "memdb" {
		return ""
	}
	return file + ".key"
}
