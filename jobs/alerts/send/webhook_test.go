package send_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"testing"

	"linkwatch/jobs/alerts/send"
	"linkwatch/models"
)

const (
	hookURL    = "https://hook.example.com/in/path0secret?key=query0secret"
	hookSecret = "whsec_0123456789"
)

// verified checks a signature like a receiver.
func verified(header, body string) bool {
	stamp, signature, _ := strings.Cut(header, ",v1=")
	stamp = strings.TrimPrefix(stamp, "t=")
	mac := hmac.New(sha256.New, []byte(hookSecret))
	mac.Write([]byte(stamp + "." + body))
	return stamp == "1777863721" && hex.EncodeToString(mac.Sum(nil)) == signature
}

func TestWebhook(t *testing.T) {
	s, server := newSender(t)
	for _, status := range []int{200, 201, 202, 204} {
		server.Instead(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			if status != 204 {
				_, _ = io.WriteString(w, "<html><title>taken "+hookSecret+"</title>")
			}
		})
		body := `{"event":"target.down"}`
		answer, err := s.SendWebhook(t.Context(), hookURL, hookSecret, "al_1", []byte(body))
		if err != nil || answer.StatusCode != status || status != 204 && answer.Text != "taken …" {
			t.Errorf("%+v, %v", answer, err)
		}
		r := server.Requests()
		if len(r) != 1 || r[0].Method != "POST" || r[0].Body != body || r[0].Path != "/in/path0secret" || r[0].Query != "key=query0secret" ||
			r[0].Header.Get("Content-Type") != "application/json" || r[0].Header.Get("Linkwatch-Delivery") != "al_1" || !verified(r[0].Header.Get("Linkwatch-Signature"), body) {
			t.Errorf("%+v", r)
		}
	}
}

func TestWebhookWithoutASecretIsNotSigned(t *testing.T) {
	s, server := newSender(t)
	if _, err := s.SendWebhook(t.Context(), hookURL, "", "al_1", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if r := server.Requests(); len(r) != 1 || r[0].Header["Linkwatch-Signature"] != nil {
		t.Errorf("%+v", r)
	}
}

func TestWebhookErrors(t *testing.T) {
	s, server := newSender(t)
	for status, kind := range map[int]send.Kind{400: send.Refused, 404: send.Refused, 410: send.Gone, 429: send.Unavailable, 500: send.Unavailable, 307: send.Redirected} {
		server.Instead(echo(status, "Location", "https://hook.example.com/other"))
		_, err := s.SendWebhook(t.Context(), hookURL, hookSecret, "al_1", []byte("{}"))
		if e := failure(t, err, hookSecret, "path0secret", "query0secret"); e.Kind != kind || e.StatusCode != status {
			t.Errorf("%d: %s %s", status, e.Kind, e)
		}
		if n := len(server.Requests()); n != 1 {
			t.Errorf("%d: %d requests", status, n)
		}
	}
	for _, raw := range []string{"", "ntfy://ntfy.sh/topic", "https://user:password@hook.example.com/", "https://10.0.0.1/", "ftp://hook.example.com/"} {
		if _, err := s.SendWebhook(t.Context(), raw, hookSecret, "al_1", nil); models.CodeOf(err) != models.CodeInvalid {
			t.Errorf("%s: %v", raw, err)
		}
	}
	if _, err := s.Send(t.Context(), hookURL, message); models.CodeOf(err) != models.CodeInvalid {
		t.Errorf("a webhook without a signature: %v", err)
	}
}

func TestNewNeedsARelay(t *testing.T) {
	if _, err := send.New(send.Options{}); err == nil {
		t.Error("a sender without a relay")
	}
}
