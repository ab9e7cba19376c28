package alerts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"linkwatch/models"
	"linkwatch/models/event"
)

// Attention is the data of the overview page.
type Attention struct {
	Unacknowledged      map[event.Severity]int // number of open alerts that are not acknowledged, up to 10,000 of each severity
	Newest              []Alert                // the newest of these of each severity, most severe first
	Failing             []FailingChannel
	Channels            int
	Rules               int
	RulesWithoutChannel []Rule        // enabled rules without a usable channel, see Rule.LacksChannel
	Windows             []Maintenance // active ones
}

// FailingChannel is a channel whose last message failed, or that lost messages recently. Channels that a user disabled are excluded.
type FailingChannel struct {
	Channel
	FailedMessages int // messages of the last 48 hours that failed, up to 10,000
}

// failureWindow is how long failed messages need attention, counted from when they were queued.
const failureWindow = 48 * time.Hour

// Attention returns the alerts, channels and rules that need attention, with up to n alerts of each severity.
func (s *Store) Attention(ctx context.Context, n int) (at Attention, err error) {
	tx := s.db.Read(ctx)
	var count struct{ Critical, Warning, Info int }
	visible, own := models.Visible(tx, "alerts")
	var newest, counts []string
	var countArgs, limits []any
	for _, v := range []event.Severity{event.Critical, event.Warning, event.Info} {
		where := fmt.Sprintf("FROM alerts WHERE %s AND severity = %d AND %s", Unacknowledged.condition(), v, visible)
		newest, limits = append(newest, "SELECT * FROM (SELECT * "+where+" ORDER BY created_at DESC, id DESC LIMIT ?) AS newest"), append(append(limits, own...), n)
		countArgs = append(countArgs, own...)
		counts = append(counts, fmt.Sprintf("(SELECT count(*) FROM (SELECT 1 %s LIMIT %d) AS found) AS %s", where, maxCount, v))
	}
	if err := tx.Raw(strings.Join(newest, " UNION ALL "), limits...).Scan(&at.Newest).Error; err != nil {
		return at, fmt.Errorf("load alerts: %w", err)
	}
	slices.SortFunc(at.Newest, func(a, b Alert) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), b.CreatedAt.Compare(a.CreatedAt.Time), strings.Compare(b.ID, a.ID))
	})
	if err := tx.Raw("SELECT "+strings.Join(counts, ", "), countArgs...).Scan(&count).Error; err != nil {
		return at, fmt.Errorf("count alerts: %w", err)
	}
	at.Unacknowledged = map[event.Severity]int{event.Critical: count.Critical, event.Warning: count.Warning, event.Info: count.Info}

	var found []FailingChannel
	visible, own = models.Visible(tx, "c")
	err = tx.Raw(`SELECT c.*, (SELECT count(*) FROM (SELECT 1 FROM deliveries AS d WHERE d.channel_seq = c.seq AND d.status = 'failed' AND d.created_at > ? LIMIT ?) AS lost) AS failed_messages
		FROM channels AS c WHERE c.deleted_at IS NULL AND `+visible+" ORDER BY c.seq", append([]any{s.clock.Now().Add(-failureWindow), maxCount}, own...)...).Scan(&found).Error
	if err != nil {
		return at, fmt.Errorf("load failing channels: %w", err)
	}
	known := make([]Channel, len(found))
	for i, c := range found {
		known[i] = c.Channel
		if c.LastError != "" || c.Enabled && c.FailedMessages > 0 {
			at.Failing = append(at.Failing, c)
		}
	}
	at.Channels = len(known)
	set, err := s.settings(tx, s.clock.Now())
	at.Rules = len(set.rules)
	for _, r := range set.rules {
		if r.LacksChannel(known) {
			at.RulesWithoutChannel = append(at.RulesWithoutChannel, r)
		}
	}
	for _, w := range set.windows {
		at.Windows = append(at.Windows, w.Maintenance)
	}
	return at, err
}
