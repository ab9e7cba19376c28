package send_test

import (
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"linkwatch/jobs/alerts/send"
	"linkwatch/jobs/alerts/standin"
	"linkwatch/models/alerts"
	"linkwatch/models/modelstest"
)

// filled are completed forms of all services, with their secrets.
var filled = []struct {
	kind    string
	values  map[string]string
	secrets []string
}{
	{"smtp", map[string]string{"host": "smtp.example.com", "user": standin.MailUser, "password": standin.MailPassword, "from": "linkwatch@example.com", "from_name": "Linkwatch", "to": "anna+alerts@example.com, bob@example.com"}, []string{standin.MailPassword}},
	{"slack", map[string]string{"webhook": "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"}, []string{"XXXXXXXXXXXXXXXXXXXXXXXX"}},
	{"slack", map[string]string{"token": "xoxb-123456789012-123456789013-AbCdEfGhIjKlMnOpQrStUvWx", "channel": "C0123456789"}, []string{"AbCdEfGhIjKlMnOpQrStUvWx", "123456789012-123456789013"}},
	{"discord", map[string]string{"webhook": "https://discord.com/api/webhooks/123456789/dIsCoRd-token_1"}, []string{"dIsCoRd-token_1"}},
	{"telegram", map[string]string{"token": "123456:telegram-Token_1", "chat": "-1001234567890"}, []string{"telegram-Token_1"}},
	{"ntfy", map[string]string{"topic": "top secret/50% @?", "user": "us/er", "password": standin.MailPassword, "priority": "high"}, []string{"top secret/50% @?", standin.MailPassword}},
	{"ntfy", map[string]string{"server": "https://ntfy.example.com", "topic": "alerts-7f3k2", "token": "tk_ntfy0secret"}, []string{"tk_ntfy0secret"}},
	{"gotify", map[string]string{"server": "https://gotify.example.com", "token": "Agotify.token-1"}, []string{"Agotify.token-1"}},
	{"matrix", map[string]string{"server": "https://matrix.example.com", "token": "syt_matrix%2Ftoken", "room": "#alerts:example.com"}, []string{"syt_matrix%2Ftoken"}},
	{"matrix", map[string]string{"server": "https://matrix.example.com", "user": "linkwatch", "password": "matrix/p@ss word", "room": "!room:example.com"}, []string{"matrix/p@ss word"}},
	{"teams", map[string]string{"webhook": "https://org.webhook.office.com/webhookb2/11111111-4444-4444-8444-cccccccccccc@22222222-4444-4444-8444-cccccccccccc/IncomingWebhook/33333333012222222222333333333344/44444444-4444-4444-8444-cccccccccccc/V2teams0secret"}, []string{"V2teams0secret"}},
	{"teams", map[string]string{"webhook": "https://prod-1.logic.azure.com:443/workflows/workflowid/triggers/manual/paths/invoke?api-version=2016-06-01&sig=teams%2Fsig0secret"}, []string{"teams/sig0secret", "teams%2Fsig0secret"}},
	{"pagerduty", map[string]string{"key": "0123456789abcdef0123456789abcdef"}, []string{"0123456789abcdef0123456789abcdef"}},
	{"pushover", map[string]string{"user": "uuuuuuuuuuuuuuuuuuuuuuuuuuuuuu", "token": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "devices": "phone"}, []string{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "uuuuuuuuuuuuuuuuuuuuuuuuuuuuuu"}},
	{"mattermost", map[string]string{"webhook": "https://mattermost.example.com/hooks/mattermosttoken", "channel": "alerts"}, []string{"mattermosttoken"}},
	{"rocketchat", map[string]string{"webhook": "https://rocket.example.com/hooks/rockettokena/rockettokenb", "channel": "@anna"}, []string{"rockettokena", "rockettokenb"}},
	{"googlechat", map[string]string{"webhook": "https://chat.googleapis.com/v1/spaces/AAAA/messages?key=google-key&token=google%3Dtoken"}, []string{"google-key", "google=token"}},
	{"opsgenie", map[string]string{"key": "0a0a0a0a-1111-2222-3333-444444444444"}, []string{"0a0a0a0a-1111-2222-3333-444444444444"}},
}

func formURL(t testing.TB, kind string, values map[string]string) string {
	t.Helper()
	service, ok := alerts.ServiceOf(kind)
	if !ok {
		t.Fatalf("no service %s", kind)
	}
	raw, err := service.URL(values)
	if err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	return raw
}

var now = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

func newSender(t testing.TB) (*send.Sender, *standin.Server) {
	t.Helper()
	if _, fuzzing := t.(*testing.F); !fuzzing { // the fuzzer has its own goroutines
		modelstest.NoLeaks(t)
	}
	server := standin.New(t)
	s, err := send.New(send.Options{
		Relay: server.Relay(t), Timeout: time.Minute, Clock: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, server
}

var message = send.Message{
	ID: "al_1", Group: "out_1", Title: "example.com is down", Text: "No answer for 3 minutes.\nCause: timed out", URL: "https://watch.example.com/targets/t_1?a=1&b=2",
	Severity: "critical", Event: "target.down", At: now,
}

// failure returns the *send.Error in err and checks that it contains no secret.
func failure(t *testing.T, err error, secrets ...string) *send.Error {
	t.Helper()
	e, ok := errors.AsType[*send.Error](err)
	if !ok || e.Error() == "" {
		t.Fatalf("got error %#v", err)
	}
	noSecret(t, e.Error()+"\n"+e.Answer, secrets...)
	return e
}

func noSecret(t *testing.T, text string, secrets ...string) {
	t.Helper()
	for _, secret := range secrets {
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), strings.ReplaceAll(secret, "-", "/")} {
			if strings.Contains(text, form) {
				t.Errorf("%q contains a secret", text)
			}
		}
	}
	if strings.Contains(text, "://") {
		t.Errorf("%q contains a URL", text)
	}
}
