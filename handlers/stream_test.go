package handlers_test

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/handlers"
	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	"linkwatch/models/modelstest"
)

// streaming returns a server with one stream at /sse/numbers, which waits for a value of next before
// each event except the first.
func streaming(t *testing.T, jwtSecret string, next <-chan struct{}) (server *httptest.Server, log *modelstest.Log) {
	t.Helper()
	log = modelstest.NewLog(t)
	logger := slog.New(slog.NewTextHandler(log, nil))
	errs := &middleware.Errors{Log: logger}
	health := middleware.NewHealth(errs, nil, "v1.2.3")
	streams := middleware.NewStreams(errs, health.WhenStopping(), 1)
	numbers := func(c *gin.Context) {
		streams.Serve(c, time.Millisecond, func(ctx context.Context, after string) ([]middleware.StreamEvent, bool, error) {
			if after == "" {
				return []middleware.StreamEvent{{ID: "1", Data: 1}}, false, nil
			}
			select {
			case <-next:
				return []middleware.StreamEvent{{ID: "2", Data: strings.Repeat("2", 5000)}}, true, nil
			case <-ctx.Done():
				return nil, false, ctx.Err()
			}
		})
	}
	server = httptest.NewUnstartedServer(handlers.New(handlers.Deps{
		Systems: []handlers.System{{Routes: []middleware.Route{
			{Method: "GET", Path: "/sse/numbers", Needs: middleware.Viewer, Handler: numbers, Stream: true},
		}}},
		Frame: pages.New(errs, "v1.2.3", "", nil), Health: health, Log: logger, Registry: prometheus.NewRegistry(),
		Access: middleware.AccessOptions{JWTSecret: jwtSecret},
	}))
	server.Config.RegisterOnShutdown(health.Stopping)
	server.Start()
	t.Cleanup(server.Close)
	return server, log
}

func ask(t *testing.T, server *httptest.Server, path string, headers ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// TestStreamIsNotBuffered: events arrive before the stream ends, also with gzip. Its duration is not in
// the histogram of requests.
func TestStreamIsNotBuffered(t *testing.T) {
	for _, encoding := range []string{"gzip", "identity"} {
		next := make(chan struct{})
		server, log := streaming(t, "", next)
		res := ask(t, server, "/sse/numbers", "Accept-Encoding", encoding)
		if h := res.Header; h.Get("Content-Encoding") != "" || h.Get("No-Gzip-Compression") != "" || h.Get("Content-Type") != "text/event-stream" {
			t.Errorf("%s: got %v", encoding, h)
		}
		lines := bufio.NewReader(res.Body)
		for _, want := range []string{"retry: 2000", "", "id: 1", "data: 1", ""} {
			if got, err := lines.ReadString('\n'); err != nil || got != want+"\n" {
				t.Fatalf("%s: got %q, %v, want %q", encoding, got, err, want)
			}
		}
		next <- struct{}{} // now there are more events
		rest, err := io.ReadAll(lines)
		if want := "id: 2\ndata: \"" + strings.Repeat("2", 5000) + "\"\n\nevent: end\ndata: {}\n\n"; err != nil || string(rest) != want {
			t.Errorf("%s: got %v, %q", encoding, err, rest)
		}
		const route = `route="/sse/numbers"`
		var metrics string
		modelstest.Eventually(t, "the stream is counted", func() bool {
			b, _ := io.ReadAll(ask(t, server, "/metrics").Body)
			metrics = string(b)
			return strings.Contains(metrics, `linkwatch_http_requests_total{method="GET",`+route+`,status="200"} 1`)
		})
		if strings.Contains(metrics, `duration_seconds_count{method="GET",`+route) {
			t.Error("the duration of a stream is in the histogram")
		}
		modelstest.Eventually(t, "the stream is logged", func() bool { return log.Count("path=/sse/numbers status=200") == 1 })
		if _, line, _ := strings.Cut(log.String(), "path=/sse/numbers"); !strings.Contains(line, "open_ms=") || strings.Contains(strings.Split(line, "\n")[0], "took_us=") {
			t.Errorf("got log %s", line)
		}
	}
}

// TestStreamNeedsJWT: streams outside of /v1 also belong to the API.
func TestStreamNeedsJWT(t *testing.T) {
	server, _ := streaming(t, jwtSecret, nil)
	res := ask(t, server, "/sse/numbers", "Accept", "text/html")
	if res.StatusCode != 401 || res.Header.Get("Content-Type") != "application/problem+json" || res.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("got %d, %v", res.StatusCode, res.Header)
	}
	if res := ask(t, server, "/sse/numbers", "Authorization", token(t, jwtSecret, "viewer", time.Hour)); res.StatusCode != 200 {
		t.Errorf("with a token: got %d", res.StatusCode)
	}
}

// TestShutdownEndsStreams: Shutdown waits for requests, so streams end when the server starts to stop.
func TestShutdownEndsStreams(t *testing.T) {
	server, _ := streaming(t, "", nil)
	res := ask(t, server, "/sse/numbers")
	if err := server.Config.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if b, err := io.ReadAll(res.Body); err != nil || !strings.HasSuffix(string(b), "event: end\ndata: {\"stopping\":true}\n\n") {
		t.Errorf("got %q, %v", b, err)
	}
}
