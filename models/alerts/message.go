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

// MaxSubjects is how many subjects of an alert a message names.
const MaxSubjects = 20

// Subject is what an alert is about, on the wire.
type Subject struct {
	Kind string  `json:"kind" example:"target" doc:"What it is: target, link, job, page, website or system"`
	ID   string  `json:"id" example:"t_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the subject"`
	Name string  `json:"name" example:"Shop" doc:"Name of the subject"`
	URL  *string `json:"url" example:"https://shop.example/" doc:"URL of the subject. null if it has none"`
}

// Notification is an alert on the wire: in the API, and as the body of webhooks.
type Notification struct {
	ID             string         `json:"id" example:"v_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the alert. Ids sort by creation time"`
	Event          string         `json:"event" example:"target.down" doc:"What happened"`
	Severity       string         `json:"severity" enum:"info,warning,critical" example:"critical" doc:"How urgent it is"`
	Subject        Subject        `json:"subject" doc:"What it happened to: the first subject, if there are several"`
	Subjects       []Subject      `json:"subjects" nullable:"false" doc:"The first 20 subjects, those of which it goes on first"`
	SubjectCount   int            `json:"subject_count" example:"1" doc:"Number of subjects"`
	Message        string         `json:"message" example:"Shop is down: unexpected status 500" doc:"What happened, in one sentence"`
	Flapping       bool           `json:"flapping" example:"false" doc:"Whether the alert is flapping: its condition began at least four times within an hour. It is resolved after 15 stable minutes"`
	StartedAt      time.Time      `json:"started_at" example:"2025-03-24T12:00:00Z" doc:"When it began"`
	ResolvedAt     *time.Time     `json:"resolved_at" example:"2025-03-24T12:05:00Z" doc:"When it ended. null if it goes on"`
	AcknowledgedAt *time.Time     `json:"acknowledged_at" example:"2025-03-24T12:01:00Z" doc:"When it was acknowledged. null if it was not"`
	SilencedUntil  *time.Time     `json:"silenced_until" example:"2025-03-24T13:01:00Z" doc:"Until when no messages about it are sent, unless it is resolved before. null if it is not silenced"`
	Private        bool           `json:"private" example:"false" doc:"Whether its subjects were private when it began: only their owner and admins see it"`
	Ends           *string        `json:"ends" example:"v_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the alert that this alert resolves. null if it resolves none"`
	Deliveries     []DeliveryInfo `json:"deliveries" nullable:"false" doc:"Messages to channels, the first 100, oldest first. In a webhook it is empty"`
	Reason         string         `json:"reason" example:"fired" doc:"In a webhook: why it is sent, which is fired, worse, repeated, escalated or resolved. In the API it is empty"`
	URL            *string        `json:"url" example:"https://linkwatch.example/alerts/v_01HZ8QK3V5W7X9YABCDEFG" doc:"Page of the alert. null if PUBLIC_URL is not set"`
}

// DeliveryInfo is a message to a channel on the wire.
type DeliveryInfo struct {
	ID          string     `json:"id" example:"y_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the message, as in the header Linkwatch-Delivery"`
	ChannelID   string     `json:"channel_id" example:"a_01HZ8QK3V5W7X9YABCDEFG" doc:"Id of the channel"`
	Reason      string     `json:"reason" enum:"fired,worse,repeated,escalated,resolved" example:"fired" doc:"Why it is sent"`
	Status      string     `json:"status" enum:"pending,delivered,failed" example:"delivered" doc:"Whether it was delivered. A message is tried for 24 hours"`
	Attempts    int        `json:"attempts" example:"1" doc:"Times that it was sent"`
	LastError   *string    `json:"last_error" example:"Slack answered 404: no_service" doc:"Why the last attempt failed. null if it did not"`
	CreatedAt   time.Time  `json:"created_at" example:"2025-03-24T12:00:01Z" doc:"When it was put into the queue"`
	DeliveredAt *time.Time `json:"delivered_at" example:"2025-03-24T12:00:02Z" doc:"When it was delivered. null if it was not"`
}

