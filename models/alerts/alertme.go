package alerts

import (
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"linkwatch/models"
)

// AlertMeRequest is a request to send the important events to channels: DefaultEvents, or DefaultTargetEvents for one target.
type AlertMeRequest struct {
	Target     string // ID; "" for everything
	TargetName string
	PrivateTo  string // owner of a private target; "" if shared
	Channel    string // ID of the only channel to add; "" for all enabled channels
}

// AlertMeResult is the result of Store.AlertMe.
type AlertMeResult int

// The results.
const (
	AlertMeCovered   AlertMeResult = iota // unchanged: rules already send the events to the channels
	AlertMeAdded                          // a rule was added
	AlertMeExtended                       // channels were added to a rule
	AlertMeNoChannel                      // unchanged: no channel is enabled
	AlertMeNoPrivate                      // unchanged: the target is private and no private channel is enabled
)

// alertMeName is the name of the rule that AlertMe adds.
const alertMeName = "Important alerts"

// AlertMe makes sure that the enabled shared channels and the actor's private channels get the important events. It adds the channels
// that do not get them to the oldest enabled rule with these events and the same scope. Without such a rule it adds one with default
// settings, a private one for private channels. Events of a private target go only to its owner's private channels. AlertMe returns
// the last rule that it added or changed.
//
// Errors are CodeNotFound for a missing channel, CodeForbidden for another account's private target or channel, and CodeConflict if
// there are MaxRules.
func (s *Store) AlertMe(ctx context.Context, req AlertMeRequest) (r Rule, result AlertMeResult, err error) {
	me := models.Owner(ctx)
	if req.PrivateTo != "" && req.PrivateTo != me {
		return r, result, errPrivate("target")
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		r, result = Rule{}, AlertMeCovered // the transaction may be retried
		if err := s.db.OneAtATime(tx, lockSettings); err != nil {
			return err
		}
		to, err := requestedChannels(tx, req, me)
		if err != nil {
			return err
		}
		if to = req.allowed(to); len(to) == 0 {
			if result = AlertMeNoChannel; req.PrivateTo != "" {
				result = AlertMeNoPrivate
			}
			return nil
		}
		for _, privateTo := range []string{"", me} {
			changed, what, err := s.alertMe(tx, req, privateTo, to)
			if err != nil {
				return err
			}
			if what != AlertMeCovered {
				r, result = changed, what
			}
		}
		return nil
	})
	if models.CodeOf(err) != "" {
		return Rule{}, result, err
	}
	if err != nil {
		return Rule{}, result, fmt.Errorf("send important alerts to channels: %w", err)
	}
	return r, result, nil
}

func errPrivate(what string) error {
	return &models.Error{Code: models.CodeForbidden, Detail: "The " + what + " is private. Only its owner can use it for alerts."}
}

// allowed returns the channels that may get the events. For a private target these are private channels.
func (req AlertMeRequest) allowed(to []Channel) []Channel {
	return slices.DeleteFunc(to, func(c Channel) bool { return req.PrivateTo != "" && c.PrivateTo == "" })
}

// alertMe is AlertMe for channels with one value of PrivateTo: "" (shared) or the actor.
func (s *Store) alertMe(tx *gorm.DB, req AlertMeRequest, privateTo string, to []Channel) (r Rule, result AlertMeResult, err error) {
	wanted := s.alertMeRule(req, models.Owner(tx.Statement.Context), privateTo)
	known, err := all[Rule](tx.Clauses(clause.Locking{Strength: "UPDATE"}), rules)
	if err != nil {
		return r, result, err
	}
	known = slices.DeleteFunc(known, func(k Rule) bool { return k.PrivateTo != privateTo })
	if wanted.Channels = missingChannels(to, known, wanted); len(wanted.Channels) == 0 {
		return r, AlertMeCovered, nil
	}
	if i := slices.IndexFunc(known, func(k Rule) bool { return k.covers(wanted) && sameScope(k.Scope, wanted.Scope) }); i >= 0 {
		r = known[i]
		before := r.values()
		r.Channels = append(slices.Clone(r.Channels), wanted.Channels...)
		if err := s.save(tx, rules, &r); err != nil {
			return r, result, err
		}
		return r, AlertMeExtended, rules.record(tx, s.clock.Now(), "edit", r.subject(), before, r.values())
	}
	if err := checkLimit[Rule](s, tx, rules); err != nil {
		return r, result, err
	}
	if err := s.checkRule(tx.Statement.Context, &wanted, wanted.Scope); err != nil {
		return r, result, err
	}
	return wanted, AlertMeAdded, create(tx, s, rules, &wanted)
}

