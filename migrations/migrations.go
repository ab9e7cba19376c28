// Package migrations embeds the schema migrations: a directory of numbered SQL files for each engine.
package migrations

import "embed"

// FS holds sqlite/*.sql and postgres/*.sql, named for golang-migrate: NNNN_name.up.sql and NNNN_name.down.sql.
//
//go:embed sqlite/*.sql postgres/*.sql
var FS embed.FS
