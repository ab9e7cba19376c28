//go:build e2e

package bench

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"linkwatch/e2e"
	"linkwatch/models/modelstest"
)

// hangingPeer serves a connection without ever completing the response.
type hangingPeer func(conn net.Conn, done <-chan struct{})

func silentPeer(_ net.Conn, done <-chan struct{}) { <-done }

// switchingPeer responds with 101, after which the connection is no longer HTTP.
func switchingPeer(conn net.Conn, done <-chan struct{}) {
	_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n") // the client may have disconnected
	<-done
}

// slowPeer sends a byte of a page every 100 ms.
func slowPeer(conn net.Conn, done <-chan struct{}) {
	_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for err == nil {
		select {
		case <-done:
			return
		case <-tick.C:
			_, err = io.WriteString(conn, "x")
		}
	}
}

// hangingPeers listens on n loopback addresses, a third of them for each kind of peer. reached counts the peers that
// received a request.
func hangingPeers(t *testing.T, n int) (urls []string, reached *atomic.Int64) {
	t.Helper()
	done, kinds := make(chan struct{}), []hangingPeer{silentPeer, switchingPeer, slowPeer}
	var (
		listeners []net.Listener
		serving   sync.WaitGroup
	)
	reached = &atomic.Int64{}
	for i := range n {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.4.0.%d:0", 1+i))
		if err != nil {
			t.Fatal(err)
		}
		listeners = append(listeners, listener)
		urls = append(urls, "http://"+listener.Addr().String()+"/")
		serving.Go(func() {
			for first := true; ; first = false {
				conn, err := listener.Accept()
				if errors.Is(err, net.ErrClosed) {
					return
				} else if err != nil {
					t.Error(err)
					return
				}
				serving.Go(func() {
					defer func() { _ = conn.Close() }()
					if _, err := conn.Read(make([]byte, 4096)); err != nil {
						return
					}
					if first {
						reached.Add(1)
					}
					kinds[i%len(kinds)](conn, done)
				})
			}
		})
	}
	t.Cleanup(func() {
		close(done)
		for _, l := range listeners {
			_ = l.Close()
		}
		serving.Wait()
	})
	return urls, reached
}

// TestStopFigures measures how long the program takes to stop while it waits for 64 peers that never complete a
// response: 48 targets and 16 saves. The program must exit with code 0 within SHUTDOWN_GRACE plus one second of
// SIGTERM. The test runs without -figures too.
func TestStopFigures(t *testing.T) {
	const peers, saves, grace, slack = 64, 16, 2 * time.Second, time.Second
	urls, reached := hangingPeers(t, peers)
	s := e2e.Start(t, "MAX_CONCURRENCY=64", "HTTP_TIMEOUT=1m", "CHECK_INTERVAL=1s", "SHUTDOWN_GRACE="+grace.String())
	for _, u := range urls[saves:] {
		if status := s.Call("POST", "/v1/targets", map[string]any{"url": u}, nil); status != http.StatusCreated {
			t.Fatalf("add target: status %d", status)
		}
	}
	modelstest.Eventually(t, "every target got a request", func() bool { return reached.Load() == peers-saves })
	var asking sync.WaitGroup
	defer asking.Wait()
	for _, u := range urls[:saves] {
		asking.Go(func() { _, _ = s.Try("POST", "/v1/links", map[string]any{"url": u}, nil) }) // the program stops
	}
	modelstest.Eventually(t, "every page got a request", func() bool { return reached.Load() == peers })

	started := time.Now()
	s.Stop()
	took := time.Since(started)
	table("SIGTERM with %d hanging peers, SHUTDOWN_GRACE=%s", peers, grace)
	row("from SIGTERM to exit", "≤ 3 s", "%.2f s", took.Seconds())
	if took > grace+time.Second+slack {
		t.Errorf("from SIGTERM to exit: got %v, want at most %v", took, grace+time.Second)
	}
}
