package alerts_test

import (
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/models/alerts"
	"linkwatch/models/event"
)

// told is what a mail says, and the targets that it names.
type told struct {
	title, text string
	up          bool
	names       []string
}

var named = regexp.MustCompile(`\bn\d\d\b`)

// tellings advances the clock until a condition holds for what the mails so far say.
func (m *mailbox) tellings(what string, is func(all []told) bool) (all []told) {
	m.Helper()
	m.passes(time.Second, what, func() bool {
		for _, letter := range m.server.Mail.Letters() {
			got, err := mail.ReadMessage(strings.NewReader(letter.Data))
			m.ok(err)
			text, err := io.ReadAll(quotedprintable.NewReader(got.Body))
			m.ok(err)
			one := told{text: strings.ReplaceAll(string(text), "\r\n", "\n")}
			one.title, err = new(mime.WordDecoder).DecodeHeader(got.Header.Get("Subject"))
			m.ok(err)
			if strings.HasPrefix(one.title, "Re: ") { // the text has the title
				one.title, one.text, _ = strings.Cut(one.text, "\n\n")
			}
			one.up = strings.Contains(one.title, "up again")
			one.names = slices.Compact(slices.Sorted(slices.Values(named.FindAllString(one.title+one.text, -1))))
			m.told = append(m.told, one)
		}
		return is(m.told)
	})
	return m.told
}

// namesOf returns the targets that mails of one kind name.
func namesOf(all []told, up bool) (names []string) {
	for _, one := range all {
		if one.up == up {
			names = append(names, one.names...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// toldDownFirst fails the test if a mail names a target as recovered that no mail before has named as down.
func (m *mailbox) toldDownFirst() {
	m.Helper()
	for i, one := range m.told {
		for _, name := range one.names {
			if one.up && !slices.Contains(namesOf(m.told[:i], false), name) {
				m.Errorf("%s is told as recovered, and was never told as down: %s", name, one.title)
			}
		}
	}
}

func names(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("n%02d", i))
	}
	return all
}

// 20 hosts that fail and recover together make a few mails, which name each of them as down and as recovered.
func TestMailsOfAStorm(t *testing.T) {
	each(t, func(w *world) {
		m, hosts := w.mailbox(alerts.Rule{}), names(20)
		for _, phase := range []event.Phase{event.Started, event.Ended} {
			for _, name := range hosts {
				w.happens(phase, name)
				w.clock.Advance(time.Second)
			}
			m.tellings("all hosts are told", func(all []told) bool {
				return slices.Equal(namesOf(all, phase == event.Ended), hosts)
			})
		}
		m.toldDownFirst()
		mails := map[bool]int{}
		for _, one := range m.told {
			mails[one.up]++
		}
		// One for each host up to DefaultStormSize, and a few for all others.
		if most := alerts.DefaultStormSize + 3; mails[false] > most || mails[true] > most {
			w.Errorf("%d mails about outages and %d about recoveries, want at most %d", mails[false], mails[true], most)
		}
	})
}

// 26 targets of a host fail one after another. The first mail tells those that failed at once, the second all others,
// and the recovery all of them.
func TestMailsOfAHostWithManyTargets(t *testing.T) {
	each(t, func(w *world) {
		m, all := w.mailbox(alerts.Rule{}), names(26)
		w.of("shop.test", event.Started, all[:2]...)
		m.tellings("the first targets are told", func(all []told) bool { return len(all) == 1 })
		w.of("shop.test", event.Started, all[2:]...)
		m.tellings("the others are told", func(all []told) bool { return len(all) == 2 })
		w.of("shop.test", event.Ended, all...)
		m.tellings("the recovery is told", func(all []told) bool { return len(all) == 3 })
		for i, want := range []string{
			"2 targets on shop.test are down: timed out – n00, n01",
			"24 more targets on shop.test are down: timed out (26 targets on shop.test are down) – n02, ",
			"26 targets on shop.test are up again after ",
		} {
			if !strings.HasPrefix(m.told[i].title, want) {
				w.Errorf("mail %d: got %q, want %q", i, m.told[i].title, want)
			}
		}
		// Not "and 6 more": two of these were told before.
		if title := m.told[1].title; !strings.HasSuffix(title, ", n21 and more") {
			w.Errorf("got %q", title)
		}
		m.toldDownFirst()
	})
}

// With group_wait_seconds, the first mail tells all 26 targets.
func TestMailOfARuleThatWaits(t *testing.T) {
	each(t, func(w *world) {
		m, all := w.mailbox(alerts.Rule{GroupWaitSeconds: 60}), names(26)
		w.of("shop.test", event.Started, all[:2]...)
		_, err := w.ProcessEvents(w.Context(), 100)
		w.ok(err)
		w.of("shop.test", event.Started, all[2:]...)
		m.tellings("the outage is told", func(all []told) bool { return len(all) > 0 })
		title := m.told[0].title
		if !strings.HasPrefix(title, "26 targets on shop.test are down") || !strings.HasSuffix(title, "and 6 more") {
			w.Errorf("got %q", title)
		}
	})
}