// Notification is an alert as it is sent, with some of its members and deliveries.
func (s *Store) Notification(a Alert, members []Member, ds []Delivery) Notification {
	n := Notification{
		ID: a.ID, Event: string(a.Event), Severity: a.Severity.String(), Subject: Subject{a.SubjectKind, a.SubjectID, a.SubjectName, orNull(a.SubjectURL)},
		Subjects: []Subject{}, SubjectCount: a.Members, Message: s.Message(a), Flapping: a.Flapping, StartedAt: a.StartedAt.Time,
		ResolvedAt: timeOrNull(a.ResolvedAt), AcknowledgedAt: timeOrNull(a.AcknowledgedAt), Private: a.PrivateTo != "", Ends: orNull(a.EndsID), Deliveries: []DeliveryInfo{},
	}
	if a.Silenced(s.clock.Now()) {
		n.SilencedUntil = &a.SilencedUntil.Time
	}
	for _, m := range members {
		n.Subjects = append(n.Subjects, Subject{m.SubjectKind, m.SubjectID, m.Name, orNull(m.URL)})
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

// AlertPath is the path of the page of an alert.
func AlertPath(id string) string { return "/alerts/" + id }

// AttendPath is the path of the page on which an alert can be acknowledged and silenced without a
// login: its key is a signature that only this program can make.
func (s *Store) AttendPath(id string) string {
	return AlertPath(id) + "/attend?key=" + s.opts.Sign(id)
}

// AttendKey reports whether key is the key of AttendPath for an alert.
func (s *Store) AttendKey(id, key string) bool {
	return subtle.ConstantTimeCompare([]byte(key), []byte(s.opts.Sign(id))) == 1
}

// Links are the links of a message, besides that of its page.
func (s *Store) Links(n Notification) []Link {
	if s.opts.Base == "" || n.ResolvedAt != nil {
		return nil
	}
	return []Link{{"Acknowledge or silence", s.opts.Base + s.AttendPath(n.ID)}}
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

// Message describes the alert in one sentence: "12 targets on example.com are down: unexpected status 500".
func (s *Store) Message(a Alert) string {
	t := s.Type(a.Event)
	who, did, n := a.SubjectName, t.Did, a.Members
	if a.Open() && a.OpenMembers > 0 {
		n = a.OpenMembers
	}
	if n > 1 {
		who, did = humanize.Comma(int64(n))+" "+t.Noun+"s", t.DidMany
		if host := a.Host(); host != "" {
			who += " on " + host
		}
	}
	text := who + " " + did
	switch {
	case s.isEnd(a.Event):
		return text + " after " + Duration(a.Took(a.ResolvedAt.Time))
	case a.Flapping:
		text += fmt.Sprintf(" (flapping: %d times within an hour)", a.Changes)
	}
	if a.Detail != "" {
		text += ": " + a.Detail
	}
	return text
}

// isEnd reports whether alerts of a kind announce the end of another alert.
func (s *Store) isEnd(k event.Kind) bool {
	for _, t := range s.opts.Types {
		if t.EndsAs == k {
			return true
		}
	}
	return false
}

// Title is the message in one line, with its reason: "Resolved: Shop is down".
func (n Notification) Title() string {
	switch Reason(n.Reason) {
	case Repeating:
		return "Still: " + n.Message
	case Escalating:
		return "Not acknowledged: " + n.Message
	case Resolving:
		return "Resolved: " + n.Message
	default:
		return n.Message
	}
}

// Text is the message in plain text: its times, subjects and links, one on each line.
func (n Notification) Text(links ...Link) string {
	var b strings.Builder
	if n.SubjectCount == 0 { // a test
		return ""
	}
	if n.ResolvedAt != nil && n.ResolvedAt.After(n.StartedAt) {
		fmt.Fprintf(&b, "From %s to %s (%s)\n", stamp(n.StartedAt), stamp(*n.ResolvedAt), Duration(n.ResolvedAt.Sub(n.StartedAt)))
	} else {
		fmt.Fprintf(&b, "Since %s\n", stamp(n.StartedAt))
	}
	for _, sub := range n.Subjects {
		b.WriteString(sub.Name)
		if sub.URL != nil && *sub.URL != sub.Name {
			b.WriteString(" – " + *sub.URL)
		}
		b.WriteByte('\n')
	}
	if more := n.SubjectCount - len(n.Subjects); more > 0 {
		fmt.Fprintf(&b, "and %s more\n", humanize.Comma(int64(more)))
	}
	if n.Flapping && n.ResolvedAt == nil {
		b.WriteString("This alert started and ended several times. It resolves after 15 stable minutes.\n")
	}
	for _, l := range links {
		b.WriteString(l.Label + ": " + l.URL + "\n")
	}
	return strings.TrimSpace(b.String())
}

// Link is a link in a message.
type Link struct{ Label, URL string }

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// Duration is a length of time in words: "5 min", "2 h 10 min", "3 days 4 h".
func Duration(d time.Duration) string {
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

// TestNotification is the notification that tests a channel.
func (s *Store) TestNotification() Notification {
	now := s.clock.Now()
	return Notification{
		ID: models.NewID(models.KindAlert), Event: "test", Severity: event.Info.String(), Subject: Subject{Kind: "system", ID: "test", Name: "Linkwatch"}, Subjects: []Subject{},
		Message: "This is a test message from Linkwatch. The channel works.", StartedAt: now.Time, ResolvedAt: &now.Time, Deliveries: []DeliveryInfo{}, Reason: string(FirstTime),
	}
}
