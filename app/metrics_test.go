package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"linkwatch/models/modelstest"
)

// The metrics have the results of targets, which do not pass the registry, and each name once.
func TestMetricsHaveTargets(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.NotFoundHandler())
	defer site.Close()
	p := start(t, env(t, nil))
	res := p.post(t, "/v1/targets", fmt.Sprintf(`{"url": %q}`, site.URL))
	id := strings.TrimPrefix(res.Header.Get("Location"), "/v1/targets/")
	var metrics string
	modelstest.Eventually(t, "the target is down", func() bool {
		_, metrics = p.get(t, "/metrics")
		return strings.Contains(metrics, fmt.Sprintf("\nprobe_success{target=%q} 0\n", id))
	})
	seen, last := map[string]bool{}, ""
	for line := range strings.Lines(metrics) {
		typed, isType := strings.CutPrefix(line, "# TYPE ")
		name, _, _ := strings.Cut(typed, " ")
		if !isType {
			continue
		}
		if seen[name] || name < last {
			t.Errorf("%q is twice or not in order", name)
		}
		seen[name], last = true, name
	}
	if len(seen) < 50 {
		t.Errorf("only %d metrics", len(seen))
	}
	p.stop()
	if err := p.wait(t); err != nil {
		t.Error(err)
	}
}
