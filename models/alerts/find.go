package alerts

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"linkwatch/models"
)

// maxSearched is the number of alerts that Find searches, newest first.
const maxSearched = 1000

// Find searches the newest 1,000 alerts for a text in the first subject, its URL or its detail. It returns up to limit alerts, open
// alerts first, then newest first. The error is CodeInvalid ("query.q").
func (s *Store) Find(ctx context.Context, text string, limit int) (as []Alert, err error) {
	if err := models.CheckFilter("query.q", text); err != nil {
		return nil, err
	}
	tx := s.db.Read(ctx)
	visible, args := models.Visible(tx, "alerts")
	err = tx.Raw("SELECT * FROM alerts WHERE fired_at IS NOT NULL AND "+visible+" ORDER BY created_at DESC, id DESC LIMIT ?",
		append(args, maxSearched)...).Scan(&as).Error
	if err != nil {
		return nil, fmt.Errorf("search alerts: %w", err)
	}
	wanted := models.Fold(text)
	as = slices.DeleteFunc(as, func(a Alert) bool {
		return !strings.Contains(models.Fold(a.SubjectName+" "+a.SubjectURL+" "+a.Detail), wanted)
	})
	slices.SortStableFunc(as, func(a, b Alert) int {
		switch {
		case a.Open() == b.Open():
			return 0
		case a.Open():
			return -1
		}
		return 1
	})
	return as[:min(len(as), limit)], nil
}

// Settings are channels, rules and maintenance windows.
type Settings struct {
	Channels []Channel
	Rules    []Rule
	Windows  []Maintenance
}

// FindSettings returns the channels, rules and maintenance windows whose names contain a text. The error is CodeInvalid ("query.q").
func (s *Store) FindSettings(ctx context.Context, text string) (found Settings, err error) {
	if err := models.CheckFilter("query.q", text); err != nil {
		return found, err
	}
	tx, wanted := s.db.Read(ctx), models.Fold(text)
	if found.Channels, err = all[Channel](tx, channels); err == nil {
		found.Rules, err = all[Rule](tx, rules)
	}
	if err == nil {
		found.Windows, err = all[Maintenance](tx, windows)
	}
	if err != nil {
		return Settings{}, err
	}
	found.Channels = withName(found.Channels, wanted, func(c Channel) string { return c.Name })
	found.Rules = withName(found.Rules, wanted, func(r Rule) string { return r.Name })
	found.Windows = withName(found.Windows, wanted, func(m Maintenance) string { return m.Name })
	return found, nil
}

// withName returns the settings whose names contain a folded text.
func withName[T setting](all []T, wanted string, name func(T) string) (some []T) {
	for _, v := range all {
		if strings.Contains(models.Fold(name(v)), wanted) {
			some = append(some, v)
		}
	}
	return some
}
