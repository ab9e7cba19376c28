//go:build e2e

package bench

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"linkwatch/e2e"
)

// checkSite serves figureHosts hosts and counts their requests. It returns the URLs of n targets on them.
func checkSite(t *testing.T, n int) (urls []string, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	hosts := farm(t, 1, figureHosts, func(rw http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = io.WriteString(rw, "<!doctype html><title>Well</title><p>All is well.") // the client may have disconnected
	})
	for i := range n {
		urls = append(urls, fmt.Sprintf("%s/%d", hosts[i%figureHosts], i))
	}
	return urls, asked
}

// checkCost is the cost of checks.
type checkCost struct {
	perSecond, cpu, memory float64 // cpu: milliseconds per check; memory: MB
}

// measureChecks measures the checks of a process while work runs.
func measureChecks(t *testing.T, asked *atomic.Int64, pid int, work func()) checkCost {
	t.Helper()
	n, cpu, started := asked.Load(), cpuOf(t, pid), time.Now()
	work()
	checks, seconds := float64(asked.Load()-n), time.Since(started).Seconds()
	memory, err := e2e.MemoryOf(pid, "VmRSS")
	if err != nil {
		t.Fatal(err)
	}
	return checkCost{checks / seconds, (cpuOf(t, pid) - cpu).Seconds() * 1000 / checks, float64(memory) / 1e6}
}

// linkwatchChecks measures the checks of Linkwatch, of all targets each second.
func linkwatchChecks(t *testing.T, urls []string, asked *atomic.Int64) checkCost {
	t.Helper()
	s := e2e.Start(t, "DATABASE_URL="+targetFile(t, urls, nil), "CHECK_INTERVAL=1s", fmt.Sprintf("MAX_CONCURRENCY=%d", figureWorkers))
	defer s.Stop()
	time.Sleep(bareSeconds * time.Second) // warm-up: every target has been checked
	return measureChecks(t, asked, s.PID(), func() { time.Sleep(bareSeconds * time.Second) })
}

func (c *comparison) addChecks(work string, peer, linkwatch checkCost, baseline bare) {
	c.add(work+": checks per second", "%.0f", peer.perSecond, linkwatch.perSecond, float64(baseline.Requests)/baseline.Seconds)
	c.add(work+": CPU time per check", "%.3f ms", peer.cpu, linkwatch.cpu, baseline.CPU*1000/float64(baseline.Requests))
	c.add(work+": memory", "%.0f MB", peer.memory, linkwatch.memory)
}

// blackboxFigures compares probes of the Prometheus blackbox exporter with checks. It has no schedule, so a client requests
// figureWorkers probes at a time.
func blackboxFigures(t *testing.T) {
	const n = 12_000
	var c comparison
	for range peerRounds {
		urls, asked := checkSite(t, n)
		address := freeAddress(t)
		config := filepath.Join(t.TempDir(), "blackbox.yml")
		module := "modules: {http_2xx: {prober: http, timeout: 5s, http: {preferred_ip_protocol: ip4}}}\n"
		if err := os.WriteFile(config, []byte(module), 0o600); err != nil {
			t.Fatal(err)
		}
		pid, stop := startPeer(t, "--web.listen-address="+address, "--config.file="+config)
		untilListening(t, address)
		var probes []string
		for _, u := range urls {
			probes = append(probes, "http://"+address+"/probe?module=http_2xx&target="+url.QueryEscape(u))
		}
		runBare(t, probes) // warm-up
		peer := measureChecks(t, asked, pid, func() { runBare(t, probes) })
		stop()
		c.addChecks("check 12,000 URLs, 64 at a time", peer, linkwatchChecks(t, urls, asked), runBare(t, urls))
	}
	c.print()
}

// monitFigures compares the checks of Monit with those of Linkwatch.
func monitFigures(t *testing.T) {
	const n = 1_000
	var c comparison
	for range peerRounds {
		urls, asked := checkSite(t, n)
		dir := t.TempDir()
		config := fmt.Appendf(nil, "set daemon 1\nset logfile %[1]s/log\nset idfile %[1]s/id\nset statefile %[1]s/state\n", dir)
		for i, u := range urls {
			target, err := url.Parse(u)
			if err != nil {
				t.Fatal(err)
			}
			config = fmt.Appendf(config, "check host target%d with address %s\n  if failed port %s protocol http request \"%s\" status = 200 then alert\n",
				i, target.Hostname(), target.Port(), target.Path)
		}
		file := filepath.Join(dir, "monitrc")
		if err := os.WriteFile(file, config, 0o600); err != nil {
			t.Fatal(err)
		}
		pid, stop := startPeer(t, "-I", "-c", file, "-p", dir+"/pid")
		time.Sleep(bareSeconds * time.Second) // warm-up
		peer := measureChecks(t, asked, pid, func() { time.Sleep(bareSeconds * time.Second) })
		stop()
		c.addChecks("check 1,000 URLs each second", peer, linkwatchChecks(t, urls, asked), runBare(t, urls))
	}
	c.print()
}
