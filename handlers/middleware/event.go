package middleware

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode"

	"linkwatch/models"
)

// StreamEvent is one server-sent event. Control characters in ID and Name are removed, because
// a line break would start another field.
type StreamEvent struct {
	ID   string // the client sends it to resume; at most 64 printable ASCII characters; "" = clients cannot resume after this event
	Name string // "" = "message"
	Data any    // sent as one line of JSON
}

func (e StreamEvent) text() ([]byte, error) {
	data, err := json.Marshal(e.Data)
	if err != nil {
		return nil, fmt.Errorf("event %s: %w", e.Name, err)
	}
	var b bytes.Buffer
	if id := oneLine(e.ID); id != "" {
		fmt.Fprintf(&b, "id: %s\n", id)
	}
	if name := oneLine(e.Name); name != "" {
		fmt.Fprintf(&b, "event: %s\n", name)
	}
	fmt.Fprintf(&b, "data: %s\n\n", data)
	return b.Bytes(), nil
}

// oneLine removes control characters.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

const maxEventID = 64 // bytes

// lastEventID returns the event after which a client resumes; "" = a new stream. The header wins
// over the query: a browser that reconnects sends both, with the query of the first request.
func lastEventID(r *http.Request) (string, *Problem) {
	const inHeader, inQuery = "Last-Event-ID", "last_event_id"
	id, location := r.Header.Get(inHeader), "header."+inHeader
	if id == "" {
		id, location = r.URL.Query().Get(inQuery), "query."+inQuery
	}
	if len(id) > maxEventID || strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "", NewProblem(models.CodeInvalid, "The ID of the last event is not valid.",
			FieldError{Location: location, Message: fmt.Sprintf("must be at most %d printable ASCII characters", maxEventID)})
	}
	return id, nil
}
