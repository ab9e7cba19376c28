package send_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"linkwatch/jobs/alerts/send"
	"linkwatch/jobs/alerts/standin"
)

// arrived is the expected request: destination, credentials and content.
type arrived struct {
	method, host, path, query string
	auth                      string            // Authorization or similar header; "" to skip the check
	body                      []string          // substrings of the body
	fields                    map[string]string // fields of a JSON body
}

func TestEachServiceGetsTheMessage(t *testing.T) {
	s, server := newSender(t)
	basic := func(user, password string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	}
	const link = "https://watch.example.com/targets/t_1?a=1\\u0026b=2" // in JSON
	want := map[int]arrived{
		1:  {"POST", "hooks.slack.com", "/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX", "", "", []string{`t_1?a=1\u0026amp;b=2`}, map[string]string{"text": message.Title}},
		2:  {"POST", "slack.com", "/api/chat.postMessage", "", "Bearer xoxb-123456789012-123456789013-AbCdEfGhIjKlMnOpQrStUvWx", nil, map[string]string{"channel": "C0123456789", "text": message.Title}},
		3:  {"POST", "discord.com", "/api/webhooks/123456789/dIsCoRd-token_1", "", "", []string{`"embeds":[{"title":"example.com is down"`, "Cause: timed out", link}, nil},
		4:  {"POST", "api.telegram.org", "/bot123456:telegram-Token_1/sendMessage", "", "", []string{"No answer for 3 minutes"}, map[string]string{"chat_id": "-1001234567890", "parse_mode": ""}},
		5:  {"POST", "ntfy.sh", "/top secret/50% @?", "", basic("us/er", standin.MailPassword), []string{"No answer", "\n\n" + message.URL}, nil},
		6:  {"POST", "ntfy.example.com", "/alerts-7f3k2", "", basic("", "tk_ntfy0secret"), []string{"No answer"}, nil},
		7:  {"POST", "gotify.example.com", "/message", "", "Agotify.token-1", []string{link}, map[string]string{"title": message.Title, "date": "2026-05-04T03:02:01Z"}},
		8:  {"POST", "matrix.example.com", "/_matrix/client/r0/join/#alerts:example.com", "access_token=" + url.QueryEscape("syt_matrix%2Ftoken"), "", nil, nil},
		9:  {"GET", "matrix.example.com", "/_matrix/client/r0/login", "", "", nil, nil},
		10: {"POST", "org.webhook.office.com", "/webhookb2/11111111-4444-4444-8444-cccccccccccc@22222222-4444-4444-8444-cccccccccccc/IncomingWebhook/33333333012222222222333333333344/44444444-4444-4444-8444-cccccccccccc/V2teams0secret", "", "", []string{"Cause: timed out"}, map[string]string{"title": message.Title}},
		11: {"POST", "prod-1.logic.azure.com:443", "/workflows/workflowid/triggers/manual/paths/invoke", "api-version=2016-06-01&sig=teams%2Fsig0secret", "", []string{`"AdaptiveCard"`, message.Title, "Cause: timed out"}, map[string]string{"type": "message"}},
		12: {"POST", "events.pagerduty.com:443", "/v2/enqueue", "", "", []string{`"severity":"critical"`, `"summary":"example.com is down"`}, map[string]string{"routing_key": "0123456789abcdef0123456789abcdef", "event_action": "trigger", "dedup_key": "out_1"}},
		13: {"POST", "api.pushover.net", "/1/messages.json", "", "", []string{"token=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "user=uuuuuuuuuuuuuuuuuuuuuuuuuuuuuu", "device=phone", "title=example.com+is+down"}, nil},
		14: {"POST", "mattermost.example.com", "/hooks/mattermosttoken", "", "", []string{message.Title + `\n\nNo answer`, link}, map[string]string{"channel": "alerts"}},
		15: {"POST", "rocket.example.com", "/hooks/rockettokena/rockettokenb", "", "", []string{message.Title + `\n\nNo answer`, link}, map[string]string{"channel": "@anna"}},
		16: {"POST", "chat.googleapis.com", "/v1/spaces/AAAA/messages", "key=google-key&token=google%3Dtoken", "", []string{message.Title + `\n\nNo answer`, link}, nil},
		17: {"POST", "api.opsgenie.com:443", "/v2/alerts", "", "GenieKey 0a0a0a0a-1111-2222-3333-444444444444", []string{"Cause: timed out"}, map[string]string{"message": message.Title, "alias": "out_1", "priority": "P3"}},
	}
	for i, form := range filled {
		if form.kind == "smtp" {
			continue // see TestMail
		}
		t.Run(fmt.Sprint(i, form.kind), func(t *testing.T) {
			raw := formURL(t, form.kind, form.values)
			if kind, err := s.Check(raw); kind != form.kind || err != nil {
				t.Fatalf("kind %q, %v", kind, err)
			}
			answer, err := s.Send(t.Context(), raw, message)
			if err != nil || answer.StatusCode/100 != 2 {
				t.Fatalf("%+v, %v", answer, err)
			}
			noSecret(t, answer.Text, form.secrets...)
			requests := server.Requests()
			if len(requests) == 0 {
				t.Fatal("nothing arrived")
			}
			compare(t, requests[0], want[i])
		})
	}
}

func compare(t *testing.T, got standin.Request, want arrived) {
	t.Helper()
	if got.Method != want.method || got.Host != want.host || got.Path != want.path || got.Query != want.query {
		t.Errorf("%s %s %s ?%s", got.Method, got.Host, got.Path, got.Query)
	}
	if auth := got.Header.Get("Authorization") + got.Header.Get("X-Gotify-Key"); auth != want.auth {
		t.Errorf("authorization %q", auth)
	}
	if got.Header.Get("User-Agent") != "Linkwatch" {
		t.Errorf("user agent %q", got.Header.Get("User-Agent"))
	}
	for _, part := range want.body {
		if !strings.Contains(got.Body, part) {
			t.Errorf("body does not contain %q: %s", part, got.Body)
		}
	}
	var object map[string]any
	if want.fields != nil && json.Unmarshal([]byte(got.Body), &object) != nil {
		t.Errorf("body is not JSON: %s", got.Body)
	}
	for name, value := range want.fields {
		if text, _ := object[name].(string); text != value {
			t.Errorf("%s is %q", name, text)
		}
	}
}

// A message to Matrix is sent after the login, if any, and after joining the room.
func TestSeveralRequests(t *testing.T) {
	s, server := newSender(t)
	for i, want := range map[int][]string{
		8: {"/_matrix/client/r0/join/#alerts:example.com", "/_matrix/client/r0/rooms/!room:example.com/send/m.room.message"},
		9: {"/_matrix/client/r0/login", "/_matrix/client/r0/login", "/_matrix/client/r0/join/!room:example.com", "/_matrix/client/r0/rooms/!room:example.com/send/m.room.message"},
	} {
		if _, err := s.Send(t.Context(), formURL(t, filled[i].kind, filled[i].values), message); err != nil {
			t.Fatal(err)
		}
		requests := server.Requests()
		var paths []string
		for _, r := range requests {
			paths = append(paths, r.Path)
		}
		if strings.Join(paths, " ") != strings.Join(want, " ") {
			t.Errorf("%d: %q", i, paths)
		}
		last := requests[len(requests)-1]
		if !strings.Contains(last.Body, message.Title) || strings.Contains(last.Body, "formatted_body") {
			t.Errorf("%d: %s", i, last.Body)
		}
		if i == 9 && (!strings.Contains(requests[1].Body, `"matrix/p@ss word"`) || last.Query != "access_token=matrix-session-token") {
			t.Errorf("the login: %s, then %s", requests[1].Body, last.Query)
		}
	}
}

// A token issued by the service during a login is removed from the response too.
func TestLoginTokenIsHidden(t *testing.T) {
	s, server := newSender(t)
	server.Instead(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/join/") {
			w.WriteHeader(http.StatusForbidden)
			_, _ = fmt.Fprintf(w, `no /join?%s {"access_token": "matrix-session-token"}`, r.URL.RawQuery)
			return
		}
		_, _ = io.WriteString(w, `{"flows":[{"type":"m.login.password"}],"access_token":"matrix-session-token"}`)
	})
	_, err := s.Send(t.Context(), formURL(t, "matrix", filled[9].values), message)
	if e := failure(t, err, "matrix-session-token"); e.Kind != send.Refused || e.StatusCode != 403 {
		t.Errorf("%s: %s", e.Kind, e)
	}
}

