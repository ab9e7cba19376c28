//go:build e2e

package e2e

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"linkwatch/config"
	"linkwatch/models/modelstest"
)

const deploy = "../deploy/"

func readDeployed(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(deploy + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// promtool accepts the rules, and their unit tests pass. Each rule has a test in which it fires.
func TestPrometheusRules(t *testing.T) {
	t.Parallel()
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("promtool is not installed")
		}
		t.Skip("skipped: promtool is not installed (package prometheus)")
	}
	for _, args := range [][]string{{"check", "rules", "alerts.rules.yml"}, {"test", "rules", "alerts.test.yml"}} {
		cmd := exec.Command(promtool, args...)
		cmd.Dir = deploy
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", args, err, out)
		}
	}
	var tested struct {
		Tests []struct {
			Alerts []struct {
				Name   string `yaml:"alertname"`
				Firing []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
			Exprs []struct {
				Expr    string
				Samples []struct{ Labels string } `yaml:"exp_samples"`
			} `yaml:"promql_expr_test"`
		}
	}
	if err := yaml.Unmarshal([]byte(readDeployed(t, "alerts.test.yml")), &tested); err != nil {
		t.Fatal(err)
	}
	fires := ""
	for _, one := range tested.Tests {
		for _, a := range one.Alerts {
			if len(a.Firing) > 0 {
				fires += strconv.Quote(a.Name)
			}
		}
		for _, e := range one.Exprs {
			for _, sample := range e.Samples {
				fires += e.Expr + sample.Labels
			}
		}
	}
	rule := regexp.MustCompile(`- alert: (\w+)`)
	for _, name := range rule.FindAllStringSubmatch(readDeployed(t, "alerts.rules.yml"), -1) {
		if !strings.Contains(fires, strconv.Quote(name[1])) {
			t.Errorf("rule %s fires in no test", name[1])
		}
	}
}

// The server exports all metrics and labels that the rules and the dashboard use.
func TestMetricsOfRulesAndDashboard(t *testing.T) {
	t.Parallel()
	web := site(t)
	s := Start(t, "BACKUP_DIR="+t.TempDir(), "CHECK_INTERVAL=100ms", "CRAWLER_POLL_INTERVAL=100ms")
	s.addJob(web.URL+"/", nil)
	s.becomes(s.addTarget(web.URL).ID, "up")
	var exported map[string]*dto.MetricFamily
	modelstest.Eventually(t, "a check and a fetch were counted", func() bool {
		exported = s.metrics()
		return exported["linkwatch_checks_total"] != nil && exported["linkwatch_crawl_fetches_total"] != nil
	})
	seen := map[string]bool{}
	for _, expr := range expressions(t) {
		for _, used := range metricUse.FindAllStringSubmatch(expr, -1) {
			name, matchers := used[1], used[2]
			family := exported[name]
			for _, part := range []string{"_bucket", "_sum", "_count"} {
				if family == nil {
					family = exported[strings.TrimSuffix(name, part)]
				}
			}
			if name == "up" { // metrics of Prometheus itself
				continue
			}
			if family == nil {
				t.Errorf("%s is not exported: %s", name, expr)
				continue
			}
			seen[family.GetName()] = true
			for _, label := range labelUse.FindAllStringSubmatch(matchers, -1) {
				if !hasLabel(family, label[1]) {
					t.Errorf("%s has no label %s: %s", name, label[1], expr)
				}
			}
			for _, by := range groupUse.FindAllStringSubmatch(expr, -1) {
				for label := range strings.SplitSeq(by[1], ",") {
					if !hasLabel(family, strings.TrimSpace(label)) {
						t.Errorf("%s has no label %s: %s", name, label, expr)
					}
				}
			}
		}
	}
	if len(seen) < 20 {
		t.Errorf("got only these metrics: %v", slices.Sorted(maps.Keys(seen)))
	}
}

var (
	metricUse = regexp.MustCompile(`\b((?:linkwatch|probe|process|go)_\w+|up)\b(?:\{([^}]*)\})?`)
	labelUse  = regexp.MustCompile(`(\w+)\s*[=!]~?\s*"`)
	groupUse  = regexp.MustCompile(`\b(?:by|ignoring)\s*\(([^)]*)\)`)
)

