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

// pgKeyFile is the key file beside a database on a server, in the working directory.
const pgKeyFile = "linkwatch.key"

// newSecretBox makes the box that seals stored credentials. Its key is made from
// SECRET_KEY, else it is in a file that is made at the first start: the SQLite file's
// name with ".key", or pgKeyFile. A database in memory has a key in memory.
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
		return nil, fmt.Errorf("SECRET_KEY is not set, so the key for stored credentials is in a file: %w", err)
	}
	return box, nil
}

// keyFile is the file that holds the key; "" = the database is in memory.
func keyFile(cfg config.Config) string {
	if cfg.DatabaseDriver == models.Postgres {
		return pgKeyFile
	}
	dsn := string(cfg.DatabaseURL)
	file := models.SQLiteFile(dsn)
	_, query, _ := strings.Cut(dsn, "?")
	options, err := url.ParseQuery(query)
	if err != nil { // as models.Open has it
		options = nil
	}
	if file == "" || file == ":memory:" || options.Get("mode") == "memory" || options.Get("vfs") == "memdb" {
		return ""
	}
	return file + ".key"
}