// alertMeRule returns the rule that AlertMe adds, without channels.
func (s *Store) alertMeRule(req AlertMeRequest, owner, privateTo string) Rule {
	now := s.clock.Now()
	r := Rule{
		ID: models.NewID(models.KindRule), Name: alertMeName, Events: s.DefaultEvents(), AfterFailures: 1, Enabled: true, CreatedAt: now, UpdatedAt: now, Owner: owner, PrivateTo: privateTo,
	}
	if req.Target != "" {
		r.Name = models.Truncate(alertMeName+": "+req.TargetName, maxName)
		r.Events, r.Scope.Targets = s.DefaultTargetEvents(), List{req.Target}
	}
	return r
}

// requestedChannels returns the enabled channels of a request: shared channels and the private channels of me.
func requestedChannels(tx *gorm.DB, req AlertMeRequest, me string) (chosen []Channel, err error) {
	known, err := all[Channel](tx, channels)
	if err != nil {
		return nil, err
	}
	found := req.Channel == ""
	for _, c := range known {
		mine := c.PrivateTo == "" || c.PrivateTo == me
		if req.Channel == c.ID {
			if found = true; !mine {
				return nil, errPrivate("channel")
			}
		}
		if mine && c.Usable() && (req.Channel == "" || req.Channel == c.ID) {
			chosen = append(chosen, c)
		}
	}
	if !found {
		return nil, models.NotFound("channel")
	}
	return chosen, nil
}

// missingChannels returns the IDs of channels as private as the wanted rule to which no known rule sends its events.
func missingChannels(channels []Channel, known []Rule, wanted Rule) (ids List) {
	for _, c := range channels {
		if c.PrivateTo == wanted.PrivateTo && !slices.ContainsFunc(known, func(r Rule) bool { return r.covers(wanted) && r.uses(c) }) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// covers reports whether the rule is enabled and sends all events of other, for everything or for the same target.
func (r Rule) covers(other Rule) bool {
	scope := r.Scope.All() || len(other.Scope.Targets) == 1 && slices.Contains(r.Scope.Targets, other.Scope.Targets[0])
	return r.active() && scope && !slices.ContainsFunc(other.Events, func(k string) bool { return !slices.Contains(r.Events, k) })
}

// uses reports whether the rule sends to a channel, directly or by escalation.
func (r Rule) uses(c Channel) bool {
	return r.canUse(c) && (slices.Contains(r.Channels, c.ID) || r.EscalateAfterMinutes > 0 && slices.Contains(r.EscalateChannels, c.ID))
}

// sameScope reports whether two scopes have the same entries in the same order.
func sameScope(a, b Scope) bool {
	return slices.Equal(a.Targets, b.Targets) && slices.Equal(a.StatusPages, b.StatusPages) && slices.Equal(a.Tags, b.Tags)
}

// UnusedChannels returns the enabled channels that no enabled rule uses.
func UnusedChannels(channels []Channel, rules []Rule) (unused []Channel) {
	for _, c := range channels {
		if c.Usable() && !slices.ContainsFunc(rules, func(r Rule) bool { return r.active() && r.uses(c) }) {
			unused = append(unused, c)
		}
	}
	return unused
}