// hasLabel reports whether a metric has a label, including the labels that Prometheus adds.
func hasLabel(family *dto.MetricFamily, label string) bool {
	if label == "instance" || label == "job" || label == "le" && family.GetType() == dto.MetricType_HISTOGRAM {
		return true
	}
	return slices.ContainsFunc(family.GetMetric()[0].GetLabel(), func(l *dto.LabelPair) bool {
		return l.GetName() == strings.TrimPrefix(label, "exported_")
	})
}

// metrics returns the exported metrics by name.
func (s *Server) metrics() map[string]*dto.MetricFamily {
	s.t.Helper()
	res, err := http.Get(s.URL + "/metrics")
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	all, err := parser.TextToMetricFamilies(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// expressions returns the PromQL expressions of the rules and the dashboard.
func expressions(t *testing.T) (all []string) {
	t.Helper()
	var rules struct {
		Groups []struct {
			Rules []struct{ Expr string }
		}
	}
	if err := yaml.Unmarshal([]byte(readDeployed(t, "alerts.rules.yml")), &rules); err != nil {
		t.Fatal(err)
	}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			all = append(all, r.Expr)
		}
	}
	for _, exprs := range dashboard(t) {
		all = append(all, exprs...)
	}
	return all
}

// dashboard returns the PromQL expressions of the panels of the dashboard, by title.
func dashboard(t *testing.T) map[string][]string {
	t.Helper()
	var file struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(readDeployed(t, "grafana.json")), &file); err != nil {
		t.Fatal(err)
	}
	panels := map[string][]string{}
	for _, p := range file.Panels {
		for _, target := range p.Targets {
			panels[p.Title] = append(panels[p.Title], target.Expr)
		}
	}
	return panels
}

// The image contains only the program, runs as an unprivileged user and has pinned base images.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	file := readDeployed(t, "Dockerfile")
	_, last, _ := strings.Cut(file, "\nFROM scratch\n")
	for text, in := range map[string]string{
		"CGO_ENABLED=0 go build -tags ": file, "USER 65532:65532": last, `ENTRYPOINT ["/linkwatch"]`: last, `CMD ["/linkwatch", "health"]`: last,
		"ca-certificates.crt": last, "zoneinfo": last, " /tmp\n": last, " /data\n": last,
	} {
		if !strings.Contains(in, text) {
			t.Errorf("the Dockerfile lacks %q", text)
		}
	}
	// A settings file cannot change what the image sets, and DATABASE_URL_FILE must not meet a DATABASE_URL.
	if env := regexp.MustCompile(`(?m)^ENV .*`).FindAllString(last, -1); !slices.Equal(env, []string{"ENV HTTP_HOST=0.0.0.0"}) || !strings.Contains(last, "WORKDIR /data\n") {
		t.Errorf("the image sets %q", env)
	}
	if strings.Contains(last, "\nRUN ") {
		t.Error("RUN needs a shell, but scratch has none")
	}
	for _, from := range regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(file, -1) {
		if from[1] != "scratch" && !pinned.MatchString(from[1]) {
			t.Errorf("image %s is not pinned", from[1])
		}
	}
	version, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	minor := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(version))[1]
	if !strings.Contains(file, "FROM golang:"+minor+".") {
		t.Errorf("the Dockerfile does not use Go %s of go.mod", minor)
	}
}

// pinned matches an image with a full version.
var pinned = regexp.MustCompile(`:\d+\.\d+(\.\d+)?(-\w+)?$`)

// Compose files have pinned images and no secrets.
func TestComposeFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"compose.yml", "elasticsearch.yml"} {
		var file struct {
			Services map[string]struct {
				Image string
				Build struct{ Context, Dockerfile string }
				// A port without an address is reachable from other machines.
				Ports       []string
				Environment map[string]string
				Grace       string `yaml:"stop_grace_period"`
				EnvFile     []struct {
					Path     string
					Required bool
				} `yaml:"env_file"`
				Healthcheck struct{ Test []string }
				Depends     map[string]struct{ Condition string } `yaml:"depends_on"`
			}
		}
		if err := yaml.Unmarshal([]byte(readDeployed(t, name)), &file); err != nil {
			t.Fatal(name, err)
		}
		for service, s := range file.Services {
			if service == "linkwatch" && name == "compose.yml" { // other settings come from deploy/.env
				if len(s.EnvFile) != 1 || s.EnvFile[0].Path != ".env" || s.EnvFile[0].Required {
					t.Errorf("%s: got env_file %+v", name, s.EnvFile)
				}
				exceedsShutdownGrace(t, name, s.Grace)
			}
			if s.Image == "" && filepath.Join(deploy, s.Build.Context, s.Build.Dockerfile) != filepath.Clean(deploy+"Dockerfile") || s.Image != "" && !pinned.MatchString(s.Image) {
				t.Errorf("%s: the image of %s is not pinned or has another build: %+v", name, service, s)
			}
			for key, value := range s.Environment {
				if secret := strings.HasSuffix(key, "PASSWORD") || key == "SECRET_KEY"; secret && !strings.HasPrefix(value, "${") {
					t.Errorf("%s: %s of %s contains a secret", name, key, service)
				}
			}
			for _, port := range s.Ports {
				if !strings.HasPrefix(port, "127.0.0.1:") {
					t.Errorf("%s: port %s of %s is open to other machines", name, port, service)
				}
			}
			for other, need := range s.Depends {
				if need.Condition != "service_healthy" || len(file.Services[other].Healthcheck.Test) == 0 {
					t.Errorf("%s: %s does not wait for a healthy %s", name, service, other)
				}
			}
		}
	}
}

