package google_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"linkwatch/jobs/sites/google"
	"linkwatch/jobs/sites/standin"
	"linkwatch/models"
)

// changed returns the fake key file with changed members; nil removes a member.
func changed(t testing.TB, members map[string]any) string {
	t.Helper()
	file := map[string]any{}
	if err := json.Unmarshal(standin.Credentials(), &file); err != nil {
		t.Fatal(err)
	}
	maps.Copy(file, members)
	maps.DeleteFunc(file, func(_ string, v any) bool { return v == nil })
	b, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func pemKey(kind string, der []byte, err error) string {
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func TestParseCredentials(t *testing.T) {
	good := changed(t, nil)
	key := pemKey("RSA PRIVATE KEY", pkcs1(t, 2048), nil)
	for name, text := range map[string]string{
		"as made":              good,
		"with spaces and BOM":  " \n\ufeff" + good + "\n",
		"PKCS #1":              changed(t, map[string]any{"private_key": key}),
		"line ends escaped":    changed(t, map[string]any{"private_key": strings.ReplaceAll(key, "\n", `\n`)}),
		"another token_uri":    changed(t, map[string]any{"token_uri": "https://evil.example/token", "auth_uri": "file:///etc/passwd"}),
		"no universe":          changed(t, map[string]any{"universe_domain": nil}),
		"members in any order": strings.Replace(good, "{", `{"x":[1],`, 1),
	} {
		c, err := google.ParseCredentials([]byte(text))
		if err != nil || c.ClientEmail != standin.ClientEmail || c.ProjectID != standin.ProjectID || c.PrivateKeyID != "0123456789abcdef" {
			t.Errorf("%s: %v, %v", name, c, err)
		}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
			if shown := fmt.Sprintf(verb, c); shown != "credentials of "+standin.ClientEmail {
				t.Errorf("%s shows %s", verb, shown)
			}
		}
	}
	if c, err := google.ParseCredentials([]byte(changed(t, map[string]any{"private_key_id": nil}))); err != nil || c.PrivateKeyID != "" {
		t.Errorf("no private_key_id: %v, %v", c, err)
	}
}

func pkcs1(t testing.TB, bits int) []byte {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return x509.MarshalPKCS1PrivateKey(k)
}

// Errors say what is wrong with credentials without repeating them.
func TestInvalidCredentials(t *testing.T) {
	elliptic, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8 := func(k any) string { der, err := x509.MarshalPKCS8PrivateKey(k); return pemKey("PRIVATE KEY", der, err) }
	sec1, err := x509.MarshalECPrivateKey(elliptic)
	ec := pemKey("EC PRIVATE KEY", sec1, err)
	key := func(text string) string { return changed(t, map[string]any{"private_key": text}) }
	for name, c := range map[string]struct{ text, want string }{
		"empty":               {" \n", "must not be empty"},
		"too long":            {changed(t, map[string]any{"x": strings.Repeat("x", google.MaxCredentials)}), "must have at most 65536 bytes"},
		"text":                {"sesame", "must be a JSON object"},
		"list":                {"[" + changed(t, nil) + "]", "must be a JSON object"},
		"string":              {`"sesame"`, "must be a JSON object"},
		"binary":              {"\xff\xfe{\x00", "must be a JSON object"},
		"broken off":          {changed(t, nil)[:200], "must be valid JSON"},
		"two":                 {changed(t, nil) + changed(t, nil), "must be valid JSON"},
		"wrong types":         {`{"type":["sesame"]}`, "must be valid JSON"},
		"path":                {"/etc/linkwatch/sesame.json", "is a path"},
		"relative path":       {"secrets/sesame.json", "is a path"},
		"home":                {"~/sesame", "is a path"},
		"Windows path":        {`C:\sesame`, "is a path"},
		"file URL":            {"file:///sesame", "is a path"},
		"API key":             {"AIzaSyA-sesame_sesame", "is an API key"},
		"API key in quotes":   {`"AIzaSyA-sesame_sesame"`, "is an API key"},
		"only the key":        {pkcs8(elliptic), "is only a private key"},
		"OAuth client":        {`{"installed":{"client_id":"sesame","client_secret":"sesame"}}`, "is an OAuth client, not a service account"},
		"OAuth web client":    {`{"web":{"client_id":"sesame"}}`, "is an OAuth client, not a service account"},
		"login":               {`{"type":"authorized_user","refresh_token":"sesame"}`, "is a user login"},
		"external":            {`{"type":"external_account"}`, "is a workload identity"},
		"external user":       {`{"type":"external_account_authorized_user"}`, "is a workload identity"},
		"impersonated":        {`{"type":"impersonated_service_account"}`, "impersonates"},
		"another type":        {`{"type":"sesame"}`, "type must be service_account"},
		"no type":             {"{}", "has no type"},
		"other universe":      {changed(t, map[string]any{"universe_domain": "sesame.example"}), "universe_domain must be googleapis.com"},
		"no client_email":     {changed(t, map[string]any{"client_email": nil}), "has no valid client_email"},
		"bad client_email":    {changed(t, map[string]any{"client_email": "sesame <x@y.example>"}), "has no valid client_email"},
		"no host":             {changed(t, map[string]any{"client_email": "sesame@sesame"}), "has no valid client_email"},
		"long client_email":   {changed(t, map[string]any{"client_email": strings.Repeat("x", 400) + "@y.example"}), "has no valid client_email"},
		"no project_id":       {changed(t, map[string]any{"project_id": nil}), "has no valid project_id"},
		"bad project_id":      {changed(t, map[string]any{"project_id": "sesame\nsesame"}), "has no valid project_id"},
		"bad private_key_id":  {changed(t, map[string]any{"private_key_id": "ses ame"}), "has no valid private_key_id"},
		"no private_key":      {changed(t, map[string]any{"private_key": nil}), "has no private_key"},
		"private_key no PEM":  {key("sesame"), "must be a PEM key"},
		"EC key":              {key(ec), "must be an RSA key"},
		"EC key in PKCS #8":   {key(pkcs8(elliptic)), "must be an RSA key"},
		"certificate":         {key(pemKey("CERTIFICATE", []byte("sesame"), nil)), "must be an RSA key"},
		"with a password":     {key(pemKey("ENCRYPTED PRIVATE KEY", []byte("sesame"), nil)), "must not be encrypted"},
		"damaged":             {key(pemKey("PRIVATE KEY", []byte("sesame"), nil)), "is damaged"},
		"damaged PKCS #1":     {key(pemKey("RSA PRIVATE KEY", []byte("sesame"), nil)), "is damaged"},
		"too large":           {key(pemKey("RSA PRIVATE KEY", bytes.Repeat([]byte("x"), 7<<10), nil)), "must have at most 8192 bits"},
		"too small":           {key(pemKey("RSA PRIVATE KEY", pkcs1(t, 1024), nil)), "at least 2048 bits"},
		"private_key no text": {changed(t, map[string]any{"private_key": 7}), "must be valid JSON"},
	} {
		_, err := google.ParseCredentials([]byte(c.text))
		e, ok := errors.AsType[*models.Error](err)
		if !ok || e.Code != models.CodeInvalid || len(e.Fields) != 1 || e.Fields[0].Location != "credentials" || !strings.Contains(e.Fields[0].Message, c.want) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if strings.Contains(err.Error(), "sesame") || strings.Contains(err.Error(), standin.ClientEmail) || strings.Contains(err.Error(), "BEGIN") {
			t.Errorf("%s: the error repeats the input: %v", name, err)
		}
	}
}

// Any input gives a short error or valid credentials.
func FuzzParseCredentials(f *testing.F) {
	f.Add(standin.Credentials())
	f.Add([]byte(changed(f, map[string]any{"private_key": pemKey("EC PRIVATE KEY", []byte("x"), nil)})))
	for _, s := range []string{"", "/etc/passwd", "AIza", `{"installed":{}}`, `{"type":"authorized_user"}`, "[", "\ufeff{}", `{"type":"service_account","client_email":"a@b.c","project_id":"p","private_key":"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := google.ParseCredentials(data)
		if err == nil {
			if !strings.Contains(c.ClientEmail, "@") || c.ProjectID == "" || models.CleanLine(c.ClientEmail+c.ProjectID+c.PrivateKeyID) != c.ClientEmail+c.ProjectID+c.PrivateKeyID {
				t.Errorf("%v", c)
			}
			return
		}
		if e, ok := errors.AsType[*models.Error](err); !ok || e.Code != models.CodeInvalid || len(e.Error()) > 400 {
			t.Errorf("%v", err)
		}
	})
}
