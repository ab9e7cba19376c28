package alerts

import (
	"crypto/subtle"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"linkwatch/models"
	"linkwatch/models/event"
)

// MaxSubjects is the maximum number of subjects in a message.
const MaxSubjects = 20

// Subject is the subject of an alert in JSON.
type Subject struct {
	Kind string  `json:"kind" example:"target" doc:"target, link, job, page, website or system"`
	ID   string  `json:"id" example:"t_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the subject"`
	Name string  `json:"name" example:"Shop" doc:"Name of the subject"`
	URL  *string `json:"url" example:"https://shop.example/" doc:"URL of the subject. null if it has none"`
}

// SubjectState is a subject of an alert in JSON, with its state.
type SubjectState struct {
	Subject
	State          string     `json:"state" enum:"new,down,recovered" example:"new" doc:"State of the subject. new: not sent before. down: its condition has not ended. recovered: its condition has ended"`
	Cause          string     `json:"cause" example:"unexpected status 500" doc:"Reason of the condition"`
	Since          time.Time  `json:"since" example:"2025-03-24T12:00:00Z" doc:"When the condition of the subject started. Of a crawl, when it last failed"`
	AcknowledgedAt *time.Time `json:"acknowledged_at" example:"2025-03-24T12:01:00Z" doc:"When the subject was acknowledged. null if it was not"`
}

// States of subjects in messages.
const (
	stateNew       = "new"
	stateDown      = "down"
	stateRecovered = "recovered"
)

func (s *Store) subjectState(a Alert, m AlertSubject) SubjectState {
	st := SubjectState{Subject{m.SubjectKind, m.SubjectID, m.Name, orNull(m.URL)}, stateDown, m.Detail, m.SinceAt.Time, timeOrNull(m.AcknowledgedAt)}
	switch {
	case m.isNew || s.Type(a.Event).Once:
		st.State = stateNew
	case !m.EndedAt.IsZero():
		st.State = stateRecovered
	}
	return st
}

// Notification is an alert in JSON, in the API and in the body of webhooks.
type Notification struct {
	ID             string         `json:"id" example:"v_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the alert. Ids sort by creation time"`
	Event          string         `json:"event" example:"target.down" doc:"Kind of the event. GET /v1/alert-events lists them. test in a test message"`
	Severity       string         `json:"severity" enum:"info,warning,critical" example:"critical" doc:"Severity"`
	Subject        Subject        `json:"subject" doc:"The first subject that is new, else the first one"`
	Subjects       []SubjectState `json:"subjects" nullable:"false" doc:"Up to 20 subjects. New ones come first, then those whose condition has not ended"`
	SubjectCount   int            `json:"subject_count" example:"1" doc:"Number of subjects"`
	Message        string         `json:"message" example:"Shop is down: unexpected status 500" doc:"Summary in one sentence"`
	Flapping       bool           `json:"flapping" example:"false" doc:"Whether the alert is flapping: its condition started at least four times within an hour. It resolves after 15 stable minutes"`
	StartedAt      time.Time      `json:"started_at" example:"2025-03-24T12:00:00Z" doc:"When the condition started"`
	ResolvedAt     *time.Time     `json:"resolved_at" example:"2025-03-24T12:05:00Z" doc:"When the condition ended. null while the alert is firing"`
	AcknowledgedAt *time.Time     `json:"acknowledged_at" example:"2025-03-24T12:01:00Z" doc:"When the alert was acknowledged. null if it was not"`
	SilencedUntil  *time.Time     `json:"silenced_until" example:"2025-03-24T13:01:00Z" doc:"End of the silence. Until then only the recovery is sent. null if not silenced"`
	Private        bool           `json:"private" example:"false" doc:"Whether its subjects were private when it started. Only their owner and admins see a private alert"`
	Ends           *string        `json:"ends" example:"v_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the alert that this alert resolves. null if it resolves none"`
	PartOf         *string        `json:"part_of" example:"v_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the alert of which only some subjects have recovered. null otherwise"`
	Deliveries     []DeliveryInfo `json:"deliveries" nullable:"false" doc:"The first 100 messages to channels, oldest first. Empty in webhooks"`
	Reason         string         `json:"reason" example:"fired" doc:"In webhooks, why the message is sent: fired, worse, repeated, escalated or resolved. Empty in the API"`
	URL            *string        `json:"url" example:"https://linkwatch.example/alerts/v_01HZ8QK3V5W7X9YABCDEFG" doc:"Page of the alert. null if PUBLIC_URL is not set"`
}

