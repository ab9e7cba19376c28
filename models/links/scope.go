package links

import (
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Visibility: a link is shared, or private to its owner (Link.PrivateTo). A tag is visible if one of its links is.

// seesAll reports whether the actor sees all links.
func seesAll(tx *gorm.DB) bool {
	a, _ := models.ActorOf(tx.Statement.Context)
	return a.SeesAll
}

// visible returns a query for the links that the actor sees.
func visible(tx *gorm.DB) *gorm.DB {
	sql, args := models.Visible(tx, "links")
	return tx.Model(&Link{}).Where(sql, args...)
}

// visibleTagTable returns a table "tags" for FROM: the tags that the actor sees, with counts and times of the
// links that the actor sees.
func visibleTagTable(tx *gorm.DB) (table string, args []any) {
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

// listedTags is like visibleTags, but adds up all tags at once: faster for a list that needs the sums of all, slower
// for some tags.
func listedTags(tx *gorm.DB) *gorm.DB {
	if seesAll(tx) {
		return visibleTags(tx)
	}
	own, args := models.OwnScope(tx, "tag_scopes")
	return tx.Model(&Tag{}).Table(`(SELECT t.seq, t.id, t.name, t.folded_name, s.link_count, s.created_at, s.last_used_at FROM
		(SELECT tag_seq, CAST(sum(link_count) AS BIGINT) AS link_count, min(created_at) AS created_at, max(last_used_at) AS last_used_at FROM tag_scopes
			WHERE `+own+` GROUP BY tag_seq) AS s JOIN tags AS t ON t.seq = s.tag_seq) AS tags`, args...)
}

// createdByActor returns the condition for the changes and refreshes that the actor may see: its own or, for an
// admin, all.
func createdByActor(tx *gorm.DB) (sql string, args []any) {
	if seesAll(tx) {
		return "TRUE", nil
	}
	return "created_by = ?", []any{models.Owner(tx.Statement.Context)}
}

// visibleTags returns a query for visibleTagTable.
func visibleTags(tx *gorm.DB) *gorm.DB {
	table, args := visibleTagTable(tx)
	return tx.Model(&Tag{}).Table(table, args...)
}

// hasHiddenLinks reports whether a tag has links that the actor does not see.
func hasHiddenLinks(tx *gorm.DB, tagSeq int64) (is bool, err error) {
	if seesAll(tx) {
		return false, nil
	}
	sql, args := models.OwnScope(tx, "tag_scopes")
	err = tx.Raw("SELECT EXISTS (SELECT 1 FROM tag_scopes WHERE tag_seq = ? AND NOT "+sql+")", append([]any{tagSeq}, args...)...).Scan(&is).Error
	if err != nil {
		return false, fmt.Errorf("find hidden links of a tag: %w", err)
	}
	return is, nil
}
