package alerts_test

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"

	"linkwatch/models"
	"linkwatch/models/alerts"
)

func service(t testing.TB, kind string) alerts.Service {
	t.Helper()
	s, ok := alerts.ServiceOf(kind)
	if !ok {
		t.Fatalf("no service %s", kind)
	}
	return s
}

func TestServicesAreComplete(t *testing.T) {
	kinds := map[string]bool{alerts.KindWebhook: true, alerts.KindURL: true}
	for _, s := range alerts.Services {
		if kinds[s.Kind] || s.Label == "" || !strings.HasSuffix(s.Help, ".") || len(s.Fields) == 0 {
			t.Errorf("%+v", s)
		}
		kinds[s.Kind] = true
		names := map[string]bool{}
		for _, f := range s.Fields {
			if names[f.Name] || f.Name == "" || f.Label == "" || f.Type == "" || (f.Type == alerts.Choice) != (len(f.Options) > 1) || f.Type == alerts.Password && !f.Secret {
				t.Errorf("%s: %+v", s.Kind, f)
			}
			if f.Hint != "" && !strings.HasSuffix(f.Hint, ".") {
				t.Errorf("%s: the hint of %s is not a sentence", s.Kind, f.Name)
			}
			names[f.Name] = true
		}
	}
	if _, ok := alerts.ServiceOf("nothing"); ok {
		t.Error("found a service that does not exist")
	}
}

func TestURLs(t *testing.T) {
	for _, test := range []struct {
		kind   string
		values map[string]string
		want   string
	}{
		{"smtp", map[string]string{"host": " smtp.example.com ", "from": "a@example.com", "to": "b+c@example.com"}, "smtp://smtp.example.com:587/?encryption=ExplicitTLS&fromaddress=a%40example.com&requirestarttls=yes&toaddresses=b%2Bc%40example.com"},
		{"smtp", map[string]string{"host": "::1", "encryption": "tls", "from": "a@example.com", "to": "b@example.com", "user": "u:/@", "password": " p?#%"}, "smtp://u%3A%2F%40:%20p%3F%23%25@[::1]:465/?encryption=ImplicitTLS&fromaddress=a%40example.com&toaddresses=b%40example.com"},
		{"slack", map[string]string{"token": "xoxb-123456789012-123456789013-AbCdEfGhIjKlMnOpQrStUvWx", "channel": "#alerts"}, "slack://xoxb:123456789012-123456789013-AbCdEfGhIjKlMnOpQrStUvWx@alerts"},
		{"discord", map[string]string{"webhook": "https://ptb.discord.com/api/v10/webhooks/123/to-ken?thread_id=4"}, "discord://to-ken@123?thread_id=4"},
		{"ntfy", map[string]string{"topic": "a b/c?"}, "ntfy://ntfy.sh/a%20b/c%3F?priority=default"},
		{"ntfy", map[string]string{"server": "http://ntfy.lan:8080/sub/", "topic": "t", "token": "tk_1"}, "ntfy://:tk_1@ntfy.lan:8080/sub/t?disabletls=yes&priority=default"},
		{"gotify", map[string]string{"server": "http://gotify.lan/sub/", "token": "Agotify.token-1"}, "gotify://gotify.lan/sub/Agotify.token-1?disabletls=yes&useheader=yes"},
		{"matrix", map[string]string{"server": "http://matrix.lan:8008", "user": "u", "password": "p/q", "room": "#a:lan"}, "matrix://u:p%2Fq@matrix.lan:8008/?disabletls=yes&rooms=%23a%3Alan"},
		{"pagerduty", map[string]string{"key": "0123456789abcdef0123456789ABCDEF", "region": "eu"}, "pagerduty://events.eu.pagerduty.com:443/0123456789abcdef0123456789ABCDEF"},
		{"mattermost", map[string]string{"webhook": "http://mm.lan/hooks/token/", "channel": "town square"}, ""},
		{"mattermost", map[string]string{"webhook": "http://mm.lan/hooks/token/"}, "mattermost://mm.lan/token?disabletls=yes"},
		{"opsgenie", map[string]string{"key": "0a0a0a0a-1111-2222-3333-444444444444", "region": "eu", "priority": "P1"}, "opsgenie://api.eu.opsgenie.com/0a0a0a0a-1111-2222-3333-444444444444?priority=P1"},
	} {
		if got, err := service(t, test.kind).URL(test.values); got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%s: %s, %v", test.kind, got, err)
		}
	}
}

