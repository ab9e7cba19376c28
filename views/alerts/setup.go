package alerts

import (
	"slices"

	"linkwatch/models/alerts"
)

// Setup is the progress of setting up alerts.
type Setup struct {
	Channels int
	Enabled  int // enabled channels
	Rules    int
	Active   int              // enabled rules
	Unused   []alerts.Channel // enabled channels that no enabled rule uses
	Failing  []alerts.Channel // enabled channels whose last message was not delivered
}

// NewSetup returns the setup for all channels and rules.
func NewSetup(channels []alerts.Channel, rules []alerts.Rule) Setup {
	s := Setup{Channels: len(channels), Rules: len(rules), Unused: alerts.UnusedChannels(channels, rules)}
	for _, c := range channels {
		if c.Usable() {
			s.Enabled++
			if c.LastError != "" {
				s.Failing = append(s.Failing, c)
			}
		}
	}
	for _, r := range rules {
		if r.Enabled {
			s.Active++
		}
	}
	return s
}

// step is the next step of the setup.
type step int

const (
	stepNone    step = iota
	stepChannel      // add a channel
	stepEnable       // enable a channel
	stepRule         // add or enable a rule
	stepUse          // use all enabled channels in rules
)

func (s Setup) next() step {
	switch {
	case s.Channels == 0:
		return stepChannel
	case s.Enabled == 0:
		return stepEnable
	case s.Active == 0:
		return stepRule
	case len(s.Unused) > 0:
		return stepUse
	}
	return stepNone
}

func namesOf(channels []alerts.Channel) string {
	var names []string
	for _, c := range channels {
		names = append(names, c.Name)
	}
	return joined(names, Named)
}

// marked reports whether the list marks a channel as unused. Without any enabled rule, the page says so once instead.
func (s Setup) marked(c alerts.Channel) bool {
	return s.next() == stepUse && slices.ContainsFunc(s.Unused, func(u alerts.Channel) bool { return u.ID == c.ID })
}