// DeliveryInfo is a message to a channel in JSON.
type DeliveryInfo struct {
	ID          string     `json:"id" example:"y_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the message, as in the header Linkwatch-Delivery"`
	ChannelID   string     `json:"channel_id" example:"a_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the channel"`
	Reason      string     `json:"reason" enum:"fired,worse,repeated,escalated,resolved" example:"fired" doc:"Why the message is sent"`
	Status      string     `json:"status" enum:"pending,delivered,failed" example:"delivered" doc:"Status. A message is retried for 24 hours before it fails"`
	Attempts    int        `json:"attempts" example:"1" doc:"Number of attempts"`
	LastError   *string    `json:"last_error" example:"Slack returned 404: no_service" doc:"Error of the last attempt. null if it succeeded or there was none"`
	CreatedAt   time.Time  `json:"created_at" example:"2025-03-24T12:00:01Z" doc:"When the message was queued"`
	DeliveredAt *time.Time `json:"delivered_at" example:"2025-03-24T12:00:02Z" doc:"When the message was delivered. null if it was not"`
}

// Notification converts an alert with the given subjects and deliveries.
func (s *Store) Notification(a Alert, subjects []AlertSubject, ds []Delivery) Notification {
	n := Notification{
		ID: a.ID, Event: string(a.Event), Severity: a.Severity.String(), Subject: Subject{a.SubjectKind, a.SubjectID, a.SubjectName, orNull(a.SubjectURL)},
		Subjects: []SubjectState{}, SubjectCount: a.SubjectCount, Message: s.Message(a), Flapping: a.Flapping, StartedAt: a.StartedAt.Time,
		ResolvedAt: timeOrNull(a.ResolvedAt), AcknowledgedAt: timeOrNull(a.AcknowledgedAt), Private: a.PrivateTo != "", Ends: orNull(a.EndsID), PartOf: orNull(a.PartOfID), Deliveries: []DeliveryInfo{},
	}
	if a.Silenced(s.clock.Now()) {
		n.SilencedUntil = &a.SilencedUntil.Time
	}
	for _, m := range subjects {
		n.Subjects = append(n.Subjects, s.subjectState(a, m))
	}
	for _, d := range ds {
		n.Deliveries = append(n.Deliveries, DeliveryInfo{
			ID: d.ID, ChannelID: d.ChannelID, Reason: string(d.Reason), Status: string(d.Status), Attempts: d.Attempts, LastError: orNull(d.LastError),
			CreatedAt: d.CreatedAt.Time, DeliveredAt: timeOrNull(d.DeliveredAt),
		})
	}
	if s.opts.Base != "" {
		n.URL = new(s.opts.Base + AlertPath(a.ID))
	}
	return n
}

// AlertPath returns the path of the page of an alert.
func AlertPath(id string) string { return "/alerts/" + id }

// ChannelPath returns the path of the page of a channel.
func ChannelPath(id string) string { return "/alerts/channels/" + id }

// ChannelURL returns the URL of the page of a channel, or "" if PUBLIC_URL is not set.
func (s *Store) ChannelURL(id string) string {
	if s.opts.Base == "" {
		return ""
	}
	return s.opts.Base + ChannelPath(id)
}

// Thread returns the ID of the alert whose messages belong together: the outage that it ends wholly or in part, else
// the alert itself.
func (n Notification) Thread() string {
	switch {
	case n.Ends != nil:
		return *n.Ends
	case n.PartOf != nil:
		return *n.PartOf
	}
	return n.ID
}

// Over reports whether the message says that its condition has ended, at least for the subjects that it is about.
func (n Notification) Over() bool {
	return n.Ends != nil || n.PartOf != nil || n.Reason == string(ReasonResolved)
}

// ManagePath returns the path of the public page where an alert can be acknowledged and silenced without a login. Its key is the
// signature of the alert ID.
func (s *Store) ManagePath(id string) string {
	return AlertPath(id) + "/manage?key=" + s.opts.Sign(id)
}

