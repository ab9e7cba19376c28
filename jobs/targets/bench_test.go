package targets_test

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/jobs"
	targetjobs "linkwatch/jobs/targets"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
	"linkwatch/outbound"
)

// 5,000 targets on 250 hosts in this process, each due every second, and 64 workers. Run:
// go test -bench Checker -benchtime 10s
func BenchmarkChecker(b *testing.B) {
	const all, hosts = 5000, 250
	bases := loopbackHosts(b, hosts, func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write(make([]byte, 1000)) })
	db := modelstest.New(b)
	store := targets.NewStore(db, nil, targets.Options{CheckInterval: time.Second, Retention: time.Hour})
	for i := range all {
		if _, _, err := store.Add(b.Context(), targets.New{URL: fmt.Sprintf("%s/%d", bases[i%hosts], i)}); err != nil {
			b.Fatal(err)
		}
	}
	client := outbound.New(outbound.Options{AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, MaxConcurrent: 64})
	defer client.Close()
	reg := prometheus.NewRegistry()
	instance := lease.New(db, nil)
	heartbeat := jobs.NewHeartbeat(instance, slog.New(slog.DiscardHandler))
	heartbeat.Start()
	defer heartbeat.Stop(b.Context())
	c, err := targetjobs.NewChecker(store, instance, client, 64, 1, slog.New(slog.DiscardHandler), reg)
	if err != nil {
		b.Fatal(err)
	}
	c.Start()
	before := time.Now()
	for b.Loop() {
		time.Sleep(time.Second) // an iteration is a second of checks
	}
	took := time.Since(before)
	c.Stop(b.Context())
	families, err := reg.Gather()
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range families {
		switch f.GetName() {
		case "linkwatch_check_lag_seconds":
			lag := f.GetMetric()[0].GetHistogram()
			b.ReportMetric(float64(lag.GetSampleCount())/took.Seconds(), "checks/s")
			b.ReportMetric(lag.GetSampleSum()/float64(lag.GetSampleCount())*1000, "ms-lag/check")
		case "linkwatch_checks_skipped_total":
			b.ReportMetric(f.GetMetric()[0].GetCounter().GetValue()/took.Seconds(), "skipped/s")
		}
	}
}

// loopbackHosts serves on n addresses of 127.0.0.0/8, all on one port.
func loopbackHosts(b *testing.B, n int, h http.HandlerFunc) (bases []string) {
	b.Helper()
	srv := httptest.NewServer(h)
	b.Cleanup(srv.Close)
	port := srv.Listener.Addr().(*net.TCPAddr).Port
	for i := range n {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.1.%d:%d", 1+i, port))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = l.Close() })
		go func() { _ = srv.Config.Serve(l) }()
		bases = append(bases, "http://"+l.Addr().String())
	}
	return bases
}