// exceedsShutdownGrace fails the test unless a service manager waits longer for the program than SHUTDOWN_GRACE.
func exceedsShutdownGrace(t *testing.T, file, wait string) {
	t.Helper()
	cfg, err := config.Load(func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	if d, err := time.ParseDuration(wait); err != nil || d <= cfg.ShutdownGrace {
		t.Errorf("%s: got a kill after %q, want more than SHUTDOWN_GRACE, %s: %v", file, wait, cfg.ShutdownGrace, err)
	}
}

// The newest version of the changelog is that of the chart, whose pods get enough time to stop.
func TestVersions(t *testing.T) {
	t.Parallel()
	changelog, err := os.ReadFile("../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	newest := regexp.MustCompile(`(?m)^## \[(\S+)\] - `).FindSubmatch(changelog)
	if newest == nil {
		t.Fatal("CHANGELOG.md has no version")
	}
	var chart struct {
		Version    string
		AppVersion string `yaml:"appVersion"`
	}
	if err := yaml.Unmarshal([]byte(readDeployed(t, "helm/linkwatch/Chart.yaml")), &chart); err != nil {
		t.Fatal(err)
	}
	if want := string(newest[1]); chart.Version != want || chart.AppVersion != want {
		t.Errorf("got the chart %s of the program %s, want %s", chart.Version, chart.AppVersion, want)
	}
	var values struct {
		Grace int `yaml:"terminationGracePeriodSeconds"`
	}
	if err := yaml.Unmarshal([]byte(readDeployed(t, "helm/linkwatch/values.yaml")), &values); err != nil {
		t.Fatal(err)
	}
	exceedsShutdownGrace(t, "values.yaml", strconv.Itoa(values.Grace)+"s")
}

// The systemd unit runs the program as its own user, which can write only to its own folder, and allows time to stop.
func TestSystemdUnit(t *testing.T) {
	t.Parallel()
	section, unit := "", map[string]string{} // the last one of repeated settings
	for line := range strings.Lines(readDeployed(t, "linkwatch.service")) {
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(line, "=")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			section = line
		case !ok:
			t.Errorf("not a setting: %q", line)
		case section == "[Service]":
			unit[name] = value
		}
	}
	for name, want := range map[string]string{
		"ExecStart": "/usr/local/bin/linkwatch serve", "ExecReload": "/bin/kill -HUP $MAINPID", "WorkingDirectory": "/var/lib/linkwatch",
		"EnvironmentFile": "-/etc/linkwatch/linkwatch.env",
		"DynamicUser":     "yes", "StateDirectory": "linkwatch linkwatch/backups", "StateDirectoryMode": "0700", "UMask": "0077",
		"NoNewPrivileges": "yes", "CapabilityBoundingSet": "", "AmbientCapabilities": "",
		"ProtectSystem": "strict", "ProtectHome": "yes", "PrivateTmp": "yes", "PrivateDevices": "yes", "PrivateUsers": "yes",
		"ProtectKernelModules": "yes", "ProtectKernelTunables": "yes", "ProtectControlGroups": "yes", "RestrictNamespaces": "yes",
		"RestrictSUIDSGID": "yes", "LockPersonality": "yes", "MemoryDenyWriteExecute": "yes", "SystemCallArchitectures": "native",
		"RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX", "SystemCallFilter": "~@privileged @resources",
	} {
		if got, ok := unit[name]; !ok || got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	exceedsShutdownGrace(t, "linkwatch.service", unit["TimeoutStopSec"])
}