// ValidManageKey reports whether key is valid for ManagePath of an alert.
func (s *Store) ValidManageKey(id, key string) bool {
	return subtle.ConstantTimeCompare([]byte(key), []byte(s.opts.Sign(id))) == 1
}

// Links returns the links of a message, other than the page of the alert.
func (s *Store) Links(n Notification) []Link {
	if s.opts.Base == "" || n.ResolvedAt != nil {
		return nil
	}
	return []Link{{"Acknowledge or silence", s.opts.Base + s.ManagePath(n.ID)}}
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func timeOrNull(t models.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t.Time
}

// Message returns a summary in one sentence: "12 targets on example.com are down: unexpected status 500".
func (s *Store) Message(a Alert) string {
	t := s.Type(a.Event)
	who, verb, n := a.SubjectName, t.Verb, a.SubjectCount
	if a.Open() && a.OpenSubjectCount > 0 {
		n = a.OpenSubjectCount
	}
	if n > 1 {
		who, verb = humanize.Comma(int64(n))+" "+t.Noun+"s", t.PluralVerb
		if host := a.Host(); host != "" {
			who += " on " + host
		}
	}
	text := who + " " + verb
	switch {
	case s.isEnd(a.Event):
		return text + " after " + FormatDuration(a.Duration(a.ResolvedAt.Time))
	case a.Flapping:
		text += fmt.Sprintf(" (flapping: %d times within an hour)", a.Changes)
	}
	if a.Detail != "" {
		text += ": " + a.Detail
	}
	return text
}

// text returns the summary of a message. It says what is new, and how many other subjects are not over.
func (s *Store) text(a Alert, why Reason, st messageState) string {
	text, t := s.Message(a), s.Type(a.Event)
	count := func(n int, still string) string {
		noun, verb := t.Noun, t.Verb
		if n > 1 {
			noun, verb = noun+"s", t.PluralVerb
		}
		if host := a.Host(); host != "" {
			noun += " on " + host
		}
		return " (" + humanize.Comma(int64(n)) + " " + noun + " " + strings.Replace(verb, " ", still, 1) + ")"
	}
	switch {
	case st.rest > 0:
		for _, kind := range s.opts.Types { // the open alert has the words
			if kind.EndsAs == a.Event {
				t = kind
			}
		}
		text += count(st.rest, " still ")
	case why == ReasonWorse && st.fresh > 0 && st.open > st.fresh:
		if st.fresh > 1 {
			text = strings.Replace(text, " "+t.Noun, " more "+t.Noun, 1)
		}
		text += count(st.open, " ")
	}
	return text
}

// isEnd reports whether alerts of a kind announce the end of another alert, as target.up does.
func (s *Store) isEnd(k event.Kind) bool {
	for _, t := range s.opts.Types {
		if t.EndsAs == k {
			return true
		}
	}
	return false
}

// Link is a link in a message.
type Link struct{ Label, URL string }

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// FormatDuration formats a duration: "5 min", "2 h 10 min", "3 days 4 h".
func FormatDuration(d time.Duration) string {
	d = d.Round(time.Second)
	days, hours, minutes, seconds := int(d/models.Day), int(d%models.Day/time.Hour), int(d%time.Hour/time.Minute), int(d%time.Minute/time.Second)
	part := func(n int, unit string, more int, small string) string {
		text := fmt.Sprintf("%d %s", n, unit)
		if more > 0 {
			text += fmt.Sprintf(" %d %s", more, small)
		}
		return text
	}
	switch {
	case days == 1:
		return part(1, "day", hours, "h")
	case days > 1:
		return part(days, "days", hours, "h")
	case hours > 0:
		return part(hours, "h", minutes, "min")
	case minutes > 0:
		return part(minutes, "min", seconds, "s")
	}
	return fmt.Sprintf("%d s", seconds)
}

// TestNotification returns a test message.
func (s *Store) TestNotification() Notification {
	now := s.clock.Now()
	return Notification{
		ID: models.NewID(models.KindAlert), Event: "test", Severity: event.Info.String(), Subject: Subject{Kind: "system", ID: "test", Name: "Linkwatch"}, Subjects: []SubjectState{},
		Message: "This is a test message from Linkwatch. The channel works.", StartedAt: now.Time, ResolvedAt: &now.Time, Deliveries: []DeliveryInfo{}, Reason: string(ReasonFired),
	}
}