// Errors are of the right field, say what to do and do not repeat the value.
func TestBadValues(t *testing.T) {
	const smtp = "smtp.example.com"
	for _, test := range []struct {
		kind, field string
		values      map[string]string
	}{
		{"smtp", "host", map[string]string{"from": "a@example.com", "to": "b@example.com"}},
		{"smtp", "host", map[string]string{"host": "secret/x", "from": "a@example.com", "to": "b@example.com"}},
		{"smtp", "port", map[string]string{"host": smtp, "port": "secret", "from": "a@example.com", "to": "b@example.com"}},
		{"smtp", "port", map[string]string{"host": smtp, "port": "65536", "from": "a@example.com", "to": "b@example.com"}},
		{"smtp", "encryption", map[string]string{"host": smtp, "encryption": "secret", "from": "a@example.com", "to": "b@example.com"}},
		{"smtp", "from", map[string]string{"host": smtp, "from": "secret", "to": "b@example.com"}},
		{"smtp", "from", map[string]string{"host": smtp, "from": "a@example.com,secret@example.com", "to": "b@example.com"}},
		{"smtp", "to", map[string]string{"host": smtp, "from": "a@example.com", "to": "Secret <b@example.com>"}},
		{"smtp", "to", map[string]string{"host": smtp, "from": "a@example.com", "to": ",;"}},
		{"smtp", "to", map[string]string{"host": smtp, "from": "a@example.com", "to": strings.Repeat("secret@example.com,", 21)}},
		{"smtp", "user", map[string]string{"host": smtp, "password": "secret", "from": "a@example.com", "to": "b@example.com"}},
		{"smtp", "password", map[string]string{"host": smtp, "user": "u", "password": "secret\r\n", "from": "a@example.com", "to": "b@example.com"}},
		{"smtp", "password", map[string]string{"host": smtp, "user": "u", "password": "secret\xff", "from": "a@example.com", "to": "b@example.com"}},
		{"smtp", "password", map[string]string{"host": smtp, "user": "u", "password": strings.Repeat("secret", 400), "from": "a@example.com", "to": "b@example.com"}},
		{"slack", "webhook", nil},
		{"slack", "webhook", map[string]string{"webhook": "https://evil.example/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"}},
		{"slack", "webhook", map[string]string{"webhook": "https://hooks.slack.com/secret"}},
		{"slack", "token", map[string]string{"webhook": "https://hooks.slack.com/secret", "token": "secret"}},
		{"slack", "token", map[string]string{"token": "secret", "channel": "C1"}},
		{"slack", "channel", map[string]string{"token": "xoxb-123456789012-123456789013-AbCdEfGhIjKlMnOpQrStUvWx", "channel": "sec/ret"}},
		{"discord", "webhook", map[string]string{"webhook": "https://discord.com.evil.example/api/webhooks/1/secret"}},
		{"discord", "webhook", map[string]string{"webhook": "secret"}},
		{"telegram", "token", map[string]string{"token": "secret", "chat": "1"}},
		{"telegram", "chat", map[string]string{"token": "1:a", "chat": "secret"}},
		{"ntfy", "server", map[string]string{"server": "ftp://secret", "topic": "t"}},
		{"ntfy", "server", map[string]string{"server": "https://secret@ntfy.sh", "topic": "t"}},
		{"ntfy", "server", map[string]string{"server": "https://ntfy.sh/?secret", "topic": "t"}},
		{"ntfy", "topic", map[string]string{"topic": "/"}},
		{"ntfy", "token", map[string]string{"topic": "t", "token": "secret", "user": "u"}},
		{"ntfy", "user", map[string]string{"topic": "t", "password": "secret"}},
		{"gotify", "server", map[string]string{"server": "secret", "token": "Agotify.token-1"}},
		{"gotify", "token", map[string]string{"server": "https://gotify.lan", "token": "secret"}},
		{"matrix", "server", map[string]string{"server": "https://matrix.lan/secret", "token": "t", "room": "#a:b"}},
		{"matrix", "token", map[string]string{"server": "https://matrix.lan", "user": "secret", "room": "#a:b"}},
		{"matrix", "token", map[string]string{"server": "https://matrix.lan", "token": "t", "user": "secret", "room": "#a:b"}},
		{"matrix", "room", map[string]string{"server": "https://matrix.lan", "token": "t", "room": "secret"}},
		{"matrix", "room", map[string]string{"server": "https://matrix.lan", "token": "t", "room": ","}},
		{"teams", "webhook", map[string]string{"webhook": "http://org.webhook.office.com/secret"}},
		{"pagerduty", "key", map[string]string{"key": "secret"}},
		{"pushover", "user", map[string]string{"user": "secret", "token": strings.Repeat("t", 30)}},
		{"pushover", "token", map[string]string{"user": strings.Repeat("u", 30), "token": "secret"}},
		{"mattermost", "webhook", map[string]string{"webhook": "https://mm.lan/secret"}},
		{"mattermost", "channel", map[string]string{"webhook": "https://mm.lan/hooks/t", "channel": "sec/ret"}},
		{"rocketchat", "webhook", map[string]string{"webhook": "http://rc.lan/hooks/a/secret"}},
		{"rocketchat", "channel", map[string]string{"webhook": "https://rc.lan/hooks/a/b", "channel": "sec ret"}},
		{"googlechat", "webhook", map[string]string{"webhook": "https://chat.googleapis.com/v1/spaces/A/messages?key=secret"}},
		{"opsgenie", "key", map[string]string{"key": "secret"}},
	} {
		s := service(t, test.kind)
		raw, err := s.URL(test.values)
		e, ok := errors.AsType[*models.Error](err)
		if raw != "" || !ok || e.Code != models.CodeInvalid || len(e.Fields) != 1 || e.Fields[0].Location != test.field {
			t.Errorf("%s %s: %q, %v", test.kind, test.field, raw, err)
			continue
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%v repeats the value", err)
		}
	}
}

