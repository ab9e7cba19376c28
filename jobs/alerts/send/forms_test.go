package send_test

import (
	"net/http"
	"strings"
	"testing"

	"linkwatch/jobs/alerts/send"
	"linkwatch/models/alerts"
)

// Every service with a form can be sent to and is tested.
func TestFormsAndServices(t *testing.T) {
	tested := map[string]bool{}
	for _, form := range filled {
		tested[form.kind] = true
	}
	for _, service := range alerts.Services {
		if !tested[service.Kind] {
			t.Errorf("%s is not tested", service.Kind)
		}
	}
}

// Typed values reach the service unchanged, or the form refuses them.
func FuzzPasswords(f *testing.F) {
	for _, secret := range []string{"a/b", "p@ss", "50%", "a?b=c&d", "a b", "a+b", "ä#;", "%41", `"quoted"`, ":", ","} {
		f.Add(secret, secret)
	}
	s, server := newSender(f)
	ntfy, _ := alerts.ServiceOf("ntfy")
	matrix, _ := alerts.ServiceOf("matrix")
	f.Fuzz(func(t *testing.T, secret, topic string) {
		server.Requests()
		raw, err := ntfy.URL(map[string]string{"server": "https://ntfy.example.com", "topic": topic, "user": "u", "password": secret})
		if err == nil && !strings.Contains("/"+topic+"/", "//") && !strings.Contains("/"+topic+"/", "/./") && !strings.Contains("/"+topic+"/", "/../") {
			if _, err := s.Send(t.Context(), raw, send.Message{ID: "al_1"}); err != nil {
				t.Fatal(err)
			}
			r := server.Requests()[0]
			if _, password, _ := (&http.Request{Header: r.Header}).BasicAuth(); password != secret || r.Path != "/"+strings.Trim(strings.TrimSpace(topic), "/") {
				t.Errorf("the password is %q, the path %q", password, r.Path)
			}
		}
		raw, err = matrix.URL(map[string]string{"server": "https://matrix.example.com", "user": "u", "password": secret, "room": "#a:example.com"})
		if err == nil {
			if kind, err := s.Check(raw); kind != "matrix" || err != nil {
				t.Errorf("kind %q, %v", kind, err)
			}
		}
	})
}
