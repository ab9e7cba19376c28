package send_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"linkwatch/jobs/alerts/send"
)

var hostile = send.Message{
	ID: "al_2\r\nBcc: evil@example.com", Title: "Down\r\nBcc: evil@example.com\x00\u202e<script>alert(1)</script> @everyone " + strings.Repeat("long ", 2000),
	Text: "[click](https://evil.example) <https://evil.example|click> <!channel> @channel **bold**\x00\x1b[31m\u202e\r\n" + strings.Repeat("ä & <b>text</b> ", 2000),
	URL:  "https://watch.example.com/a",
}

// Every service gets a hostile message within its limits, as text and not as markup.
func TestHostileMessage(t *testing.T) {
	s, server := newSender(t)
	limits := map[string]int{"pushover": 1024, "discord": 2000, "telegram": 4096, "ntfy": 4096}
	each(t, func(t *testing.T, raw string, _ []string) {
		server.Requests()
		if _, err := s.Send(t.Context(), raw, hostile); err != nil {
			t.Fatal(err)
		}
		requests := server.Requests()
		last := requests[len(requests)-1]
		for name, values := range last.Header {
			if strings.ContainsAny(strings.Join(values, ""), "\r\n\x00") || name == "Bcc" {
				t.Errorf("the header %s is %q", name, values)
			}
		}
		kind, _, _ := strings.Cut(raw, ":")
		for _, text := range strs(last.Body) {
			if strings.ContainsFunc(text, func(r rune) bool {
				return r != '\n' && (unicode.IsControl(r) || r == '\u202e' || r == '\ufffd')
			}) {
				t.Errorf("control characters in %.200q", text)
			}
			if limit := limits[kind]; limit > 0 && len(text) > limit {
				t.Errorf("%d bytes", len(text))
			}
			if len(text) > 4096 {
				t.Errorf("%d bytes", len(text))
			}
			switch kind {
			case "slack", "googlechat", "teams":
				if strings.ContainsAny(text, "<>") && !strings.Contains(text, `\<`) {
					t.Errorf("angle brackets in %.200q", text)
				}
			case "discord", "mattermost", "rocketchat":
				if strings.Contains(text, "@everyone") || strings.Contains(text, "@channel") || strings.Contains(text, " [click]") {
					t.Errorf("markup in %.200q", text)
				}
			}
		}
		if !strings.Contains(decoded(last.Body), hostile.URL) {
			t.Errorf("the link is missing in %.300q", last.Body)
		}
	})
}

