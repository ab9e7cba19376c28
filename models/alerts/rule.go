package alerts

import (
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/event"
)

// Limits of a rule.
const (
	// MaxFailures is the maximum of AfterFailures. Systems store an event for each of that many consecutive failures.
	MaxFailures = 10
	maxMinutes  = 7 * 24 * 60
	// MaxGroupWait is the maximum of GroupWaitSeconds.
	MaxGroupWait = 3600
)

// Scope selects what a rule or a maintenance window applies to. These are its targets, the targets of its status pages, the targets
// and links with one of its tags, and its subjects. A source or website has its jobs and pages, and a short link has the targets and links with
// its destination. An empty scope applies to everything. Deleted targets, pages and tags match nothing.
type Scope struct {
	Targets     List
	StatusPages List
	Tags        List // tags of saved links; a target has the tags of the link with its URL
	Subjects    Refs
}

// All reports whether the scope applies to everything.
func (s Scope) All() bool { return len(s.Targets)+len(s.StatusPages)+len(s.Tags)+len(s.Subjects) == 0 }

// checkScope validates and normalizes a scope. It refuses targets and status pages that do not exist or that the actor may not see, except
// those in before, the stored scope: they may have been deleted since. The error has at most one entry for each list.
func (s *Store) checkScope(ctx context.Context, sc *Scope, before Scope) error {
	targets, pages := newIDs(models.KindTarget, sc.Targets, before.Targets), newIDs(models.KindStatusPage, sc.StatusPages, before.StatusPages)
	var existing map[string]bool
	if s.lookup != nil && len(targets)+len(pages) > 0 {
		var err error
		if existing, err = s.lookup.Existing(ctx, targets, pages); err != nil {
			return fmt.Errorf("look up targets and status pages: %w", err)
		}
	}
	usable := func(kind models.Kind, added List) func(string) bool {
		return func(id string) bool {
			return models.CheckID(kind, id) == nil && (s.lookup == nil || !slices.Contains(added, id) || existing[id])
		}
	}
	return models.Invalids(
		checkList("targets", &sc.Targets, usable(models.KindTarget, targets), "must be the id of a target"),
		checkList("status_pages", &sc.StatusPages, usable(models.KindStatusPage, pages), "must be the id of a status page"),
		checkList("tags", &sc.Tags, func(tag string) bool { return models.Runes(tag) <= maxTag }, fmt.Sprintf("must have at most %d characters", maxTag)),
		s.checkRefs(ctx, &sc.Subjects, before.Subjects),
	)
}

// newIDs returns the valid IDs of a list that are not in before.
func newIDs(kind models.Kind, list, before List) (added List) {
	for i, id := range list {
		if i < maxList && models.CheckID(kind, id) == nil && !slices.Contains(before, id) {
			added = append(added, id)
		}
	}
	return added
}

// Rule selects which events are sent to which channels, and when. A private rule also sends events of its owner's private items and can
// use its owner's private channels. A shared rule does neither, because others can change its channels.
type Rule struct {
	Seq                  int64 `gorm:"primaryKey"`
	ID                   string
	Name                 string
	Events               List
	Scope                Scope `gorm:"embedded"`
	Channels             List
	AfterFailures        int   // consecutive failures before it sends, for events that count failures
	AfterMinutes         int   // duration of the condition before it sends
	GroupWaitSeconds     int   // wait for more subjects before the first message of an alert
	RepeatMinutes        int   // between reminders until the alert is acknowledged or resolved; 0 for none
	Quiet                Quiet `gorm:"embedded;embeddedPrefix:quiet_"`
	EscalateAfterMinutes int   // without acknowledgement before it sends to EscalateChannels; 0 for never
	EscalateChannels     List
	Enabled              bool
	CreatedAt            models.Time
	UpdatedAt            models.Time
	DeletedAt            models.Time // zero if not deleted
	Owner                string
	PrivateTo            string // "" if shared, otherwise Owner
}

// TableName implements GORM's Tabler.
func (Rule) TableName() string { return "alert_rules" }

