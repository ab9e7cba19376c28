package alerts

import (
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"linkwatch/models"
)

// AlertMe asks that channels get the important events: those of Defaults, or those of TargetDefaults for one target.
type AlertMe struct {
	Target     string // id; "" = everything
	TargetName string
	Channel    string // id of the only channel to add; "" = all enabled ones
}

// AlertMeResult is what Store.AlertMe did.
type AlertMeResult int

// The results.
const (
	AlertMeCovered   AlertMeResult = iota // nothing: rules already send the events to the channels
	AlertMeAdded                          // it added a rule
	AlertMeExtended                       // it added channels to a rule
	AlertMeNoChannel                      // nothing: there is no enabled channel
)

// alertMeName is the name of the rule that AlertMe adds.
const alertMeName = "Important alerts"

// AlertMe makes sure that the enabled channels get the important events. It adds the channels that lack them to the oldest enabled rule with
// these events and the same scope. Without such a rule it adds one, with default settings. It returns the rule that it added or changed.
// Errors are CodeNotFound for a channel that does not exist, and CodeConflict if there are MaxRules.
func (s *Store) AlertMe(ctx context.Context, ask AlertMe) (r Rule, did AlertMeResult, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		r, did = Rule{}, AlertMeCovered // it may run twice
		if err := s.db.OneAtATime(tx, lockSettings); err != nil {
			return err
		}
		to, err := askedChannels(tx, ask)
		if err != nil {
			return err
		}
		if len(to) == 0 {
			did = AlertMeNoChannel
			return nil
		}
		known, err := all[Rule](tx.Clauses(clause.Locking{Strength: "UPDATE"}))
		if err != nil {
			return err
		}
		wanted := s.alertMeRule(ask)
		if wanted.Channels = lacking(to, known, wanted); len(wanted.Channels) == 0 {
			return nil
		}
		i := slices.IndexFunc(known, func(k Rule) bool { return k.covers(wanted) && sameScope(k.Scope, wanted.Scope) })
		if i >= 0 {
			r, did = known[i], AlertMeExtended
			r.Channels = append(slices.Clone(r.Channels), wanted.Channels...)
			return s.save(tx, rules, &r)
		}
		if len(known) >= MaxRules {
			return models.Conflict(fmt.Sprintf("There are %d alert rules, which is the limit. Delete one first.", MaxRules))
		}
		if err := s.checkRule(&wanted); err != nil {
			return err
		}
		did = AlertMeAdded
		if err := tx.Select("*").Omit("seq").Create(&wanted).Error; err != nil {
			return err
		}
		r = wanted
		return nil
	})
	if models.CodeOf(err) != "" {
		return Rule{}, did, err
	}
	if err != nil {
		return Rule{}, did, fmt.Errorf("sending important alerts to channels: %w", err)
	}
	return r, did, nil
}

// alertMeRule is the rule that AlertMe adds, without its channels.
func (s *Store) alertMeRule(ask AlertMe) Rule {
	now := s.clock.Now()
	r := Rule{ID: models.NewID(models.KindRule), Name: alertMeName, Events: s.Defaults(), AfterFailures: 1, Enabled: true, CreatedAt: now, UpdatedAt: now}
	if ask.Target != "" {
		r.Name = models.Truncate(alertMeName+": "+ask.TargetName, maxName)
		r.Events, r.Scope.Targets = s.TargetDefaults(), List{ask.Target}
	}
	return r
}

// askedChannels are the ids of the enabled channels of a request.
func askedChannels(tx *gorm.DB, ask AlertMe) (ids List, err error) {
	known, err := all[Channel](tx)
	if err != nil {
		return nil, err
	}
	found := ask.Channel == ""
	for _, c := range known {
		asked := ask.Channel == "" || ask.Channel == c.ID
		found = found || asked
		if asked && c.Usable() {
			ids = append(ids, c.ID)
		}
	}
	if !found {
		return nil, models.NotFound("channel")
	}
	return ids, nil
}

// lacking are those channels to which no rule sends the wanted events.
func lacking(channels List, known []Rule, wanted Rule) (ids List) {
	for _, id := range channels {
		if !slices.ContainsFunc(known, func(r Rule) bool { return r.covers(wanted) && r.uses(id) }) {
			ids = append(ids, id)
		}
	}
	return ids
}

// covers reports whether an enabled rule sends all events of another one, for everything or for the same target.
func (r Rule) covers(other Rule) bool {
	scope := r.Scope.All() || len(other.Scope.Targets) == 1 && slices.Contains(r.Scope.Targets, other.Scope.Targets[0])
	return r.usable() && scope && !slices.ContainsFunc(other.Events, func(k string) bool { return !slices.Contains(r.Events, k) })
}

// uses reports whether the rule sends to a channel, at once or if an alert is not acknowledged.
func (r Rule) uses(channel string) bool {
	return slices.Contains(r.Channels, channel) || r.EscalateAfterMinutes > 0 && slices.Contains(r.EscalateChannels, channel)
}

// sameScope reports whether two scopes have the same entries, for scopes of at most one target.
func sameScope(a, b Scope) bool {
	return slices.Equal(a.Targets, b.Targets) && slices.Equal(a.StatusPages, b.StatusPages) && slices.Equal(a.Tags, b.Tags)
}

// Unused returns the enabled channels that no enabled rule uses.
func Unused(channels []Channel, rules []Rule) (unused []Channel) {
	for _, c := range channels {
		if c.Usable() && !slices.ContainsFunc(rules, func(r Rule) bool { return r.usable() && r.uses(c.ID) }) {
			unused = append(unused, c)
		}
	}
	return unused
}
