package models

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
)

// DatabaseDown says whether err is of the way to the database rather than of
// what it was asked: no connection, or a PostgreSQL that is full, starting or
// stopping, or an SQLite file that another program has locked for too long.
// (Fetches that fail are not errors of this kind: see links.FetchError.)
func DatabaseDown(err error) bool {
	if _, ok := errors.AsType[*net.OpError](err); ok || isBusy(err) {
		return true
	}
	for _, cut := range []error{driver.ErrBadConn, sql.ErrConnDone, io.ErrUnexpectedEOF, io.EOF} {
		if errors.Is(err, cut) {
			return true
		}
	}
	pg, ok := errors.AsType[postgresError](err)
	if !ok {
		return false
	}
	switch state := pg.SQLState(); state[:min(2, len(state))] {
	case "08", "53", "57": // connections, resources, an operator's doing
		return true
	}
	return false
}

// postgresError is an error with a state of PostgreSQL.
type postgresError interface {
	error
	SQLState() string
}