// Has reports whether the rule includes an event kind.
func (r Rule) Has(k event.Kind) bool { return slices.Contains(r.Events, string(k)) }

// LacksChannel reports whether the rule is enabled but can use none of its channels. all is the list of all channels.
func (r Rule) LacksChannel(all []Channel) bool {
	return r.Enabled && !slices.ContainsFunc(all, func(c Channel) bool { return c.Usable() && r.canUse(c) && slices.Contains(r.Channels, c.ID) })
}

// sendsFor reports whether the rule sends events of a subject with the given PrivateTo.
func (r Rule) sendsFor(privateTo string) bool { return privateTo == "" || r.PrivateTo == privateTo }

// canUse reports whether the rule can use a channel: a shared one or a private one of its owner.
func (r Rule) canUse(c Channel) bool { return c.PrivateTo == "" || r.PrivateTo == c.PrivateTo }

// SetPrivate makes the rule private or shared. Owner must be set.
func (r *Rule) SetPrivate(private bool) { r.PrivateTo = models.PrivateTo(r.Owner, private) }

// active reports whether the rule is enabled and not deleted.
func (r Rule) active() bool { return r.Enabled && r.DeletedAt.IsZero() }

// checkRule validates and normalizes the fields that users set, except channels. before is the stored scope. The error has an entry for each
// invalid field.
func (s *Store) checkRule(ctx context.Context, r *Rule, before Scope) error {
	known := func(kind string) bool { _, ok := s.types[event.Kind(kind)]; return ok }
	errs := []error{cleanName(&r.Name, "Alert rule"), checkList("events", &r.Events, known, "must be the name of an event")}
	if len(r.Events) == 0 {
		errs = append(errs, models.Invalid("events", "must name at least one event"))
	}
	for _, m := range []struct {
		name        string
		value       int
		least, most int
	}{
		{"after_failures", r.AfterFailures, 1, MaxFailures}, {"after_minutes", r.AfterMinutes, 0, maxMinutes},
		{"group_wait_seconds", r.GroupWaitSeconds, 0, MaxGroupWait},
		{"repeat_minutes", r.RepeatMinutes, 0, maxMinutes}, {"escalate.after_minutes", r.EscalateAfterMinutes, 0, maxMinutes},
	} {
		if m.value < m.least || m.value > m.most {
			errs = append(errs, models.OutOfRange(m.name, "", int64(m.least), int64(m.most)))
		}
	}
	errs = append(errs, s.checkScope(ctx, &r.Scope, before), r.Quiet.check())
	if r.EscalateAfterMinutes > 0 && len(r.EscalateChannels) == 0 {
		errs = append(errs, models.Invalid("escalate.channels", "must name at least one channel"))
	}
	return models.Invalids(errs...)
}

// checkChannels checks that the channels of a rule exist and that the rule can use them.
func checkChannels(tx *gorm.DB, r *Rule) error {
	known, err := all[Channel](tx, channels)
	if err != nil {
		return err
	}
	exists := func(id string) bool { return slices.ContainsFunc(known, func(c Channel) bool { return c.ID == id }) }
	private := func(id string) bool {
		return slices.ContainsFunc(known, func(c Channel) bool { return c.ID == id && !r.canUse(c) })
	}
	var errs []error
	for _, l := range []struct {
		location string
		list     *List
	}{{"channels", &r.Channels}, {"escalate.channels", &r.EscalateChannels}} {
		errs = append(errs, cleanList(l.location, l.list), checkList(l.location, l.list, exists, "must be the id of a channel"))
		if len(*l.list) <= maxList && slices.ContainsFunc(*l.list, private) {
			errs = append(errs, models.Invalid(l.location, "must be shared, unless the rule is private. Share them, or make the rule private"))
		}
	}
	return models.Invalids(errs...)
}

var errNoChannel = models.Invalid("channels", "must name at least one channel")

