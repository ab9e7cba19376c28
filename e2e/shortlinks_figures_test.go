package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	storedShort = 1_000_000
	cachedShort = 100_000
	hotShort    = 100   // keys that a load goes through
	rounds      = 5     // of each server, in turn
	roundTime   = 4     // seconds
	steadyRate  = 2_000 // redirects a second while the reaper runs
)

// TestShortLinkFigures measures redirects of the real binary beside servers
// that do nothing else. Like TestFigures it asserts nothing about time.
func TestShortLinkFigures(t *testing.T) {
	if !*figures {
		t.Skip("figures are measured with -figures (task bench)")
	}
	t.Run("redirects", redirectFigures)
	t.Run("reaping", reapingFigures)
	t.Run("expired", expiredFigures)
	t.Run("memory", shortMemoryFigures)
}

// startLogged is start with the log in a file, as a service would have it.
func startLogged(t *testing.T, env ...string) (s *server, address string) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	s = &server{t: t, cmd: exec.Command(binary), ended: make(chan struct{})}
	s.cmd.Env = environ(append([]string{"HTTP_PORT=0"}, env...)...)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		s.err = s.cmd.Wait()
		_ = log.Close()
		close(s.ended)
	}()
	t.Cleanup(s.stop)
	eventually(t, "the program listens", func() bool {
		written, err := os.ReadFile(log.Name())
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(written), `"msg":"listening","address":"`)
		address, _, _ = strings.Cut(rest, `"`)
		return address != ""
	})
	s.url = "http://" + address
	return s, address
}

// Redirects as many as there can be, beside a bare server and nginx.
func redirectFigures(t *testing.T) {
	file := shortStore(t, "hot", hotShort, time.Time{})
	s, address := startLogged(t, "DATABASE_URL="+file)
	bareAddress, barePID := startBare(t)
	type rival struct {
		name, address string
		pid           int // 0 = several processes
	}
	servers := []rival{{"bare", bareAddress, barePID}, {"linkwatch", address, s.cmd.Process.Pid}}
	nginx, hasNginx := startNginx(t)
	if hasNginx {
		servers = append(servers, rival{"nginx", nginx, 0})
	}
	measured, cpu := map[string][]loaded{}, map[string][]float64{}
	for round := range rounds + 1 {
		for _, x := range servers {
			var before time.Duration
			if x.pid > 0 {
				before = cpuOf(t, x.pid)
			}
			l := load{Address: x.address, Path: "/s/hot%07d", Keys: hotShort, Seconds: roundTime}.send(t)
			if l.Failed > 0 {
				t.Errorf("%s: %d requests failed", x.name, l.Failed)
			}
			if round == 0 { // the first warms up
				continue
			}
			measured[x.name] = append(measured[x.name], l)
			if x.pid > 0 {
				cpu[x.name] = append(cpu[x.name], (cpuOf(t, x.pid)-before).Seconds()/float64(l.Requests)*1000)
			}
		}
	}
	var ratios []float64
	for i, l := range measured["linkwatch"] {
		ratios = append(ratios, l.PerSecond/measured["bare"][i].PerSecond)
	}
	slices.Sort(ratios)
	table("redirects of 100 short links by 32 connections, visits counted, LOG_FORMAT=json into a file, SQLite")
	show := func(what, bound, name string) {
		all := measured[name]
		slices.SortFunc(all, func(a, b loaded) int { return int(a.PerSecond - b.PerSecond) })
		l := all[len(all)/2]
		row(what, bound, "%.0f/s, p50 %.2f p99 %.2f ms", l.PerSecond, l.P50, l.P99)
	}
	show("bare net/http server", "floor", "bare")
	show("GET /s/{key}", "", "linkwatch")
	row("redirects by those of the bare server", "≥ 0.70", "%.2f (%.2f to %.2f)", ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1])
	if hasNginx {
		show("nginx, return 302, access log on", "beside", "nginx")
	} else {
		row("nginx, return 302", "beside", "not installed")
	}
	for _, name := range []string{"bare", "linkwatch"} {
		slices.Sort(cpu[name])
		row("CPU of the server for 1,000 redirects: "+name, "", "%.1f ms", cpu[name][len(cpu[name])/2]*1000)
	}
	row("visits that were not counted", "", "%.0f", s.metric("linkwatch_shortlink_visits_dropped_total"))
}

