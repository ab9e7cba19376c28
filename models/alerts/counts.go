package alerts

import (
	"context"
	"fmt"
	"slices"

	"linkwatch/models"
)

// maxCount is the limit of counts of alerts and messages.
const maxCount = 10_000

// Counts returns the number of alerts by state, each up to 10,000.
func (s *Store) Counts(ctx context.Context) (map[State]int, error) {
	var n struct{ Firing, Unacknowledged, Resolved int }
	tx := s.db.Read(ctx)
	visible, args := models.Visible(tx, "alerts")
	count := func(st State) string {
		return fmt.Sprintf("(SELECT count(*) FROM (SELECT 1 FROM alerts WHERE %s AND %s LIMIT %d) AS a)", st.condition(), visible, maxCount)
	}
	err := tx.Raw("SELECT "+count(Firing)+" AS firing, "+count(Unacknowledged)+" AS unacknowledged, "+count(Resolved)+" AS resolved", slices.Concat(args, args, args)...).Scan(&n).Error
	if err != nil {
		return nil, fmt.Errorf("count alerts: %w", err)
	}
	return map[State]int{AnyState: n.Firing + n.Resolved, Firing: n.Firing, Unacknowledged: n.Unacknowledged, Resolved: n.Resolved}, nil
}

// PendingMessages returns the number of queued messages by Channel.Seq, up to 10,000 in total.
func (s *Store) PendingMessages(ctx context.Context) (map[int64]int, error) {
	var found []struct {
		ChannelSeq int64
		N          int
	}
	err := s.db.Read(ctx).Raw("SELECT channel_seq, count(*) AS n FROM (SELECT channel_seq FROM deliveries WHERE status = 'pending' LIMIT ?) AS d GROUP BY channel_seq", maxCount).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("count queued messages: %w", err)
	}
	byChannel := map[int64]int{}
	for _, f := range found {
		byChannel[f.ChannelSeq] = f.N
	}
	return byChannel, nil
}
