package send_test

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"testing"

	"linkwatch/jobs/alerts/send"
)

// parts returns the header of a mail and its parts by content type, as another parser sees them.
func parts(t *testing.T, data string) (mail.Header, map[string]string) {
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("the mail is %s, %v", kind, err)
	}
	texts, reader := map[string]string{}, multipart.NewReader(m.Body, params["boundary"])
	var order []string
	for {
		part, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil {
			t.Fatal(err)
		}
		kind, params, err := mime.ParseMediaType(part.Header.Get("Content-Type"))
		if err != nil || !strings.EqualFold(params["charset"], "utf-8") {
			t.Errorf("a part is %s, %v, %v", kind, params, err)
		}
		order = append(order, kind)
		texts[kind] = strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))
	}
	if strings.Join(order, " ") != "text/plain text/html" {
		t.Errorf("the parts are %v, want the text first", order)
	}
	return m.Header, texts
}

// The mails of a group are a thread with one subject. The text says what the subject no longer does.
func TestMailThread(t *testing.T) {
	s, server := newSender(t)
	later := message
	later.ID, later.Title, later.Text = "al_2", "Resolved: example.com is down", "From 03:00 to 03:10"
	later.Mail = send.Mail{
		HTML: "<p>Grüße</p>", Subject: message.Title + "\r\nBcc: evil@example.com", First: "al_1\r\nBcc: evil@example.com",
		Settings: "https://watch.example.com/alerts/channels/a_1",
	}
	first := message
	first.Mail = send.Mail{HTML: "<p>down</p>"}
	raw := strings.Replace(plainMail, ",bob@example.com", "", 1) + "&fromname=Gr%C3%BC%C3%9Fe,%20%22Ops%22"
	for _, m := range []send.Message{first, later, later} { // the last one is a repeated delivery
		if _, err := s.Send(t.Context(), raw, m); err != nil {
			t.Fatal(err)
		}
	}
	letters := server.Mail.Letters()
	if len(letters) != 3 {
		t.Fatalf("%d letters", len(letters))
	}
	for i, want := range []map[string]string{
		{
			"Subject": message.Title, "Message-Id": "<al_1@example.com>", "References": "<out_1@example.com>", "In-Reply-To": "",
			"List-Unsubscribe": "", "Auto-Submitted": "auto-generated",
		},
		{
			"Subject": "Re: " + message.Title + " Bcc: evil@example.com", "Message-Id": "<al_2@example.com>",
			"In-Reply-To":      "<al_1Bccevilexample.com@example.com>",
			"References":       "<out_1@example.com> <al_1Bccevilexample.com@example.com>",
			"List-Unsubscribe": "<https://watch.example.com/alerts/channels/a_1>", "List-Unsubscribe-Post": "", "Bcc": "",
		},
		{"Message-Id": "<al_2@example.com>"},
	} {
		header, texts := parts(t, letters[i].Data)
		for name, value := range want {
			if got := header.Get(name); got != value {
				t.Errorf("mail %d: %s is %q, want %q", i, name, got, value)
			}
		}
		from, err := header.AddressList("From")
		if err != nil || len(from) != 1 || from[0].Name != `Grüße, "Ops"` || from[0].Address != "linkwatch@example.com" {
			t.Errorf("the sender is %s, %v", header["From"], err)
		}
		text, html := message.Text, "<p>down</p>"
		if i > 0 {
			text, html = later.Title+"\n\n"+later.Text, later.Mail.HTML
		}
		if texts["text/plain"] != text+"\n\n"+message.URL || texts["text/html"] != html {
			t.Errorf("mail %d: %q", i, texts)
		}
	}
}
