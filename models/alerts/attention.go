package alerts

import (
	"context"
	"fmt"

	"linkwatch/models"
)

// Attention is what `/` shows of alerts.
type Attention struct {
	Unattended int // alerts that are neither resolved nor acknowledged
	First      []Alert
	Failing    []Channel // channels whose last message was not delivered
	Channels   int
	Rules      int
	Mute       []Rule        // enabled rules that send nothing, see Rule.Mute
	Windows    []Maintenance // that are under way
}

// Attention returns what needs attention, with up to n alerts, the newest first.
func (s *Store) Attention(ctx context.Context, n int) (at Attention, err error) {
	tx := s.db.Read(ctx)
	err = tx.Raw("SELECT count(*) FROM (SELECT 1 FROM alerts WHERE " + Unattended.where() + " LIMIT 10000) AS a").Scan(&at.Unattended).Error
	if err != nil {
		return at, fmt.Errorf("counting alerts: %w", err)
	}
	page, err := s.Alerts(ctx, Unattended, models.Cursor{}, n)
	if err != nil {
		return at, err
	}
	at.First = page.Items
	known, err := all[Channel](tx)
	if err != nil {
		return at, err
	}
	at.Channels = len(known)
	for _, c := range known {
		if c.LastError != "" {
			at.Failing = append(at.Failing, c)
		}
	}
	set, err := s.settings(tx, s.clock.Now())
	at.Rules = len(set.rules)
	for _, r := range set.rules {
		if r.Mute(known) {
			at.Mute = append(at.Mute, r)
		}
	}
	for _, w := range set.windows {
		at.Windows = append(at.Windows, w.Maintenance)
	}
	return at, err
}
