package links

import (
	"fmt"
	"strings"

	"gorm.io/gorm"

	"linkwatch/models"
)

// totals are the numbers of visible links by state (models.RowCounts). The state of an active link is its health, that
// of an expired one is expiredState and its health.
type totals map[string]int

const expiredState = "expired "

func countLinks(tx *gorm.DB) (totals, error) { return models.RowCounts(tx, "links") }

// of returns the number of links in some states. A link may change its state while it is counted, so no sum is below 0.
func (n totals) of(states []string) (sum int) {
	for _, s := range states {
		sum += n[s]
	}
	return max(0, sum)
}

// states returns the states of links with a health ("" = any).
func states(shown Shown, h Health) (all []string) {
	for _, each := range Healths {
		if h != "" && h != each {
			continue
		}
		if shown != ShowExpired {
			all = append(all, string(each))
		}
		if shown != ShowActive {
			all = append(all, expiredState+string(each))
		}
	}
	return all
}

// active returns the number of active links with a health ("" = any).
func (n totals) active(h Health) int { return n.of(states(ShowActive, h)) }

// blockBits defines the blocks of row_counts: the keys of the links of a block differ only in their lowest bits.
const blockBits = 12

// position returns where a list of the links in some states, newest or oldest first, has its row number offset: it is the
// row number rest of those from a key on. So a late page reads at most one block of keys that it does not show.
func position(tx *gorm.DB, states []string, offset int, oldest bool) (from int64, rest int, err error) {
	direction := " DESC"
	first, none := int64(1<<63-1), int64(0)
	if oldest {
		direction, first, none = "", none, first
	}
	if offset < 1<<blockBits {
		return first, offset, nil
	}
	visible, args := models.Visible(tx, "row_counts")
	var blocks []struct {
		Block int64
		N     int
	}
	err = tx.Raw("SELECT block, CAST(sum(n) AS BIGINT) AS n FROM row_counts WHERE counted = 'links' AND state IN ? AND "+visible+
		" GROUP BY block ORDER BY block"+direction, append([]any{states}, args...)...).Scan(&blocks).Error
	if err != nil {
		return 0, 0, fmt.Errorf("count links by key: %w", err)
	}
	for _, b := range blocks {
		if offset < b.N && oldest {
			return b.Block << blockBits, offset, nil
		}
		if offset < b.N {
			return (b.Block+1)<<blockBits - 1, offset, nil
		}
		offset -= b.N
	}
	return none, 0, nil
}

// listByState returns a page of the links that are active, expired or both (ShowAll), newest first by default. h selects
// a health ("" = any).
func listByState(tx *gorm.DB, shown Shown, h Health, out *models.List[Link]) error {
	n, err := countLinks(tx)
	if err != nil {
		return err
	}
	wanted := states(shown, h)
	out.Total = n.of(wanted)
	oldest := out.Sort.Direction == models.Ascending
	from, rest, err := position(tx, wanted, out.Offset(), oldest)
	if err != nil {
		return err
	}
	visible, own := models.Visible(tx, "links")
	var selects []string
	var args []any
	beyond, order := "seq <= ? AND ", " ORDER BY seq DESC"
	if oldest {
		beyond, order = "seq >= ? AND ", " ORDER BY seq"
	}
	add := func(condition string) {
		selects, args = append(selects, "SELECT seq FROM links WHERE "+condition+beyond+visible), append(append(args, from), own...)
	}
	switch health := "health = '" + string(h) + "' AND "; {
	case h == "" && shown == ShowAll:
		add("")
	case h == "":
		health = ""
		fallthrough
	default: // an index for active links and one for expired links
		if shown != ShowExpired {
			add("expired_at IS NULL AND " + health)
		}
		if shown != ShowActive {
			add("expired_at IS NOT NULL AND " + health)
		}
	}
	// Read the keys first, with index-only scans, so that the rows that the page skips are not read.
	var seqs []int64
	err = tx.Raw(strings.Join(selects, " UNION ALL ")+order+" LIMIT ? OFFSET ?", append(args, out.Size, rest)...).Scan(&seqs).Error
	if err != nil {
		return fmt.Errorf("list links: %w", err)
	}
	out.Items, err = loadInOrder(tx, seqs)
	return err
}

// countHealths counts the links that are active, expired or both by some healths.
func countHealths(tx *gorm.DB, shown Shown, healths []Health) (map[Health]int, error) {
	n, err := countLinks(tx)
	if err != nil {
		return nil, err
	}
	out := map[Health]int{}
	for _, h := range healths {
		out[h] = n.of(states(shown, h))
	}
	return out, nil
}

// countVisibleTags counts the tags that the actor sees.
func countVisibleTags(tx *gorm.DB) (n int, err error) {
	if !seesAll(tx) {
		own, args := models.OwnScope(tx, "tag_scopes")
		err = tx.Raw("SELECT count(DISTINCT tag_seq) FROM tag_scopes WHERE "+own, args...).Scan(&n).Error
		return n, err
	}
	all, err := models.RowCounts(tx, "tags")
	return max(0, all[""]), err
}

// countTagged counts the visible links with a tag that are active, expired or both.
func countTagged(tx *gorm.DB, name string, shown Shown) (int, error) {
	visible, args := models.Visible(tx, "s")
	var n struct{ Links, Active int }
	err := tx.Raw(`SELECT CAST(COALESCE(sum(s.links), 0) AS BIGINT) AS links, CAST(COALESCE(sum(s.link_count), 0) AS BIGINT) AS active
		FROM tags AS t JOIN tag_scopes AS s ON s.tag_seq = t.seq WHERE t.folded_name = ? AND `+visible, append([]any{models.FoldName(name)}, args...)...).Scan(&n).Error
	if err != nil {
		return 0, fmt.Errorf("count links of a tag: %w", err)
	}
	switch shown {
	case ShowActive:
		return n.Active, nil
	case ShowExpired:
		return n.Links - n.Active, nil
	default:
		return n.Links, nil
	}
}
