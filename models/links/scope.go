package links

import (
	"fmt"
	"strings"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Which links and tags an actor sees. Links are shared, or private to their owner
// (Link.PrivateTo). A tag is seen by who sees a link that carries it.

// seesAll says whether the actor of a handle sees all links.
func seesAll(tx *gorm.DB) bool {
	a, _ := models.ActorOf(tx.Statement.Context)
	return a.SeesAll
}

// visible are the links that the actor of a handle sees.
func visible(tx *gorm.DB) *gorm.DB {
	sql, args := models.Visible(tx, "links")
	return tx.Model(&Link{}).Where(sql, args...)
}

// hidden counts the links that fulfill a condition on expired_at and that the actor does not see.
// Totals are of all links, less those: few links are private, and an index has them.
func hidden(tx *gorm.DB, where string, args ...any) (n int, err error) {
	if seesAll(tx) {
		return 0, nil
	}
	args = append(args, models.Owner(tx.Statement.Context))
	// The first part about private_to names the index, and the plus keeps SQLite from another one.
	where = strings.ReplaceAll(where, "expired_at", "+expired_at")
	err = tx.Raw("SELECT count(*) FROM links WHERE "+where+" AND private_to <> '' AND private_to <> ?", args...).Scan(&n).Error
	if err != nil {
		return 0, fmt.Errorf("counting hidden links: %w", err)
	}
	return n, nil
}

// seenTags is the table of the tags that the actor of a handle sees, with the counts and
// times that the links give them that it sees. Its name in a statement is tags.
func seenTags(tx *gorm.DB) (table string, args []any) {
	if seesAll(tx) {
		return "tags", nil
	}
	scopes := func(what string) string {
		sql, own := models.OwnScope(tx, "tag_scopes")
		args = append(args, own...)
		return "SELECT " + what + " FROM tag_scopes WHERE tag_seq = t.seq AND " + sql
	}
	return "(SELECT t.seq, t.id, t.name, t.folded_name, (" + scopes("CAST(sum(link_count) AS BIGINT)") + ") AS link_count, (" +
		scopes("min(created_at)") + ") AS created_at, (" + scopes("max(last_used_at)") + ") AS last_used_at FROM tags AS t WHERE EXISTS (" +
		scopes("1") + ")) AS tags", args
}

// madeBy is the condition for the changes and refreshes of the actor of a handle; for an admin
// those of all.
func madeBy(tx *gorm.DB) (sql string, args []any) {
	if seesAll(tx) {
		return "TRUE", nil
	}
	return "made_by = ?", []any{models.Owner(tx.Statement.Context)}
}

// tagsSeen is seenTags for a query.
func tagsSeen(tx *gorm.DB) *gorm.DB {
	table, args := seenTags(tx)
	return tx.Model(&Tag{}).Table(table, args...)
}

// hiddenFrom says whether links that the actor does not see carry a tag.
func hiddenFrom(tx *gorm.DB, tagSeq int64) (is bool, err error) {
	if seesAll(tx) {
		return false, nil
	}
	sql, args := models.OwnScope(tx, "tag_scopes")
	err = tx.Raw("SELECT EXISTS (SELECT 1 FROM tag_scopes WHERE tag_seq = ? AND NOT "+sql+")", append([]any{tagSeq}, args...)...).Scan(&is).Error
	if err != nil {
		return false, fmt.Errorf("looking for links of a tag: %w", err)
	}
	return is, nil
}
