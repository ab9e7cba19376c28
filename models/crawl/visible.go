package crawl

import (
	"gorm.io/gorm"

	"linkwatch/models"
)

// Visibility follows the source: users who cannot see a source cannot see its jobs, executions, pages, feeds, discovered
// links and frontier entries. Methods that accept a Job, an Execution or a Page rely on the caller having loaded it.

// ofVisibleSource returns the condition for rows of sources that the actor of tx can see. column holds the seq of the
// source. For admins and background jobs it is TRUE. Otherwise it looks up one source per row.
func ofVisibleSource(tx *gorm.DB, column string) (sql string, args []any) {
	sql, args = models.Visible(tx, "seen")
	if len(args) == 0 {
		return sql, nil
	}
	return "EXISTS (SELECT 1 FROM sources AS seen WHERE seen.seq = " + column + " AND " + sql + ")", args
}

// ofSharedSource starts the condition for rows of shared sources. The column with the source's seq and a closing bracket
// must follow. Only pages of shared sources go to a search engine, because anyone may query it.
const ofSharedSource = "EXISTS (SELECT 1 FROM sources AS o WHERE o.private_to = '' AND o.seq = "

// seesAll reports whether the actor of tx can see all sources.
func seesAll(tx *gorm.DB) bool {
	_, args := models.Visible(tx, "sources")
	return len(args) == 0
}

// joinArgs returns the arguments of a statement: those of a condition, and those after it.
func joinArgs(condition []any, after ...any) []any {
	return append(append([]any{}, condition...), after...)
}
