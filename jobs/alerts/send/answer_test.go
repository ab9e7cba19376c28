package send_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func bytesAs(format, text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}

// Secrets in a response are removed in any common escape.
func TestSecretsInOtherForms(t *testing.T) {
	s, server := newSender(t)
	const secret, path, topic, link = `p&ss/w"rd+<1>%2Fx`, "B0-canary+tok@1", "top secret 50% @?", "https://watch.example.com/alerts/v_1?key=signature"
	forms := map[string]func(string) string{
		"as it is":           func(s string) string { return s },
		"percent":            url.QueryEscape,
		"path":               url.PathEscape,
		"lower percent":      func(s string) string { return bytesAs("%%%02x", s) },
		"lower query":        func(s string) string { return lowerEscapes(url.QueryEscape(s)) },
		"percent twice":      func(s string) string { return lowerEscapes(url.PathEscape(url.PathEscape(s))) },
		"decimal entities":   func(s string) string { return bytesAs("&#%d;", s) },
		"short entities":     func(s string) string { return bytesAs("&#%03d", s) },
		"hex entities":       func(s string) string { return bytesAs("&#x%02X;", s) },
		"lower hex entities": func(s string) string { return bytesAs("&#x%x;", s) },
		"named entities":     html.EscapeString,
		"slash as entity":    func(s string) string { return strings.ReplaceAll(html.EscapeString(s), "/", "&#x2F;") },
		"entities twice": func(s string) string {
			return html.EscapeString(strings.ReplaceAll(html.EscapeString(s), "/", "&sol;"))
		},
		"JSON":             func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, `"`, `\"`), "/", `\/`) },
		"JSON in JSON":     func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, `"`, `\\\"`), "/", `\\\/`) },
		"JSON by code":     func(s string) string { return bytesAs(`\u%04x`, s) },
		"entities in JSON": func(s string) string { return strings.ReplaceAll(bytesAs("&#%d;", s), "&", `\u0026`) },
		"other case":       strings.ToLower,
	}
	for name, form := range forms {
		for kind, send := range map[string]func() error{
			secret: func() error {
				_, err := s.SendWebhook(t.Context(), "https://hook.example.com/in", secret, "y_1", []byte("{}"))
				return err
			},
			path: func() error {
				_, err := s.SendWebhook(t.Context(), "https://hook.example.com/"+path, "", "y_1", []byte("{}"))
				return err
			},
			topic: func() error {
				_, err := s.Send(t.Context(), "ntfy://ntfy.sh/"+url.PathEscape(topic), message)
				return err
			},
			link: func() error {
				_, err := s.Send(t.Context(), "ntfy://ntfy.sh/alerts-7f3k2", message)
				return err
			},
		} {
			server.Instead(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, "no_service (&unknown; 100%) é "+form(kind)+" end")
			})
			if e := failure(t, send(), secret); e.Answer != "no_service (&unknown; 100%) é … end" {
				t.Errorf("%s of %q: %q", name, kind, e.Answer)
			}
		}
	}
}

// lowerEscapes converts percent escapes to lower case.
func lowerEscapes(text string) string {
	for i := 0; i+2 < len(text); i++ {
		if text[i] == '%' {
			text = text[:i] + strings.ToLower(text[i:i+3]) + text[i+3:]
		}
	}
	return text
}
