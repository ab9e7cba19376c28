package models_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"linkwatch/models"
)

// schemaQueries return all definitions of a schema, as lines. On SQLite the order of the indexes of a table counts: of
// two that serve a query equally well, the planner takes the newest.
var schemaQueries = map[string]string{
	models.SQLite: `SELECT type || ' ' || tbl_name || ' ' || sql FROM sqlite_master
		WHERE sql IS NOT NULL AND name <> 'sqlite_sequence'
		ORDER BY tbl_name, type = 'table' DESC, type, rowid`,
	models.Postgres: `WITH own AS (SELECT * FROM pg_class WHERE relnamespace = current_schema()::regnamespace)
		SELECT line FROM (
			SELECT 'relation ' || c.relname || ' ' || c.relkind::text || c.relpersistence::text || c.relreplident::text
				|| coalesce(c.reloptions::text, '') || coalesce(t.reloptions::text, '')
			FROM own AS c LEFT JOIN pg_class AS t ON t.oid = c.reltoastrelid
			UNION ALL SELECT 'column ' || c.relname || ' '
				|| row_number() OVER (PARTITION BY c.oid ORDER BY a.attnum) || ' ' || a.attname || ' '
				|| format_type(a.atttypid, a.atttypmod) || ' ' || coalesce(l.collname, '') || ' ' || a.attnotnull::text
				|| a.attidentity::text || a.attgenerated::text || a.attstorage::text || a.attcompression::text
				|| coalesce(a.attstattarget::text, '') || ' ' || coalesce(pg_get_expr(d.adbin, d.adrelid), '')
			FROM own AS c JOIN pg_attribute AS a ON a.attrelid = c.oid LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
				LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
			WHERE c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
			UNION ALL SELECT 'constraint ' || c.relname || ' ' || n.conname || ' ' || pg_get_constraintdef(n.oid)
				|| n.convalidated::text
			FROM own AS c JOIN pg_constraint AS n ON n.conrelid = c.oid WHERE n.contype <> 'n' -- columns have NOT NULL
			UNION ALL SELECT 'index ' || pg_get_indexdef(i.indexrelid) || i.indisvalid::text
			FROM own AS c JOIN pg_index AS i ON i.indrelid = c.oid
			UNION ALL SELECT 'trigger ' || pg_get_triggerdef(g.oid) || g.tgenabled::text
			FROM own AS c JOIN pg_trigger AS g ON g.tgrelid = c.oid WHERE NOT g.tgisinternal
			UNION ALL SELECT 'sequence ' || c.relname || ' ' || s.seqtypid::regtype::text || ' '
				|| concat_ws(' ', s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcache, s.seqcycle) || ' of '
				|| d.refobjid::regclass::text || ' ' || d.refobjsubid
			FROM own AS c JOIN pg_sequence AS s ON s.seqrelid = c.oid
				LEFT JOIN pg_depend AS d ON d.objid = c.oid AND d.deptype = 'i'
			UNION ALL SELECT 'function ' || pg_get_functiondef(oid) FROM pg_proc
			WHERE pronamespace = current_schema()::regnamespace
			UNION ALL SELECT 'type ' || typname FROM pg_type
			WHERE typnamespace = current_schema()::regnamespace AND typtype NOT IN ('c', 'b')
			UNION ALL SELECT 'statistics ' || pg_get_statisticsobjdef(oid) FROM pg_statistic_ext
			UNION ALL SELECT 'extension ' || extname FROM pg_extension) AS lines (line) ORDER BY line COLLATE "C"`,
}

var (
	commentOrQuote   = regexp.MustCompile(`--[^\n]*|"`)
	punctuationSpace = regexp.MustCompile(`\s*([(),])\s*`)
)

// schemaOf returns all definitions of the schema of a database, without comments, quotes of names and needless space.
func schemaOf(t *testing.T, db *models.DB) []string {
	t.Helper()
	var all []string
	if err := db.Read(t.Context()).Raw(schemaQueries[db.Engine]).Scan(&all).Error; err != nil {
		t.Fatal(err)
	}
	for i, line := range all {
		line = punctuationSpace.ReplaceAllString(commentOrQuote.ReplaceAllString(line, ""), "$1")
		all[i] = strings.Join(strings.Fields(line), " ")
	}
	return all
}

// rowsOf returns all rows of a database, without those of the table schema_migrations.
func rowsOf(t *testing.T, db *models.DB) []string {
	t.Helper()
	relations := `SELECT name FROM sqlite_master WHERE type = 'table'`
	if db.Engine == models.Postgres {
		relations = `SELECT relname FROM pg_class
			WHERE relkind IN ('r', 'S') AND relnamespace = current_schema()::regnamespace`
	}
	var names, all []string
	if err := db.Read(t.Context()).Raw(relations).Scan(&names).Error; err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		query := "SELECT * FROM " + name
		switch {
		case name == "schema_migrations":
			continue
		case name == "row_counts": // the slot depends on the connection
			query = "SELECT counted, block, private_to, state, CAST(sum(n) AS BIGINT) FROM row_counts GROUP BY 1, 2, 3, 4"
		case strings.HasSuffix(name, "_seq") && db.Engine == models.Postgres:
			query = "SELECT last_value, is_called FROM " + name
		}
		all = append(all, linesOf(t, db, name, query)...)
	}
	slices.Sort(all)
	return all
}

// linesOf returns a line for each row of a query, with a name before it.
func linesOf(t *testing.T, db *models.DB, name, query string) (lines []string) {
	t.Helper()
	rows, err := db.Read(t.Context()).Raw(query).Rows()
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	for err == nil && rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		err = rows.Scan(into...)
		lines = append(lines, name+": "+fmt.Sprint(values))
	}
	if err := errors.Join(err, rows.Err()); err != nil {
		t.Fatal(err)
	}
	return lines
}

// wantSame reports the lines in which two descriptions of a database differ.
func wantSame(t *testing.T, what string, got, want []string) {
	t.Helper()
	if len(want) == 0 {
		t.Fatalf("%s: nothing to compare", what)
	}
	if slices.Equal(got, want) {
		return
	}
	differ := false
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("%s: unexpected %s", what, line)
			differ = true
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("%s: missing %s", what, line)
			differ = true
		}
	}
	if !differ {
		t.Errorf("%s: got another order:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