// strs returns all strings in a JSON or form body, or the body itself.
func strs(body string) []string {
	var object any
	if json.Unmarshal([]byte(body), &object) != nil {
		if form, err := url.ParseQuery(body); err == nil && form.Has("message") {
			return []string{form.Get("message"), form.Get("title")}
		}
		return []string{body}
	}
	var out []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if !json.Valid([]byte(v)) { // PagerDuty details are JSON in JSON
				out = append(out, v)
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(object)
	return out
}

func decoded(body string) string { return strings.Join(strs(body), "\n") }

// A message without a text is sent.
func TestEmptyMessage(t *testing.T) {
	s, server := newSender(t)
	each(t, func(t *testing.T, raw string, _ []string) {
		if _, err := s.Send(t.Context(), raw, send.Message{}); err != nil {
			t.Fatal(err)
		}
		requests := server.Requests()
		if last := requests[len(requests)-1]; !strings.Contains(last.Body, "Linkwatch") {
			t.Errorf("%s", last.Body)
		}
	})
}

// Invalid links are left out.
func TestBadLinks(t *testing.T) {
	s, server := newSender(t)
	for i, link := range []string{"javascript:alert(1)", "https://a.example/ b", "https://a.example/\nX", "//a.example", "https://a.example/" + strings.Repeat("x", 1000), "https://a.example/>x"} {
		m := message
		m.URL = link
		if _, err := s.Send(t.Context(), "ntfy://ntfy.sh/topic", m); err != nil {
			t.Fatal(err)
		}
		if r := server.Requests()[0]; strings.HasSuffix(r.Body, link) || r.Header.Get("Click") != "" {
			t.Errorf("%d: %s %v", i, r.Body, r.Header)
		}
	}
}

// Markup parameters in a channel URL are ignored.
func TestParametersOfTheURL(t *testing.T) {
	s, server := newSender(t)
	for raw, not := range map[string]string{
		"telegram://123456:token_1@telegram?chats=1&parsemode=HTML&title=x": "parse_mode",
		"discord://token_1@123456?splitlines=yes&title=x":                   `"title":"x"`,
	} {
		if _, err := s.Send(t.Context(), raw, message); err != nil {
			t.Fatal(err)
		}
		if r := server.Requests(); len(r) != 1 || strings.Contains(r[0].Body, not) {
			t.Errorf("%s: %+v", raw, r)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, form := range filled {
		f.Add(formURL(f, form.kind, form.values))
	}
	for _, raw := range []string{"", "://", "smtp://", "matrix://:@h/?rooms=,", "teams+https://x", "generic+http://x?@=&$=", "logger://", "slack://a:b@c", "discord://a@b/raw", "telegram://1:a@telegram?chats=", "hangouts://x", "signal://a:b@c/d", "pagerduty:///x", "bark://", "zulip://a:b@c"} {
		f.Add(raw)
	}
	s, _ := newSender(f)
	f.Fuzz(func(t *testing.T, raw string) {
		kind, err := s.Check(raw)
		if (kind == "") != (err != nil) {
			t.Errorf("kind %q, %v", kind, err)
		}
		if err != nil {
			checked(t, err, raw)
		}
	})
}

func TestCheck(t *testing.T) {
	s, server := newSender(t)
	for raw, want := range map[string]string{
		"https://hook.example.com/a?b=c": "webhook", "http://hook.example.com": "webhook", "hangouts://chat.googleapis.com/v1/spaces/A/messages?key=k&token=t": "googlechat",
		"telegram://1:secret1@telegram?chats=1": "telegram", "matrix://user:secret1@matrix.example.com/?rooms=%23a:b": "matrix", "pushbullet://secret1secret1secret1secret1secret/device": "pushbullet",
		"SMTP://mail.example.com/?from=a@example.com&to=b@example.com": "smtp", "signal://signal.example.com:8080/+15550001111/+15550002222": "signal", "pagerduty:///0123456789abcdef0123456789abcdef": "pagerduty",
	} {
		if kind, err := s.Check(raw); kind != want || err != nil {
			t.Errorf("%s: kind %q, %v", raw, kind, err)
		}
	}
	for _, raw := range []string{
		"", "secret1", "secret1:secret2", "://secret1", "ftp://secret1:secret2@h/", "logger://secret1", "smtp://secret1@mail.example.com/", "slack://secret1:secret2@C1", "telegram://secret1@telegram?chats=1",
		"telegram://1:secret1@telegram", "discord://secret1@123/path", "discord://secret1", "gotify://gotify.example.com/secret1", "matrix://user:secret1@/", "matrix://matrix.example.com", "matrix://:secret1@matrix.example.com/?rooms=,",
		"ntfy://secret1@ntfy.sh", "ntfy://ntfy.sh/topic?secret1=1", "ntfy://ntfy.sh/%zz", "ntfy://ntfy.sh/a\nb", "ntfy://ntfy.sh/\xff", "ntfy://ntfy.sh/secret1?disabletlsverification=yes", "smtp://mail.example.com/?from=a@example.com&to=b@example.com&skiptlsverify=true",
		"smtp://mail.example.com/?from=secret1&to=b@example.com", "smtp://mail.example.com/?from=a@example.com&to=" + strings.Repeat("a@example.com,", 60), "https://user:secret1@hook.example.com", "https:///secret1", "teams+https://user:secret1@x.example.com/", "teams+http://x.example.com/secret1",
		"telegram://1:secret1@telegram?chats=1,2", "matrix://user:secret1@matrix.example.com/?rooms=%23a:b,%23c:d", "matrix://user:secret1@matrix.example.com/", "pushbullet://secret1secret1secret1secret1secret/a/b",
		"telegram+https://api.telegram.org/secret1", "ntfy://ntfy.sh/" + strings.Repeat("x", 9000),
	} {
		kind, err := s.Check(raw)
		if kind != "" || err == nil {
			t.Errorf("%.100q is taken as %q", raw, kind)
			continue
		}
		checked(t, err, "")
		if strings.Contains(fmt.Sprintf("%+v", err), "secret") {
			t.Errorf("%.100q: %v", raw, err)
		}
	}
	if n := len(server.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}
