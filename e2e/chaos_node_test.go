//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"linkwatch/models/modelstest"
)

// node is an instance of the server with a fixed port.
type node struct {
	*process
	chaos *chaos
	port  int
	env   []string
	log   tail
}

// start starts the server and retries until it serves. The server exits at once while
// PostgreSQL is unavailable.
func (n *node) start() {
	for c := n.chaos; ; {
		cmd := exec.Command(binary)
		cmd.Env, cmd.Stdout, cmd.Stderr = n.env, &n.log, &n.log
		var err error
		if n.process, err = launch(cmd); err != nil {
			c.t.Error("starting an instance: ", err)
			return
		}
		serves := false
		if !modelstest.Within(patience, func() bool {
			serves = n.try(context.Background(), http.MethodGet, "/healthz", nil).status == http.StatusOK
			return serves || n.hasEnded()
		}) {
			c.t.Error("an instance does not serve")
			return
		}
		if serves || c.t.Context().Err() != nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// stop stops the server with SIGTERM.
func (n *node) stop() {
	n.end(syscall.SIGTERM)
	if code := n.exitCode(); code != 0 {
		n.chaos.t.Errorf("after SIGTERM an instance ended with code %d", code)
	}
}

// reply is the response of an instance.
type reply struct {
	status         int // 0 = no response
	location, id   string
	body           []byte
	sent, received time.Time
}

// chaosClient follows no redirects. Its timeout is long, because the test is about
// late responses of stopped instances.
var chaosClient = &http.Client{
	Timeout:       10 * time.Second,
	Transport:     &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: 5 * time.Second},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// try sends a request; header has pairs of names and values.
func (n *node) try(ctx context.Context, method, path string, body any, header ...string) (r reply) {
	var sent io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			panic(err) // all bodies can be encoded
		}
		sent = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, fmt.Sprintf("http://127.0.0.1:%d%s", n.port, path), sent)
	if err != nil {
		panic(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	r.sent = time.Now()
	res, err := chaosClient.Do(req)
	if err != nil {
		return r
	}
	defer res.Body.Close()
	if r.body, err = io.ReadAll(res.Body); err != nil {
		return r
	}
	r.received = time.Now()
	r.status, r.location, r.id = res.StatusCode, res.Header.Get("Location"), res.Header.Get("X-Request-Id")
	return r
}

// broken is a reply that no fault explains.
type broken struct {
	node   *node
	method string
	reply
}

// String returns the reply with the error of the log, which is written slightly after
// the reply.
func (b broken) String() string {
	var line struct{ Error string }
	for _, text := range b.node.log.with(b.id) {
		_ = json.Unmarshal([]byte(text), &line)
	}
	return fmt.Sprintf("%s: got status %d: %s", b.method, b.status, line.Error)
}

// send is try for the load. It fails the test for failures that no fault explains.
func (n *node) send(ctx context.Context, method, path string, body any, header ...string) reply {
	r := n.try(ctx, method, path, body, header...)
	c := n.chaos
	c.requests.Add(1)
	switch {
	case r.status == 0:
		c.unanswered.Add(1)
	case r.status == http.StatusServiceUnavailable, r.status == http.StatusTooManyRequests:
		c.unavailable.Add(1)
	case r.status >= 500:
		c.mu.Lock()
		c.broken = append(c.broken, broken{n, method, r})
		c.mu.Unlock()
	}
	return r
}

// counter returns the sum of a metric over all its labels.
func (n *node) counter(name string) (sum float64) {
	for line := range strings.Lines(string(n.try(context.Background(), http.MethodGet, "/metrics", nil).body)) {
		var v float64
		if rest, ok := strings.CutPrefix(line, name+"{"); ok {
			if _, err := fmt.Sscan(rest[strings.LastIndexByte(rest, ' ')+1:], &v); err == nil {
				sum += v
			}
		}
	}
	return sum
}

type count = atomic.Int64
