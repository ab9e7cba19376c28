package shortlinks

import (
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// tables are the tables of short links with their visits.
type tables struct{ links, days, referrers string }

// A short link is in one of these. Redirects read the live tables. The reaper moves expired short links to the archive;
// an edit that reactivates one moves it back. Deleted short links stay where they are.
var (
	live    = tables{"short_links", "short_link_days", "short_link_referrers"}
	archive = tables{"archived_short_links", "archived_short_link_days", "archived_short_link_referrers"}
)

// Columns of the tables, of the archive too.
const (
	linkColumns = "seq, short_key, long_url, canonical_url, title, search_text, max_visits, disabled, created_at, updated_at, version, " +
		"expires_at, exhausted_at, deleted_at, visits, bots, last_visited_at, owner, private_to, direct, previews"
	dayColumns      = "short_link_seq, bucket_start, bots, desktop, mobile, tablet, other, previews"
	referrerColumns = "short_link_seq, host, visits"
)

// allLinks has all short links. Both engines push conditions and orders down to the indexes of its tables.
const allLinks = "(SELECT " + linkColumns + " FROM short_links UNION ALL SELECT " + linkColumns + " FROM archived_short_links) AS short_links"

// asLinks is the table of short links under the name of the live one.
func (t tables) asLinks() string { return t.links + " AS short_links" }

// move moves short links with their visits.
func move(tx *gorm.DB, from, to tables, seqs []int64) error {
	for _, t := range []struct{ from, to, columns, link string }{
		{from.links, to.links, linkColumns, "seq"},
		{from.days, to.days, dayColumns, "short_link_seq"},
		{from.referrers, to.referrers, referrerColumns, "short_link_seq"},
	} {
		// CROSS JOIN: SQLite reads the few moved rows first.
		err := models.RowsOf("link bigint", seqs).Exec(tx, "INSERT INTO "+t.to+" ("+t.columns+") SELECT "+t.columns+
			" FROM {rows} AS moved CROSS JOIN "+t.from+" WHERE "+t.link+" = moved.link").Error
		if err != nil {
			return fmt.Errorf("move short links to %s: %w", t.to, err)
		}
	}
	// Their visits are deleted with them.
	err := models.RowsOf("link bigint", seqs).Exec(tx, "DELETE FROM "+from.links+" WHERE seq IN (SELECT link FROM {rows} AS moved)").Error
	if err != nil {
		return fmt.Errorf("move short links from %s: %w", from.links, err)
	}
	return nil
}