// The error names each invalid field once.
func TestAllBadValuesAtOnce(t *testing.T) {
	_, err := service(t, "smtp").URL(map[string]string{
		"port": "secret", "from": "secret", "to": "secret", "password": "secret", "from_name": strings.Repeat("ä", 101),
	})
	e, ok := errors.AsType[*models.Error](err)
	if !ok {
		t.Fatal(err)
	}
	want := []models.FieldError{
		{Location: "port", Message: "must be a number from 1 to 65535"}, {Location: "host", Message: "is required"},
		{Location: "from", Message: "must be an email address such as linkwatch@example.com"},
		{Location: "to", Message: "must be email addresses such as alerts@example.com, separated by commas"}, {Location: "user", Message: "is required with a password"},
		{Location: "from_name", Message: "must be at most 100 characters"},
	}
	for _, f := range want {
		if !slices.Contains(e.Fields, f) {
			t.Errorf("missing field %v", f)
		}
	}
	if len(e.Fields) != len(want) {
		t.Errorf("got fields %v", e.Fields)
	}
}

// Every accepted form gives a valid URL of its service.
func FuzzServiceURL(f *testing.F) {
	for i := range alerts.Services {
		f.Add(i, "https://example.com/hooks/a/b?key=1&token=2", "a@example.com", "p@ss/w%rd?")
		f.Add(i, "A0123456789abcd", "0123456789abcdef0123456789abcdef", "#a:b")
	}
	f.Fuzz(func(t *testing.T, i int, a, b, c string) {
		if i < 0 || i >= len(alerts.Services) {
			return
		}
		s, values := alerts.Services[i], map[string]string{}
		for j, field := range s.Fields {
			values[field.Name] = []string{a, b, c}[j%3]
		}
		raw, err := s.URL(values)
		if err != nil {
			if models.CodeOf(err) != models.CodeInvalid || raw != "" {
				t.Errorf("%q, %v", raw, err)
			}
			return
		}
		u, err := url.Parse(raw)
		if err != nil || strings.TrimSuffix(u.Scheme, "+https") != s.Kind || u.Host == "" {
			t.Errorf("%q, %v", raw, err)
		}
	})
}
