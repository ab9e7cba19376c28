package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

const chart = "deploy/helm/linkwatch"

// tool runs a tool of tools/deploy.mod in the root of the repository, without settings of the user for Helm.
func tool(t *testing.T, args ...string) (string, error) {
	t.Helper()
	args = append([]string{"tool", "-modfile=tools/deploy.mod"}, args...)
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = "../.."
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// object is a part of a Kubernetes object.
type object struct {
	Kind string
	Spec struct {
		Replicas int
		Strategy struct{ Type string }
		Template struct {
			Spec struct {
				SecurityContext struct {
					RunAsNonRoot bool `yaml:"runAsNonRoot"`
					RunAsUser    int  `yaml:"runAsUser"`
				} `yaml:"securityContext"`
				Containers []container
				Volumes    []map[string]any
			}
		}
	}
}

type container struct {
	Image           string
	Env             []struct{ Name, Value string }
	SecurityContext struct {
		ReadOnly     bool `yaml:"readOnlyRootFilesystem"`
		Escalation   bool `yaml:"allowPrivilegeEscalation"`
		Capabilities struct{ Drop []string }
	} `yaml:"securityContext"`
	Startup   probe `yaml:"startupProbe"`
	Liveness  probe `yaml:"livenessProbe"`
	Readiness probe `yaml:"readinessProbe"`
}

type probe struct {
	HTTPGet struct{ Path, Port string } `yaml:"httpGet"`
}

// Helm accepts the chart with all sets of values, also as a file of the release. What it renders has the probes and
// restrictions of the program.
func TestChart(t *testing.T) {
	src := released(t)
	file, err := filepath.Abs(filepath.Join(*dist, "linkwatch-"+src.version+".tgz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		values, image, strategy string
		replicas                int
		kinds                   []string
		env                     []string
	}{
		{"", "linkwatch:" + src.version, "Recreate", 1, []string{"Deployment", "PersistentVolumeClaim", "Service"},
			[]string{"HTTP_HOST", "HTTP_PORT", "DATABASE_URL"}},
		{"trial", "linkwatch:" + src.version, "Recreate", 1, []string{"Deployment", "Service"},
			[]string{"HTTP_HOST", "HTTP_PORT", "DATABASE_URL", "AUTH_DISABLED"}},
		{"sqlite", "registry.example/linkwatch:" + src.version, "Recreate", 1,
			[]string{"Deployment", "Ingress", "PersistentVolumeClaim", "Service"},
			[]string{"HTTP_HOST", "HTTP_PORT", "DATABASE_URL", "PUBLIC_URL", "SHORT_HOST", "TRUSTED_PROXIES"}},
		{"postgres", "registry.example/linkwatch:0.9.0", "", 3,
			[]string{"Deployment", "PodDisruptionBudget", "Service", "ServiceMonitor"},
			[]string{"HTTP_HOST", "HTTP_PORT", "DATABASE_URL", "SECRET_KEY", "REDIS_URL", "PUBLIC_URL"}},
	} {
		var values []string
		if c.values != "" {
			values = []string{"--values", chart + "/ci/" + c.values + "-values.yaml"}
		}
		for _, at := range []string{chart, file} {
			if out, err := tool(t, append([]string{"helm", "lint", "--strict", at}, values...)...); err != nil {
				t.Errorf("%s: %v\n%s", c.values, err, out)
			}
		}
		out, err := tool(t, append([]string{"helm", "template", "links", file}, values...)...)
		if err != nil {
			t.Fatalf("%s: %v\n%s", c.values, err, out)
		}
		deployment, kinds := rendered(t, out)
		if !slices.Equal(kinds, c.kinds) {
			t.Errorf("%s: got %v, want %v", c.values, kinds, c.kinds)
		}
		if s := deployment.Spec; s.Replicas != c.replicas || s.Strategy.Type != c.strategy {
			t.Errorf("%s: got %d replicas, strategy %q", c.values, s.Replicas, s.Strategy.Type)
		}
		checkPod(t, c.values, deployment, c.image, c.env)
	}
}

// rendered returns the Deployment and the sorted kinds of all objects.
func rendered(t *testing.T, out string) (deployment object, kinds []string) {
	t.Helper()
	for doc := range bytes.SplitSeq([]byte(out), []byte("\n---\n")) {
		var o object
		if err := yaml.Unmarshal(doc, &o); err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		if kinds = append(kinds, o.Kind); o.Kind == "Deployment" {
			deployment = o
		}
	}
	slices.Sort(kinds)
	return deployment, kinds
}

func checkPod(t *testing.T, values string, deployment object, image string, env []string) {
	t.Helper()
	pod := deployment.Spec.Template.Spec
	if len(pod.Containers) != 1 {
		t.Fatalf("%s: got %d containers", values, len(pod.Containers))
	}
	c := pod.Containers[0]
	if s := c.SecurityContext; !s.ReadOnly || s.Escalation || !slices.Equal(s.Capabilities.Drop, []string{"ALL"}) {
		t.Errorf("%s: got %+v", values, s)
	}
	if s := pod.SecurityContext; !s.RunAsNonRoot || s.RunAsUser != imageUser {
		t.Errorf("%s: got %+v", values, s)
	}
	for _, p := range []struct {
		probe
		path string
	}{{c.Startup, "/healthz"}, {c.Liveness, "/healthz"}, {c.Readiness, "/readyz"}} {
		if p.HTTPGet.Path != p.path || p.HTTPGet.Port != "http" {
			t.Errorf("%s: got a probe of %+v, want %s", values, p.HTTPGet, p.path)
		}
	}
	var names []string
	for _, e := range c.Env {
		names = append(names, e.Name)
	}
	if !slices.Equal(names, env) || c.Image != image {
		t.Errorf("%s: got image %s with %v, want %s with %v", values, c.Image, names, image, env)
	}
}

// The schema of the values refuses what cannot work, and names the value.
func TestChartRefuses(t *testing.T) {
	for set, want := range map[string]string{
		"replicas=2":                "replicas",
		"database.engine=postgres":  "existingSecret",
		"database.existingSecret=x": "existingSecret",
		"database.engine=mysql":     "engine",
		"config.HTTP_PORT=80":       "HTTP_PORT",
		"config.AUTH_DISABLED=true": "AUTH_DISABLED",
		"ingress.enabled=true":      "hosts",
		"persistence.size=many":     "size",
		"imagePullSecrets=x":        "imagePullSecrets",
	} {
		out, err := tool(t, "helm", "template", "links", chart, "--set", set)
		if err == nil || !strings.Contains(out, want) {
			t.Errorf("%s: got %v\n%s", set, err, out)
		}
	}
}