// AddRule adds a rule and sets its ID, timestamps and owner. The rule is private if PrivateTo is not empty. Errors are CodeInvalid, and
// CodeConflict if there are MaxRules.
func (s *Store) AddRule(ctx context.Context, r Rule) (Rule, error) {
	now := s.clock.Now()
	r.ID, r.CreatedAt, r.UpdatedAt = models.NewID(models.KindRule), now, now
	r.Owner = models.Owner(ctx)
	r.SetPrivate(r.PrivateTo != "")
	errs := []error{s.checkRule(ctx, &r, Scope{}), checkChannels(s.db.Read(ctx), &r)}
	if len(r.Channels) == 0 {
		errs = append(errs, errNoChannel)
	}
	if err := models.Invalids(errs...); err != nil {
		return Rule{}, err
	}
	return r, add(ctx, s, rules, &r)
}

// EditRule applies fn to a rule. It removes channels that were deleted or that the rule can no longer use. Errors are CodeNotFound,
// CodeForbidden if the actor may not change the visibility of the rule, and those of AddRule.
func (s *Store) EditRule(ctx context.Context, id string, fn func(*Rule)) (Rule, error) {
	return change(ctx, s, rules, "edit", id, func(tx *gorm.DB, r *Rule) error {
		known, err := all[Channel](tx, channels)
		if err != nil {
			return err
		}
		was := *r
		before, escalated := slices.Clone(r.Channels), slices.Clone(r.EscalateChannels)
		gone := func(id string) bool {
			return (slices.Contains(before, id) || slices.Contains(escalated, id)) &&
				!slices.ContainsFunc(known, func(c Channel) bool { return c.ID == id && (was.canUse(c) || r.canUse(c)) })
		}
		fn(r)
		r.Owner = was.Owner
		if r.PrivateTo, err = changePrivacy(ctx, r.Owner, was.PrivateTo, r.PrivateTo != ""); err != nil {
			return err
		}
		escalates := len(r.EscalateChannels) > 0
		r.Channels, r.EscalateChannels = slices.DeleteFunc(r.Channels, gone), slices.DeleteFunc(r.EscalateChannels, gone)
		if escalates && len(r.EscalateChannels) == 0 {
			r.EscalateAfterMinutes = 0
		}
		errs := []error{s.checkRule(ctx, r, was.Scope), checkChannels(tx, r)}
		if len(r.Channels) == 0 && slices.ContainsFunc(before, func(id string) bool { return !gone(id) }) {
			errs = append(errs, errNoChannel)
		}
		return models.Invalids(errs...)
	})
}

// Rule returns a rule by ID. The error is CodeNotFound if it does not exist.
func (s *Store) Rule(ctx context.Context, id string) (Rule, error) {
	return get[Rule](s.db.Read(ctx), rules, id, false)
}

// Rules returns a page of rules, oldest first. limit comes from models.NewLimit.
func (s *Store) Rules(ctx context.Context, after models.Cursor, limit int) (models.Slice[Rule], error) {
	return list(ctx, s, rules, after, limit, func(r Rule) models.Cursor { return models.Cursor{CreatedAt: r.CreatedAt, ID: r.ID} })
}

// DeleteRule deletes a rule. It can be restored for KeepDeleted. The error is CodeNotFound if it does not exist.
func (s *Store) DeleteRule(ctx context.Context, id string) error {
	_, err := change(ctx, s, rules, "delete", id, func(_ *gorm.DB, r *Rule) error { r.DeletedAt = s.clock.Now(); return nil })
	return err
}

// RestoreRule restores a deleted rule. Errors are CodeNotFound if it is not deleted or was deleted more than KeepDeleted ago, and
// CodeConflict if there are MaxRules.
func (s *Store) RestoreRule(ctx context.Context, id string) (Rule, error) {
	return restore(ctx, s, rules, id, func(r *Rule) *models.Time { return &r.DeletedAt })
}

// DefaultEvents returns the event kinds of the rule that “Alert me” adds.
func (s *Store) DefaultEvents() (kinds List) {
	for _, t := range s.opts.Types {
		if t.Default {
			kinds = append(kinds, string(t.Kind))
		}
	}
	return kinds
}
