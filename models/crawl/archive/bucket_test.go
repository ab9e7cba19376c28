package archive_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"linkwatch/models/crawl"
	"linkwatch/models/crawl/archive"
)

var authorization = regexp.MustCompile(`^AWS4-HMAC-SHA256 Credential=(\w+)/(\d{8}/([\w-]+)/s3/aws4_request), ` +
	`SignedHeaders=([\w;-]+), Signature=(\w+)$`)

// signer returns the access key and the region of a request. The error is about a signature that is not the one of the
// secret key. It follows the description of AWS Signature Version 4.
func signer(r *http.Request, secret string) (key, region string, err error) {
	parts := authorization.FindStringSubmatch(r.Header.Get("Authorization"))
	if parts == nil {
		return "", "", fmt.Errorf("authorization is %q", r.Header.Get("Authorization"))
	}
	body, err := io.ReadAll(r.Body)
	sum := sha256.Sum256(body)
	if err != nil || r.Header.Get("X-Amz-Content-Sha256") != hex.EncodeToString(sum[:]) {
		return "", "", fmt.Errorf("hash of the body is %q, %w", r.Header.Get("X-Amz-Content-Sha256"), err)
	}
	path, query, _ := strings.Cut(r.RequestURI, "?")
	canonical := []string{r.Method, path, query}
	for name := range strings.SplitSeq(parts[4], ";") {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		canonical = append(canonical, name+":"+value)
	}
	canonical = append(canonical, "", parts[4], hex.EncodeToString(sum[:]))
	hashed := sha256.Sum256([]byte(strings.Join(canonical, "\n")))
	mac := []byte("AWS4" + secret)
	text := "AWS4-HMAC-SHA256\n" + r.Header.Get("X-Amz-Date") + "\n" + parts[2] + "\n" + hex.EncodeToString(hashed[:])
	for _, message := range append(strings.Split(parts[2], "/"), text) {
		h := hmac.New(sha256.New, mac)
		h.Write([]byte(message))
		mac = h.Sum(nil)
	}
	if hex.EncodeToString(mac) != parts[5] {
		return "", "", errors.New("signature is wrong")
	}
	return parts[1], parts[3], nil
}

// TestSignatures checks that all requests are signed, also for keys that are encoded in the path.
func TestSignatures(t *testing.T) {
	server, backend := s3(t)
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if key, region, err := signer(r, secret); err != nil || key != "access" || region != "eu-1" {
			t.Errorf("%s %s: got key %q, region %q, %v", r.Method, r.RequestURI, key, region, err)
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		server.ServeHTTP(w, r)
	}))
	t.Cleanup(ts.Close)
	const bucket = "s3://access:" + secret + "@pages/a+b%20(ü)/~c?region=eu-1&endpoint="
	l, err := archive.ParseLocation(bucket + url.QueryEscape(ts.URL))
	if err != nil {
		t.Fatal(err)
	}
	a, err := archive.Open(l, archive.Options{Client: &http.Client{Timeout: time.Minute}, Pause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	at := put(t, a, []byte("first"), []byte("hello"))[1]
	if _, err := backend.HeadObject("pages", "a+b (ü)/~c/"+at.Key); err != nil {
		t.Errorf("name of the object: %v", err)
	}
	if got, err := a.Get(t.Context(), at, archive.HashOf([]byte("hello"))); err != nil || string(got) != "hello" {
		t.Errorf("got %q, %v", got, err)
	}
	if err := a.Delete(t.Context(), at.Key); err != nil {
		t.Error(err)
	}
}

// roundTripper answers requests without a network.
type roundTripper func(r *http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestHostsOfBuckets(t *testing.T) {
	endpoint := &url.URL{Scheme: "http", Host: "s3.test:9000"}
	for want, l := range map[string]archive.Location{
		"https://b.s3.us-east-1.amazonaws.com/k":       {Bucket: "b"},
		"https://b.s3.eu-north-1.amazonaws.com/p/k":    {Bucket: "b", Region: "eu-north-1", Prefix: "p/"},
		"https://s3.us-east-1.amazonaws.com/a.b/k":     {Bucket: "a.b"},
		"https://b.s3.cn-north-1.amazonaws.com.cn/k":   {Bucket: "b", Region: "cn-north-1"},
		"http://s3.test:9000/b/k":                      {Bucket: "b", Region: "cn-north-1", Endpoint: endpoint},
		"https://s3.us-gov-west-1.amazonaws.com/a.b/k": {Bucket: "a.b", Region: "us-gov-west-1"},
	} {
		var got []string
		l.AccessKey, l.SecretKey = "access", secret
		network := roundTripper(func(r *http.Request) (*http.Response, error) {
			got = append(got, r.URL.String())
			return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody}, nil
		})
		a, err := archive.Open(l, archive.Options{Client: &http.Client{Transport: network}})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Delete(t.Context(), "k"); err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%+v: got %v, %v", l, got, err)
		}
	}
}

