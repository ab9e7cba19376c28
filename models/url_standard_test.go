package models_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"linkwatch/models"
)

// vector is a test case of the URL standard: see testdata/wpt.
type vector struct {
	Input, Href, Hostname string
	Failure               bool
}

func readVectors[T any](t *testing.T, file string) (all []T) {
	t.Helper()
	b, err := os.ReadFile("testdata/wpt/" + file)
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil || len(all) < 30 {
		t.Fatalf("%d vectors: %v", len(all), err)
	}
	return all
}

// differs are the inputs for which ParseURL requests something else than the vector says.
var differs = map[string]string{
	// A % that begins no escape is escaped.
	"http://example.com/foo%":                            "http://example.com/foo%25",
	"http://example.com/foo%2":                           "http://example.com/foo%252",
	"http://example.com/foo%2zbar":                       "http://example.com/foo%252zbar",
	"http://example.com/foo%2\u00c2\u00a9zbar":           "http://example.com/foo%252%C3%82%C2%A9zbar",
	"http://example.com/foo/%2e%2":                       "http://example.com/foo/%2e%252",
	"http://example.org/test?%GH":                        "http://example.org/test?%25GH",
	"wss://host/dir/? !\"$%&'()*+,-./:;<=>?@[\\]^_`{|}~": "https://host/dir/?%20!%22$%25&%27()*+,-./:;%3C=%3E?@[\\]^_`{|}~",
	// The same, and ^ is escaped in a path, as the standard has it since 2023.
	"wss://host/ !\"$%&'()*+,-./:;<=>@[\\]^_`{|}~": "https://host/%20!%22$%25&'()*+,-./:;%3C=%3E@[/]%5E_%60%7B|%7D~",
	// White space before the fragment does not belong to the URL.
	"http://f:21/ b ? d # e ": "http://f:21/%20b%20?%20d",
}

// TestURLStandard holds ParseURL against the test vectors of the WHATWG URL standard.
func TestURLStandard(t *testing.T) {
	for _, v := range readVectors[vector](t, "urls.json") {
		// For these schemes the standard has the same rules.
		asHTTP := strings.NewReplacer("wss://", "https://", "WSS://", "https://", "ws://", "http://")
		in, href := asHTTP.Replace(v.Input), asHTTP.Replace(v.Href)
		u, err := models.ParseURL("url", in)
		if v.Failure || hasUser(in) {
			if models.CodeOf(err) != models.CodeInvalid {
				t.Errorf("%q is taken as %+v (%v)", in, u, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", in, err)
			continue
		}
		want, _, _ := strings.Cut(href, "#")
		if other, ok := differs[v.Input]; ok {
			want = other
		}
		if u.Requested != want {
			t.Errorf("%q requests %q, want %q", in, u.Requested, want)
		}
		if u.Host != strings.Trim(v.Hostname, "[]") {
			t.Errorf("%q has the host %q, want %q", in, u.Host, v.Hostname)
		}
		checkStable(t, u)
	}
}

func hasUser(in string) bool {
	_, rest, _ := strings.Cut(in, "://")
	rest = strings.TrimLeft(rest, `/\`)
	if i := strings.IndexAny(rest, `/\?#`); i >= 0 {
		rest = rest[:i]
	}
	return strings.Contains(rest, "@")
}

// checkStable parses a URL's other forms again: it is the same page.
func checkStable(t *testing.T, u models.URL) {
	t.Helper()
	for _, form := range []string{u.Given, u.Requested, u.Canonical, u.Location()} {
		again, err := models.ParseURL("url", form)
		switch {
		case err != nil:
			t.Errorf("%q is refused: %v", form, err)
		case again.Canonical != u.Canonical || again.Host != u.Host,
			form != u.Canonical && again.Requested != u.Requested,
			form == u.Location() && again.Location() != form:
			t.Errorf("%+v, read again from %q, is %+v", u, form, again)
		}
	}
}

func TestURLStandardHosts(t *testing.T) {
	for _, v := range readVectors[struct {
		Input  string
		Output *string
	}](t, "toascii.json") {
		u, err := models.ParseURL("url", "http://"+v.Input+"/")
		switch {
		case v.Output == nil || *v.Output == "":
			if err == nil {
				t.Errorf("%q is taken as %q", v.Input, u.Host)
			}
		case err != nil || u.Host != *v.Output:
			t.Errorf("%q has the host %q (%v), want %q", v.Input, u.Host, err, *v.Output)
		default:
			checkStable(t, u)
		}
	}
}
