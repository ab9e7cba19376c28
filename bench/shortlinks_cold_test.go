//go:build e2e

package bench

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"linkwatch/e2e"
	"linkwatch/models/modelstest"
)

const (
	coldKeys   = 300_000
	coldRounds = 3
)

// coldFigures measures redirects of 300,000 short links on PostgreSQL and Redis, each visited once. Half of them are
// warm: visited before, so they are in memory. The others are cold: never visited, so they are neither in memory nor in
// Redis. Warm and cold ones take turns. Each round has an empty Redis and a new process. Then a second process with the
// same Redis serves all of them.
func coldFigures(t *testing.T) {
	if os.Getenv("TEST_POSTGRES_URL") == "" {
		t.Skip("skipped without TEST_POSTGRES_URL")
	}
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("skipped without redis-server")
	}
	database := modelstest.NewPostgres(t)
	db, closeDB := e2e.OpenDatabase(t, database)
	e2e.AddShortLinks(t, db, "key", coldKeys, time.Time{})
	closeDB()
	bareAddress, _ := startBare(t)
	var bare, warm, first, mixed, shared []loaded
	var dropped, loads, hits, peak float64
	for range coldRounds {
		settings := []string{"DATABASE_URL=" + database, "REDIS_URL=" + startRedis(t), "SHORT_CACHE_SIZE=" + strconv.Itoa(coldKeys)}
		s := e2e.Start(t, settings...)
		untilReady(t, s)
		send := func(l load) loaded {
			l.Path = "/s/key%07d"
			r := l.send(t)
			if r.Failed > 0 {
				t.Errorf("%d requests failed", r.Failed)
			}
			return r
		}
		bare = append(bare, send(load{Address: bareAddress, Keys: coldKeys}))
		even := load{Address: address(s), Keys: coldKeys / 2, Step: 2}
		first = append(first, send(even))
		warm = append(warm, send(even))
		before := metric(t, s, "linkwatch_shortlink_loads_total")
		mixed = append(mixed, send(load{Address: address(s), Keys: coldKeys}))
		loads += metric(t, s, "linkwatch_shortlink_loads_total") - before
		dropped += metric(t, s, "linkwatch_shortlink_visits_dropped_total")
		peak = max(peak, float64(s.PeakMemory())/1e6)
		s.Stop()
		s = e2e.Start(t, settings...)
		untilReady(t, s)
		shared = append(shared, send(load{Address: address(s), Keys: coldKeys}))
		hits += metric(t, s, "linkwatch_shortlink_cache_hits_total")
		dropped += metric(t, s, "linkwatch_shortlink_visits_dropped_total")
		s.Stop()
	}
	table("%d short links, each visited once, half of them cold, PostgreSQL and Redis", coldKeys)
	showLoads("baseline: bare net/http server", bare)
	showLoads("half of them cold", mixed)
	showRatios(mixed, bare, "≥ 0.50", "")
	showLoads("only cold", first)
	showLoads("only warm", warm)
	showLoads("only in Redis", shared)
	row("visits that read the database, of those half cold", fmt.Sprint(coldKeys/2), "%.0f", loads/coldRounds)
	row("visits that found their entry in Redis, of those only in Redis", fmt.Sprint(coldKeys), "%.0f", hits/coldRounds)
	row("visits that were not counted", "0", "%.0f", dropped)
	row("memory at most", "", "%.0f MB", peak)
}

// startRedis starts an empty Redis and returns its URL.
func startRedis(t *testing.T) (url string) {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := free.Addr().String()
	_ = free.Close() // Redis listens there
	_, port, _ := strings.Cut(at, ":")
	cmd := exec.Command("redis-server", "--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // nothing in it is needed
		_ = cmd.Wait()
	})
	modelstest.Eventually(t, "Redis listens", func() bool {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			return false
		}
		_ = conn.Close()
		return true
	})
	return "redis://" + at + "/0"
}
