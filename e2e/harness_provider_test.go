//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
)

// providerFolder has the identity provider of the tests: oidc-provider, with the script that configures it.
const providerFolder = "testdata/oidc-provider"

// installProvider installs the identity provider into a new folder. It skips the test without Node.js, which CI has.
func installProvider(t *testing.T) (folder string) {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(program + " is not installed")
			}
			t.Skip("skipped: " + program + " is not installed (packages nodejs and npm)")
		}
	}
	folder = t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(providerFolder)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	return folder
}

// provider is a running identity provider.
type provider struct {
	URL string
	t   *testing.T
}

// startProvider starts an identity provider that ends with the test. It has no clients and no users until set is
// called.
func startProvider(t *testing.T, folder string) *provider {
	t.Helper()
	cmd := exec.Command("node", "server.mjs")
	cmd.Dir = folder
	log, err := os.Create(filepath.Join(t.TempDir(), "provider.log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = log
	in, err := cmd.StdinPipe() // it exits when this is closed
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	t.Cleanup(func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, lines)
		_ = cmd.Wait()
		_ = log.Close()
		if text, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("the provider wrote:\n%s", text)
		}
	})
	if err != nil {
		t.Fatalf("the provider did not start: %v", err)
	}
	return &provider{strings.TrimSpace(line), t}
}

// set registers a server and sets the groups of the users, by subject. Users who are missing were removed.
func (p *provider) set(s *Server, groups map[string][]string) {
	p.t.Helper()
	users := map[string]any{}
	for name, all := range groups {
		users[name] = map[string]any{"preferred_username": name, "email": name + "@example.com", "email_verified": true, "groups": all}
	}
	body, err := json.Marshal(map[string]any{"server": s.URL, "users": users})
	if err != nil {
		p.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodPut, p.URL+"/test", bytes.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	if _ = res.Body.Close(); res.StatusCode != http.StatusOK {
		p.t.Fatalf("setting users: got status %d", res.StatusCode)
	}
}

// person uses a server in a browser without JavaScript.
type person struct {
	t      *testing.T
	client *http.Client
	passed []string // hosts and paths of the redirects of the last request
}

// opened is a page that a person sees.
type opened struct {
	*goquery.Document
	status int
	url    *url.URL
}

func newPerson(t *testing.T) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &person{t: t}
	p.client = &http.Client{Jar: jar, Timeout: patience, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		p.passed = append(p.passed, r.URL.Host+r.URL.Path)
		return nil
	}}
	return p
}

// open opens a page, or submits a form if there is one.
func (p *person) open(address string, form url.Values) opened {
	p.t.Helper()
	p.passed = nil
	method, body := http.MethodGet, io.Reader(http.NoBody)
	if form != nil {
		method, body = http.MethodPost, strings.NewReader(form.Encode())
	}
	req, err := http.NewRequestWithContext(p.t.Context(), method, address, body)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := p.client.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	doc, err := goquery.NewDocumentFromReader(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return opened{doc, res.StatusCode, res.Request.URL}
}

// submit submits the form of a page, with its fields and others.
func (p *person) submit(page opened, fields url.Values) opened {
	p.t.Helper()
	form := page.Find("form").First()
	action, err := page.url.Parse(form.AttrOr("action", ""))
	if form.Length() == 0 || err != nil {
		text, _ := page.Html()
		p.t.Fatalf("no form at %s (status %d): %s", page.url, page.status, text)
	}
	all := url.Values{}
	form.Find("input[name]").Each(func(_ int, input *goquery.Selection) { all.Set(input.AttrOr("name", ""), input.AttrOr("value", "")) })
	for name, values := range fields {
		all[name] = values
	}
	return p.open(action.String(), all)
}

// signIn signs a person in at the provider, and returns the page of the server after that. asked reports whether the
// provider asked for a password.
func (p *person) signIn(s *Server, name string) (page opened, asked bool) {
	p.t.Helper()
	page = p.open(s.URL+"/login/oidc?next=/links", nil)
	for range 3 { // the password and the consent
		if "http://"+page.url.Host == s.URL {
			break
		}
		fields := url.Values{}
		if page.Find("input[name=password]").Length() > 0 {
			asked = true
			fields = url.Values{"login": {name}, "password": {"any"}}
		}
		page = p.submit(page, fields)
	}
	return page, asked
}