// Without keys in the URL, a bucket has the settings of AWS tools: the environment, then files, then the container.
func TestSettingsOfAWS(t *testing.T) {
	for _, name := range []string{
		"AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_SESSION_TOKEN", "AWS_REGION",
		"AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE",
		"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_CONTAINER_AUTHORIZATION_TOKEN", "AWS_WEB_IDENTITY_TOKEN_FILE",
		"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_ROLE_ARN",
	} {
		t.Setenv(name, "")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	var key, region, token string
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/container" {
			const keys = `{"AccessKeyId":"container","SecretAccessKey":%q,"Token":"t","Expiration":"2099-01-01T00:00:00Z"}`
			_, _ = fmt.Fprintf(w, keys, secret)
			return
		}
		var err error
		if key, region, err = signer(r, secret); err != nil || r.URL.Path != "/pages/k" {
			t.Errorf("%s: %v", r.URL, err)
		}
		token = r.Header.Get("X-Amz-Security-Token")
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(ts.Close)
	network := roundTripper(func(r *http.Request) (*http.Response, error) {
		if "http://"+r.URL.Host != ts.URL {
			return nil, errors.New("address is not allowed")
		}
		return http.DefaultTransport.RoundTrip(r)
	})
	l := archive.Location{Bucket: "pages"}
	remove := func() error {
		a, err := archive.Open(l, archive.Options{Client: &http.Client{Transport: network}, Pause: time.Millisecond})
		if err != nil {
			return err
		}
		defer a.Close()
		key, region, token = "", "", ""
		return a.Delete(t.Context(), "k")
	}
	check := func(what, wantKey, wantRegion, wantToken string) {
		t.Helper()
		if err := remove(); err != nil || key != wantKey || region != wantRegion || token != wantToken {
			t.Errorf("%s: got key %q, region %q, token %q, %v", what, key, region, token, err)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(home, ".aws"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, ".aws", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	t.Setenv("AWS_ENDPOINT_URL", ts.URL)
	const none = "archive: delete copies: no credentials found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
	if err := remove(); err == nil || err.Error() != none {
		t.Errorf("without credentials: got %v", err)
	}
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", ts.URL+"/container")
	check("container", "container", "us-east-1", "t")
	write("config", "[default]\nregion = eu-2\n[profile other]\nregion = eu-3\n")
	write("credentials", "[default]\naws_access_key_id = mine\naws_secret_access_key = "+secret+
		"\n[other]\naws_access_key_id = other\naws_secret_access_key = "+secret+"\naws_session_token = session\n")
	check("files", "mine", "eu-2", "")
	t.Setenv("AWS_PROFILE", "other")
	check("profile", "other", "eu-3", "session")
	t.Setenv("AWS_REGION", "eu-4")
	check("region", "other", "eu-4", "session")
	t.Setenv("AWS_ACCESS_KEY_ID", "env")
	t.Setenv("AWS_SECRET_ACCESS_KEY", secret)
	check("environment", "env", "eu-4", "")
	l.Region = "eu-5"
	check("URL", "env", "eu-5", "")

	l.Region = ""
	t.Setenv("AWS_REGION", "")
	write("config", "[default\n"+secret)
	if err := remove(); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("broken file: got %v", err)
	}
	t.Setenv("AWS_REGION", "eu-1")
	t.Setenv("AWS_ENDPOINT_URL", "localhost")
	if err := remove(); err == nil || !strings.Contains(err.Error(), "AWS_ENDPOINT_URL") {
		t.Errorf("wrong endpoint: got %v", err)
	}
}

// Some services respond with the same code for a missing object and a missing bucket.
func TestMissingBucketOfALenientService(t *testing.T) {
	var gone bool
	a := bucket(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead && !gone {
			return
		}
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `<Error><Code>NoSuchKey</Code></Error>`)
	}), time.Minute)
	at := crawl.BodyLocation{Key: archive.NewKey(), Length: 5}
	if _, err := a.Get(t.Context(), at, archive.HashOf(nil)); !errors.Is(err, archive.ErrMissing) {
		t.Errorf("missing object: got %v", err)
	}
	if err := a.Delete(t.Context(), at.Key); err != nil {
		t.Errorf("missing object: got %v", err)
	}
	gone = true
	const want = "bucket or folder not found"
	if _, err := a.Get(t.Context(), at, archive.HashOf(nil)); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("missing bucket: got %v", err)
	}
	if err := a.Delete(t.Context(), at.Key); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("missing bucket: got %v", err)
	}
}