// A million expired short links are reaped while redirects go on.
func reapingFigures(t *testing.T) {
	file := shortStore(t, "old", storedShort, time.Now().Add(-24*time.Hour))
	db, closeDB := newStore(t, file)
	addShort(t, db, "hot", hotShort, time.Time{})
	closeDB()
	s, address := startLogged(t, "DATABASE_URL="+file, "CLEANUP_INTERVAL=24h", "CLEANUP_MAX_DURATION=1h")
	steady := load{Address: address, Path: "/s/hot%07d", Keys: hotShort, Rate: steadyRate, Seconds: 10}
	steady.send(t) // to warm up
	steady.Seconds = 30
	idle := steady.send(t)

	var stats struct {
		TotalCleaned int64   `json:"total_cleaned"`
		IsRunning    bool    `json:"is_running"`
		Average      float64 `json:"average_cleanup_ms"`
	}
	begun := time.Now()
	if status := s.call("POST", "/v1/admin/cleanup/run", nil, nil); status != http.StatusAccepted {
		t.Fatalf("running the reaper: %d", status)
	}
	ask := func() {
		if status := s.call("GET", "/v1/admin/cleanup/stats", nil, &stats); status != http.StatusOK {
			t.Fatalf("asking the reaper: %d", status)
		}
	}
	busy := steady.send(t)
	if ask(); !stats.IsRunning {
		t.Errorf("the reaper was quicker than %.0f s of redirects", steady.Seconds)
	}
	for stats.TotalCleaned < storedShort || stats.IsRunning {
		if time.Since(begun) > 20*time.Minute {
			t.Fatalf("reaped %d in %v", stats.TotalCleaned, time.Since(begun))
		}
		time.Sleep(time.Second)
		ask()
	}
	table("%d expired short links reaped, %d redirects a second meanwhile", storedShort, steadyRate)
	row("redirects while idle", "", "p50 %.2f p99 %.2f ms", idle.P50, idle.P99)
	row("redirects while reaping", fmt.Sprintf("≤ %.2f ms", 2*idle.P99), "p50 %.2f p99 %.2f ms", busy.P50, busy.P99)
	row("longest redirect, idle and while reaping", "", "%.0f and %.0f ms", idle.Greatest, busy.Greatest)
	row("redirects that failed", "0", "%d", busy.Failed+idle.Failed)
	row("time to reap all, and to delete meanwhile", "", "%.0f and %.0f s", s.reaperTook().Seconds(), stats.Average/1000)
	row("reaped", "", "%d", stats.TotalCleaned)
}

// reaperTook is how long the last run of the reaper was under way.
func (s *server) reaperTook() time.Duration {
	s.t.Helper()
	var runs struct {
		Items []struct {
			DurationMS int64 `json:"duration_ms"`
		}
	}
	if status := s.call("GET", "/v1/admin/jobs/reaper/runs", nil, &runs); status != http.StatusOK || len(runs.Items) == 0 {
		s.t.Fatalf("asking for the runs: %d", status)
	}
	return time.Duration(runs.Items[0].DurationMS) * time.Millisecond
}

// One expired key that everybody asks for.
func expiredFigures(t *testing.T) {
	file := shortStore(t, "old", 1, time.Now().Add(-time.Minute))
	s, address := startLogged(t, "DATABASE_URL="+file)
	l := load{Address: address, Path: "/s/old%07d", Seconds: 10, Status: "410"}
	l.send(t)
	loads := s.metric("linkwatch_shortlink_loads_total")
	r := l.send(t)
	table("one expired short link, asked for by 32 connections")
	row("answers 410", "", "%.0f/s, p50 %.2f p99 %.2f ms", r.PerSecond, r.P50, r.P99)
	row("database queries meanwhile", "0", "%.0f", s.metric("linkwatch_shortlink_loads_total")-loads)
}

// What many short links take of memory.
func shortMemoryFigures(t *testing.T) {
	file := shortStore(t, "key", storedShort, time.Time{})
	s, address := startLogged(t, "DATABASE_URL="+file)
	table("%d short links stored", storedShort)
	row("memory after start", "", "%.0f MB", float64(resident(t, s))/1e6)
	l := load{Address: address, Path: "/s/key%07d", Keys: cachedShort}.send(t)
	row("first visits, each a query", "", "%.0f/s, p50 %.2f p99 %.2f ms", l.PerSecond, l.P50, l.P99)
	row(fmt.Sprintf("memory with %d cached", cachedShort), "≤ 250 MB", "%.0f MB", float64(resident(t, s))/1e6)
	l = load{Address: address, Path: "/s/key%07d", Keys: cachedShort, Seconds: 20}.send(t)
	row("visits of all of them, cached", "", "%.0f/s, p50 %.2f p99 %.2f ms", l.PerSecond, l.P50, l.P99)
	row("memory after that", "≤ 250 MB", "%.0f MB", float64(resident(t, s))/1e6)
	row("memory at its peak", "", "%.0f MB", float64(s.peakMemory())/1e6)
	if l.Failed > 0 {
		t.Errorf("%d requests failed", l.Failed)
	}
}
