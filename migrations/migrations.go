// Package migrations holds the schema: one folder of numbered SQL files for
// each engine, embedded in the binary and run by models.
package migrations

import "embed"

// FS holds sqlite/*.sql and postgres/*.sql, named as golang-migrate wants:
// NNNN_name.up.sql and NNNN_name.down.sql.
//
//go:embed sqlite/*.sql postgres/*.sql
var FS embed.FS
