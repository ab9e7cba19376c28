package models

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// maxProblems limits the problems reported for one part of the database.
const maxProblems = 20

// Examination is the result of checking one part of the database.
type Examination struct {
	Name     string // "connection", "server", "schema", "integrity", "references" or "indexes"
	Detail   string // what was checked or found; may be empty
	Problems []string
}

// Examine checks the database for damage. On SQLite it runs PRAGMA integrity_check and foreign_key_check, which
// read the whole file. On PostgreSQL it checks the conditions of CheckServer and looks for invalid indexes. Both also
// check the connection and the version of the schema. It changes nothing. A check that fails to run is a problem too.
func (db *DB) Examine(ctx context.Context) []Examination {
	all := []Examination{db.examineConnection(ctx)}
	if len(all[0].Problems) > 0 {
		return all
	}
	if db.Engine == Postgres {
		all = append(all, db.examineServer(ctx), db.examineSchema(ctx))
		return append(all, db.examineBy(ctx, "indexes",
			`SELECT 'index ' || c.relname || ' is invalid: run REINDEX INDEX ' || c.relname
			FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname = current_schema() AND NOT (i.indisvalid AND i.indisready) ORDER BY c.relname LIMIT `+strconv.Itoa(maxProblems)))
	}
	return append(all, db.examineSchema(ctx),
		db.examineBy(ctx, "integrity", `SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok' LIMIT `+strconv.Itoa(maxProblems)),
		db.examineBy(ctx, "references", `SELECT 'table ' || "table" || ', row ' || coalesce(rowid, '?') || ' refers to a row that is missing in ' || parent
			FROM pragma_foreign_key_check LIMIT `+strconv.Itoa(maxProblems)))
}

func (db *DB) examineConnection(ctx context.Context) Examination {
	e := Examination{Name: "connection"}
	version := "SELECT 'SQLite ' || sqlite_version()"
	if db.Engine == Postgres {
		version = "SELECT 'PostgreSQL ' || current_setting('server_version')"
	}
	return e.with(db.Read(ctx).Raw(version).Scan(&e.Detail).Error)
}

func (db *DB) examineServer(ctx context.Context) Examination {
	problems, err := db.serverProblems(ctx, false)
	return Examination{Name: "server", Problems: problems}.with(err)
}

func (db *DB) examineSchema(ctx context.Context) Examination {
	e := Examination{Name: "schema"}
	want, err := newestVersion(db.Engine)
	if err != nil {
		return e.with(err)
	}
	var have int
	if err := db.Read(ctx).Raw(`SELECT COALESCE(MAX(version), -1) FROM schema_migrations`).Scan(&have).Error; err != nil {
		e.Problems = []string{"cannot read the schema version; if the database is new, run \"linkwatch migrate up\""}
		return e.with(err)
	}
	e.Detail = fmt.Sprintf("version %d", have)
	switch {
	case isOld(have):
		e.Problems = []string{"the database " + oldSchema(have)}
	case have < want:
		e.Problems = []string{fmt.Sprintf("this program needs version %d: run \"linkwatch migrate up\"", want)}
	case have > want:
		e.Problems = []string{fmt.Sprintf("this program supports versions up to %d: use a newer Linkwatch", want)}
	}
	return e
}

// examineBy runs a query that returns problems, one or more lines per row.
func (db *DB) examineBy(ctx context.Context, name, query string) Examination {
	e := Examination{Name: name}
	var found []string
	err := db.Read(ctx).Raw(query).Scan(&found).Error
	if len(found) > 0 {
		e.Problems = strings.Split(strings.Join(found, "\n"), "\n")
		e.Problems = e.Problems[:min(len(e.Problems), maxProblems)]
	}
	return e.with(err)
}

// with adds the error that ended a check, if any.
func (e Examination) with(err error) Examination {
	if err != nil {
		e.Problems = append(e.Problems, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return e
}
