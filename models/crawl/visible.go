package crawl

import (
	"gorm.io/gorm"

	"linkwatch/models"
)

// All that belongs to a source follows it: who does not see the source does not see its
// jobs, executions, pages, feeds, discovered links and entries of the frontier. The reads
// that take a Job, an Execution or a Page rely on that its caller has loaded it.

// ofVisibleSource is the condition for rows that belong to a source which the actor of tx
// may see. column holds the seq of the source. For admins and background work it is TRUE;
// else it looks one source up for each row.
func ofVisibleSource(tx *gorm.DB, column string) (sql string, args []any) {
	sql, args = models.Visible(tx, "seen")
	if len(args) == 0 {
		return sql, nil
	}
	return "EXISTS (SELECT 1 FROM sources AS seen WHERE seen.seq = " + column + " AND " + sql + ")", args
}

// ofSharedSource begins the condition for what belongs to a shared source: the column with
// the source's seq and a bracket follow. Only its pages go to a search engine, where nobody
// knows who asks, and whose indexes have the names of sources.
const ofSharedSource = "EXISTS (SELECT 1 FROM sources AS o WHERE o.private_to = '' AND o.seq = "

// seesAll reports whether the actor of tx sees all sources.
func seesAll(tx *gorm.DB) bool {
	_, args := models.Visible(tx, "sources")
	return len(args) == 0
}

// with are the arguments of a statement: those before a condition, its own, and those
// after it.
func with(condition []any, after ...any) []any {
	return append(append([]any{}, condition...), after...)
}