// A resolved message resolves the incident of PagerDuty.
func TestResolved(t *testing.T) {
	s, server := newSender(t)
	over := message
	over.Resolved, over.Severity = true, "unheard of"
	if _, err := s.Send(t.Context(), "pagerduty://events.pagerduty.com/0123456789abcdef0123456789abcdef", over); err != nil {
		t.Fatal(err)
	}
	body := server.Requests()[0].Body
	for _, part := range []string{`"event_action":"resolve"`, `"dedup_key":"out_1"`, `"severity":"error"`} {
		if !strings.Contains(body, part) {
			t.Errorf("the body lacks %s: %s", part, body)
		}
	}
}

// A shoutrrr URL of a service without a form.
func TestGeneric(t *testing.T) {
	s, server := newSender(t)
	for raw, want := range map[string]string{
		"generic://hook.example.com/in?template=json&$team=ops": `{"message":"No answer for 3 minutes.\nCause: timed out\n\nhttps://watch.example.com/targets/t_1?a=1\u0026b=2","team":"ops","title":"example.com is down"}`,
		"generic+https://hook.example.com/in":                   "example.com is down\n\nNo answer for 3 minutes.\nCause: timed out\n\nhttps://watch.example.com/targets/t_1?a=1&b=2",
	} {
		if kind, err := s.Check(raw); kind != "generic" || err != nil {
			t.Errorf("kind %q, %v", kind, err)
		}
		if answer, err := s.Send(t.Context(), raw, message); err != nil || answer.Text != "ok" {
			t.Errorf("%+v, %v", answer, err)
		}
		if r := server.Requests(); len(r) != 1 || r[0].Body != want || r[0].Path != "/in" {
			t.Errorf("%+v", r)
		}
	}
}

