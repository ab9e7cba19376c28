package send

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"

	"linkwatch/models"
	"linkwatch/models/alerts"
)

// The headers of a webhook request.
const (
	DeliveryHeader  = "Linkwatch-Delivery"
	SignatureHeader = "Linkwatch-Signature"
)

// Sign returns the value of SignatureHeader: "t=" and the time in Unix seconds, then ",v1=" and a signature. The signature is the
// hexadecimal HMAC-SHA256 of the time, a dot and the body, keyed with the secret. The receiver computes the same and refuses old times.
func Sign(secret string, t int64, body []byte) string {
	at := strconv.FormatInt(t, 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(at + "."))
	mac.Write(body)
	return "t=" + at + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

// SendWebhook posts a JSON body to the http:// or https:// URL of a webhook. The request is signed unless secret is empty. id is the
// delivery ID, the same for each attempt. Every 2xx status is a success. Errors are those of Send.
func (s *Sender) SendWebhook(ctx context.Context, rawURL, secret, id string, body []byte) (Answer, error) {
	c, err := s.parse(rawURL)
	if err != nil {
		return Answer{}, err
	}
	if c.kind != alerts.KindWebhook {
		return Answer{}, models.Invalid("url", "must start with http:// or https://")
	}
	c.secrets = secrets(c.url, secret)
	headers := map[string]string{DeliveryHeader: id}
	if secret != "" {
		headers[SignatureHeader] = Sign(secret, s.opts.Clock().Unix(), body)
	}
	return s.post(ctx, c, rawURL, body, headers)
}

// post sends JSON with one request.
func (s *Sender) post(ctx context.Context, c channel, to string, body []byte, headers map[string]string) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	exchanges, err := s.opts.Relay.Run(ctx, func(t http.RoundTripper) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
		for name, value := range headers {
			r.Header.Set(name, value)
		}
		res, err := t.RoundTrip(r)
		if err != nil {
			return err
		}
		return res.Body.Close()
	})
	return s.outcome(ctx, c, exchanges, err)
}
