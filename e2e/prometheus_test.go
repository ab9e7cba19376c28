//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"linkwatch/models/modelstest"
)

// prometheus is a running Prometheus.
type prometheus struct {
	*testing.T
	url string
}

// newPrometheus starts Prometheus with the configuration of deploy, in which it replaces texts. token is the token
// for the scrapes.
func newPrometheus(t *testing.T, token string, replace map[string]string) *prometheus {
	t.Helper()
	program, err := exec.LookPath("prometheus")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("prometheus is not installed")
		}
		t.Skip("skipped: prometheus is not installed")
	}
	dir, conf := t.TempDir(), readDeployed(t, "prometheus.yml")
	for old, text := range replace {
		if strings.Count(conf, old) != 1 {
			t.Fatalf("prometheus.yml has %q %d times", old, strings.Count(conf, old))
		}
		conf = strings.ReplaceAll(conf, old, text)
	}
	for name, content := range map[string]string{
		"prometheus.yml": conf, "alerts.rules.yml": readDeployed(t, "alerts.rules.yml"), "linkwatch-token": token + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	cmd := exec.Command(program, "--config.file="+filepath.Join(dir, "prometheus.yml"),
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)
	cmd.Stdout, cmd.Stderr = log, log
	server, err := launch(cmd)
	_ = log.Close() // the process has its own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.end(syscall.SIGTERM)
		if text, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("prometheus wrote:\n%s", text)
		}
	})
	p := &prometheus{t, "http://" + address}
	modelstest.Eventually(t, "Prometheus is ready", func() bool {
		res, err := http.Get(p.url + "/-/ready")
		if err == nil {
			_ = res.Body.Close()
		}
		return err == nil && res.StatusCode == http.StatusOK
	})
	return p
}

// get decodes the data of an answer of Prometheus.
func (p *prometheus) get(path string, data any) {
	p.Helper()
	res, err := http.Get(p.url + path)
	if err != nil {
		p.Fatal(err)
	}
	defer res.Body.Close()
	answer := struct {
		Error string
		Data  any
	}{Data: data}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || answer.Error != "" {
		p.Fatalf("%s: %s %v", path, answer.Error, err)
	}
}

// query returns the values of an expression.
func (p *prometheus) query(expr string) (values []string) {
	p.Helper()
	var data struct{ Result []struct{ Value [2]any } }
	p.get("/api/v1/query?query="+url.QueryEscape(expr), &data)
	for _, r := range data.Result {
		values = append(values, fmt.Sprint(r.Value[1]))
	}
	return values
}

// pattern matches a matcher with a regular expression, such as status=~"5..".
var pattern = regexp.MustCompile(`=~"[^"]*"`)

// Prometheus scrapes two instances of one PostgreSQL database with the token of an account, and two with SQLite. All
// rules are evaluated without an error, all their metrics exist, and all panels have data. Panels count once what
// both instances export. The alert about missing backups is for the instance with SQLite and without BACKUP_DIR.
func TestPrometheus(t *testing.T) {
	t.Parallel()
	store, web := "DATABASE_URL="+modelstest.NewPostgres(t), site(t)
	a := Start(t, store, "CHECK_INTERVAL=1s", "CRAWLER_POLL_INTERVAL=1s")
	b := Start(t, store, "CHECK_INTERVAL=1s", "CRAWLER_POLL_INTERVAL=1s")
	alone, bare := Start(t, "BACKUP_DIR="+t.TempDir()), Start(t)
	a.watch(web, "cart", "search", "blog")
	a.rule(a.channel(map[string]any{"name": "broken", "kind": "webhook", "url": web.set("/hook", status(500))}))
	web.set("/blog", status(500))
	a.addJob(web.URL+"/", nil)
	command(t, a, "correct horse battery", "user", "add", "alice", "--role", "admin", "--password-stdin")
	command(t, a, "", "user", "add", "prometheus", "--role", "viewer")
	token := strings.TrimSpace(command(t, a, "", "token", "add", "prometheus", "--name", "Prometheus", "--scope", "read"))

	host := func(s *Server) string { return strings.TrimPrefix(s.URL, "http://") }
	p := newPrometheus(t, token, map[string]string{
		// A scrape may take as long as its interval, which is not too short for a busy machine.
		"scrape_interval: 15s": "scrape_interval: 4s", "evaluation_interval: 15s": "evaluation_interval: 2s",
		`["127.0.0.1:8080"]`: fmt.Sprintf("[%q, %q]", host(a), host(b)),
		"scrape_configs:\n": fmt.Sprintf("scrape_configs:\n  - {job_name: sqlite, static_configs: [{targets: [%q, %q]}]}\n",
			host(alone), host(bare)),
	})

	modelstest.Eventually(t, "all instances are scraped", func() bool { return slices.Equal(p.query("count(up == 1)"), []string{"4"}) })
	shown, panels := strings.NewReplacer("$instance", ".*", "$__rate_interval", "5m"), dashboard(t)
	for title, exprs := range panels {
		for _, expr := range exprs {
			modelstest.Eventually(t, title+" has data: "+expr, func() bool { return len(p.query(shown.Replace(expr))) > 0 })
		}
	}
	for title, want := range map[string]string{"Targets up": "2", "Targets down": "1", "Pending messages": "1"} {
		modelstest.Eventually(t, fmt.Sprintf("%s is %s: %s", title, want, panels[title]), func() bool {
			return slices.Equal(p.query(shown.Replace(panels[title][0])), []string{want})
		})
	}
	if got := p.query(`count(up{job="linkwatch"} == 1)`); !slices.Equal(got, []string{"2"}) {
		t.Errorf("%s instances were scraped with the token", got)
	}
	modelstest.Eventually(t, "the missing backup is noticed", func() bool {
		var found []string
		for _, s := range []*Server{a, b, alone, bare} {
			if len(p.query(fmt.Sprintf(`ALERTS{alertname="LinkwatchNoBackup", instance=%q}`, host(s)))) > 0 {
				found = append(found, s.URL)
			}
		}
		return slices.Equal(found, []string{bare.URL})
	})

	used := map[string]bool{}
	for _, expr := range expressions(t) {
		for _, selector := range metricUse.FindAllString(expr, -1) {
			used[pattern.ReplaceAllString(selector, `!=""`)] = true
		}
	}
	for _, selector := range slices.Sorted(maps.Keys(used)) {
		if len(p.query(selector)) == 0 {
			t.Errorf("no instance exports %s", selector)
		}
	}
	var rules struct {
		Groups []struct {
			Rules []struct{ Name, Health, LastError string }
		}
	}
	modelstest.Eventually(t, "all rules were evaluated", func() bool {
		p.get("/api/v1/rules", &rules)
		return !strings.Contains(fmt.Sprint(rules), "unknown")
	})
	count := 0
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			if count++; rule.Health != "ok" {
				t.Errorf("%s: %s: %s", rule.Name, rule.Health, rule.LastError)
			}
		}
	}
	if count < 15 {
		t.Errorf("%d rules", count)
	}
}
