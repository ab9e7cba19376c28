package app

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"strconv"
	"time"
)

// startPprof serves the profiles of net/http/pprof on a port of 127.0.0.1, and returns a function that stops it. They
// contain parts of the memory of the program, so no other address and no other Host is possible: a web page that
// rebinds its host name to 127.0.0.1 gets 403. Port 0 starts nothing.
func startPprof(ctx context.Context, port int) (stop func(), err error) {
	if port == 0 {
		return func() {}, nil
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve profiles on PPROF_PORT: %w", err)
	}
	server := &http.Server{Handler: pprofHandler(address), ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // ends when stop closes the server
	}()
	return func() {
		_ = server.Close()
		<-done
	}, nil
}

func pprofHandler(address string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != address {
			http.Error(w, "Use the address "+address+".", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
}
