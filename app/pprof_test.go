package app

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

func TestPprof(t *testing.T) {
	free, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	if _, err := startPprof(t.Context(), port); err == nil || !strings.Contains(err.Error(), "PPROF_PORT") {
		t.Errorf("error %v for a port in use, want one that names PPROF_PORT", err)
	}
	_ = free.Close()
	stop, err := startPprof(t.Context(), port)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	client := &http.Client{Transport: &http.Transport{}} // without the address guard of the program
	for host, want := range map[string]int{"": 200, "evil.example": 403} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+free.Addr().String()+"/debug/pprof/goroutine?debug=1", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != want || strings.Contains(string(body), "goroutine profile") != (want == 200) {
			t.Errorf("Host %q: status %d, %.60s; want %d", host, res.StatusCode, body, want)
		}
	}
	client.CloseIdleConnections()
	stop()
	if conn, err := net.Dial("tcp", free.Addr().String()); err == nil {
		_ = conn.Close()
		t.Error("profiles are served after stop")
	}
}
