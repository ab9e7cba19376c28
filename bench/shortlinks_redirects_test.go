//go:build e2e

package bench

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"linkwatch/e2e"
)

const (
	storedShortLinks = 1_000_000
	cachedShortLinks = 100_000
	hotShortLinks    = 100   // keys of a load
	rounds           = 9     // per server, in turn
	roundTime        = 3     // seconds
	steadyRate       = 2_000 // redirects per second while the reaper runs
)

// TestShortLinkFigures measures redirects of the real binary, compared with a bare server and nginx. It asserts
// no times.
func TestShortLinkFigures(t *testing.T) {
	if !*figures {
		t.Skip("skipped without -figures (task bench)")
	}
	t.Run("redirects", redirectFigures)
	t.Run("cold", coldFigures)
	t.Run("reaping", reapingFigures)
	t.Run("expired", expiredFigures)
	t.Run("memory", memoryFigures)
}

// redirectFigures measures the maximum rate of redirects, compared with a bare server and nginx.
func redirectFigures(t *testing.T) {
	file := e2e.ShortLinkFile(t, "hot", hotShortLinks, time.Time{})
	s := e2e.Start(t, "DATABASE_URL="+file)
	bareAddress, barePID := startBare(t)
	type rival struct {
		name, address string
		pid           int // 0 = several processes
	}
	servers := []rival{{"bare", bareAddress, barePID}, {"linkwatch", address(s), s.PID()}}
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
			l := load{Address: x.address, Path: "/s/hot%07d", Keys: hotShortLinks, Seconds: roundTime}.send(t)
			if l.Failed > 0 {
				t.Errorf("%s: %d requests failed", x.name, l.Failed)
			}
			if round == 0 { // the first round warms up
				continue
			}
			measured[x.name] = append(measured[x.name], l)
			if x.pid > 0 {
				cpu[x.name] = append(cpu[x.name], (cpuOf(t, x.pid)-before).Seconds()/float64(l.Requests)*1000)
			}
		}
	}
	table("Redirects of 100 short links over 32 connections, with visits and LOG_FORMAT=json, SQLite")
	showLoads("baseline: bare net/http server", measured["bare"])
	showLoads("GET /s/{key}", measured["linkwatch"])
	showRatios(measured["linkwatch"], measured["bare"], "≥ 0.80", "≤ 1.5")
	if hasNginx {
		showLoads("nginx, return 302, access log on", measured["nginx"])
	} else {
		row("nginx, return 302", "", "not installed")
	}
	for _, name := range []string{"bare", "linkwatch"} {
		slices.Sort(cpu[name])
		row("CPU time per 1,000 redirects, "+name, "", "%.1f ms", cpu[name][len(cpu[name])/2]*1000)
	}
	row("visits that were not counted", "", "%.0f", metric(t, s, "linkwatch_shortlink_visits_dropped_total"))
}

// showLoads prints the medians of loads.
func showLoads(name string, all []loaded) {
	row(name, "", "%.0f/s, p50 %.2f, p99 %.2f ms", median(all, func(l loaded) float64 { return l.PerSecond }),
		median(all, func(l loaded) float64 { return l.P50 }), median(all, func(l loaded) float64 { return l.P99 }))
}

// showRatios prints the medians and ranges of the ratios of loads to those of the baseline in the same round.
func showRatios(all, baseline []loaded, perSecond, p99 string) {
	var rates, tails []float64
	for i, l := range all {
		rates, tails = append(rates, l.PerSecond/baseline[i].PerSecond), append(tails, l.P99/baseline[i].P99)
	}
	itself := func(f float64) float64 { return f }
	row("ratio to the baseline of the same round", perSecond, "%.2f (%.2f to %.2f)", median(rates, itself), slices.Min(rates), slices.Max(rates))
	row("ratio of the p99", p99, "%.2f (%.2f to %.2f)", median(tails, itself), slices.Min(tails), slices.Max(tails))
}

func median[T any](all []T, of func(T) float64) float64 {
	var values []float64
	for _, x := range all {
		values = append(values, of(x))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// expiredFigures measures requests of one expired short link.
func expiredFigures(t *testing.T) {
	file := e2e.ShortLinkFile(t, "old", 1, time.Now().Add(-time.Minute))
	s := e2e.Start(t, "DATABASE_URL="+file)
	l := load{Address: address(s), Path: "/s/old%07d", Seconds: 10, Status: "410"}
	l.send(t)
	loads := metric(t, s, "linkwatch_shortlink_loads_total")
	r := l.send(t)
	table("One expired short link, requested over 32 connections")
	row("410 responses", "", "%.0f/s, p50 %.2f, p99 %.2f ms", r.PerSecond, r.P50, r.P99)
	row("database queries meanwhile", "0", "%.0f", metric(t, s, "linkwatch_shortlink_loads_total")-loads)
}

// memoryFigures measures memory with many short links.
func memoryFigures(t *testing.T) {
	file := e2e.ShortLinkFile(t, "key", storedShortLinks, time.Time{})
	s := e2e.Start(t, "DATABASE_URL="+file)
	table("%d short links", storedShortLinks)
	row("memory after start", "", "%.0f MB", float64(s.Memory())/1e6)
	l := load{Address: address(s), Path: "/s/key%07d", Keys: cachedShortLinks}.send(t)
	row("first visits, one query each", "", "%.0f/s, p50 %.2f, p99 %.2f ms", l.PerSecond, l.P50, l.P99)
	row(fmt.Sprintf("memory with %d cached", cachedShortLinks), "≤ 250 MB", "%.0f MB", float64(s.Memory())/1e6)
	l = load{Address: address(s), Path: "/s/key%07d", Keys: cachedShortLinks, Seconds: 20}.send(t)
	row("cached visits", "", "%.0f/s, p50 %.2f, p99 %.2f ms", l.PerSecond, l.P50, l.P99)
	row("memory after cached visits", "≤ 250 MB", "%.0f MB", float64(s.Memory())/1e6)
	row("memory at most", "", "%.0f MB", float64(s.PeakMemory())/1e6)
	if l.Failed > 0 {
		t.Errorf("%d requests failed", l.Failed)
	}
}
