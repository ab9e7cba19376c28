package models

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// MinPostgres is the oldest major version of PostgreSQL that Linkwatch supports.
const MinPostgres = 15

// postgresServer is what Linkwatch needs to know about a PostgreSQL server, its database and the role that connects.
type postgresServer struct {
	Version    string
	VersionNum int
	Encoding   string
	Database   string
	Role       string
	SearchPath string
	SchemaName string // the schema of new tables; "" = none exists, or the role may not use it
	MayCreate  bool   // tables in that schema
	Replica    bool
	ReadOnly   bool   // new transactions cannot write
	OwnedBy    string // the owner of the tables, if this role cannot change them; "" = none
	Unusable   string // some tables that this role cannot read and write; "" = none
	Elsewhere  string // another schema of the search_path that has the tables; "" = none
}

// Tables of Linkwatch are those in the current schema with the owner of schema_migrations, without those of extensions.
// A role can change the tables of the roles that it is a member of.
const aboutPostgres = `WITH here AS (SELECT oid, relname, relowner FROM pg_class
		WHERE relkind = 'r' AND relnamespace = to_regnamespace(quote_ident(current_schema()))),
	tables AS (SELECT oid, relname, relowner FROM here
		WHERE relowner = (SELECT relowner FROM here WHERE relname = 'schema_migrations')
			AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = here.oid AND deptype = 'e'))
	SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS version_num,
		current_setting('server_encoding') AS encoding, current_database() AS database, current_user AS role,
		current_setting('search_path') AS search_path, coalesce(current_schema(), '') AS schema_name,
		coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS may_create, pg_is_in_recovery() AS replica,
		current_setting('transaction_read_only') = 'on' AS read_only,
		coalesce((SELECT string_agg(DISTINCT pg_get_userbyid(relowner), ', ') FROM tables
			WHERE NOT pg_has_role(relowner, 'USAGE')), '') AS owned_by,
		coalesce((SELECT string_agg(relname, ', ') FROM (SELECT relname FROM tables
			WHERE NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
				AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))
			ORDER BY relname LIMIT 3) t), '') AS unusable,
		coalesce((SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = to_regclass('check_results')
			AND NOT EXISTS (SELECT 1 FROM here WHERE relname = 'schema_migrations')), '') AS elsewhere`

// CheckServer returns an error that says what to do if the PostgreSQL server, the database or the role does not meet a
// condition of Linkwatch. pending says that the schema has to be migrated, which needs more rights than its use. On
// SQLite there are no conditions.
func (db *DB) CheckServer(ctx context.Context, pending bool) error {
	problems, err := db.serverProblems(ctx, pending)
	if err != nil {
		return err
	}
	var all []error
	for _, p := range problems {
		all = append(all, errors.New("DATABASE_URL: "+p))
	}
	return errors.Join(all...)
}

func (db *DB) serverProblems(ctx context.Context, pending bool) ([]string, error) {
	if db.Engine != Postgres {
		return nil, nil
	}
	var s postgresServer
	if err := db.Read(ctx).Raw(aboutPostgres).Scan(&s).Error; err != nil {
		return nil, fmt.Errorf("read the properties of the PostgreSQL server: %w", err)
	}
	return s.problems(pending), nil
}

// problems returns a sentence for each condition that is not met, and what to do.
func (s postgresServer) problems(pending bool) (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	role, database, schema := quoted(s.Role), quoted(s.Database), quoted(s.SchemaName)
	if s.VersionNum/10000 < MinPostgres {
		add("PostgreSQL has version %s. Linkwatch needs version %d or newer: upgrade the server", s.Version, MinPostgres)
	}
	if s.Encoding != "UTF8" {
		add("the database has the encoding %s. Linkwatch needs UTF8: use a database made with "+
			"CREATE DATABASE name ENCODING 'UTF8' LOCALE 'C.UTF-8' TEMPLATE template0", s.Encoding)
	}
	switch {
	case s.Replica:
		add("the server is a read-only replica. Use the primary server. " +
			"If the URL has several hosts, add target_session_attrs=read-write")
	case s.ReadOnly:
		add("transactions are read-only. Run ALTER ROLE %s IN DATABASE %s SET default_transaction_read_only = off",
			role, database)
	case s.SchemaName == "":
		add("no schema of the search_path (%s) exists for the role %s. Run CREATE SCHEMA name AUTHORIZATION %s "+
			"and ALTER ROLE %s IN DATABASE %s SET search_path = name", s.SearchPath, s.Role, role, role, database)
	case s.Elsewhere != "":
		add("the schema %s has the tables of Linkwatch, but new tables would be in %s. "+
			"Put the right schema first in the search_path", s.Elsewhere, s.SchemaName)
	case pending && !s.MayCreate:
		add("the role %s cannot create tables in the schema %s. "+
			"Run GRANT CREATE, USAGE ON SCHEMA %s TO %s as the owner of the database", s.Role, s.SchemaName, schema, role)
	case pending && s.OwnedBy != "":
		add("tables in the schema %s belong to the role %s, so %s cannot migrate them. "+
			"Run \"linkwatch migrate up\" as that role, or GRANT it TO %s", s.SchemaName, s.OwnedBy, s.Role, role)
	case !pending && s.Unusable != "":
		add("the role %s cannot read and change all tables (%s). "+
			"Run GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %s TO %s", s.Role, s.Unusable, schema, role)
	}
	return all
}

func quoted(name string) string {
	return pgx.Identifier{strings.ToValidUTF8(name, "")}.Sanitize()
}