// Headers, names of fields and the method of a generic URL.
func TestGenericParameters(t *testing.T) {
	s, server := newSender(t)
	for raw, want := range map[string]string{
		"generic://hook.example.com/in?template=JSON&titlekey=subject&messagekey=body&method=PUT&@apiKey=a+b&kept=1&$team=ops": "PUT /in application/json a b body subject team",
		"generic://hook.example.com/in?contenttype=text/x&@Api-Key=a+b":                                                        "POST /in text/plain a b",
	} {
		if _, err := s.Send(t.Context(), raw, message); err != nil {
			t.Fatal(err)
		}
		r := server.Requests()
		if len(r) != 1 {
			t.Fatalf("%d requests", len(r))
		}
		got := []string{r[0].Method, r[0].Path, r[0].Header.Get("Content-Type"), r[0].Header.Get("Api-Key")}
		var fields map[string]string
		if json.Unmarshal([]byte(r[0].Body), &fields) == nil {
			got = append(got, slices.Sorted(maps.Keys(fields))...)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("got %q, want %q", text, want)
		}
	}
	if _, err := s.Send(t.Context(), "generic://hook.example.com/in?template=other", message); err == nil || len(server.Requests()) > 0 {
		t.Errorf("a template that does not exist: %v", err)
	}
}
