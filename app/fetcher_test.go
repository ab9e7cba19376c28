package app_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"linkwatch/app"
	"linkwatch/app/apptest"
	"linkwatch/models/links"
	"linkwatch/outbound"
)

// status responds to the path /HEAD/GET with the status code it names for the method. 0 closes the connection.
func status(rw http.ResponseWriter, r *http.Request) {
	parts := strings.Split(r.URL.Path, "/")
	code, err := strconv.Atoi(parts[1])
	if r.Method == http.MethodGet && err == nil {
		code, err = strconv.Atoi(parts[2])
	}
	if err != nil || code == 0 {
		panic(http.ErrAbortHandler)
	}
	rw.WriteHeader(code)
}

func TestProbe(t *testing.T) {
	fetcher := apptest.NewFetcher(t)
	for _, test := range []struct {
		head, get, want int // 0: an error
		methods         string
	}{
		{200, 404, 200, "HEAD"},
		{405, 200, 200, "HEAD GET"},
		{404, 200, 200, "HEAD GET"},
		{404, 404, 404, "HEAD GET"},
		{404, 410, 410, "HEAD GET"},
		{405, 404, 0, "HEAD GET"}, // not confirmed by both
		{0, 200, 200, "HEAD GET"},
		{0, 404, 0, "HEAD GET"},
		{403, 403, 403, "HEAD GET"},
		{500, 500, 500, "HEAD GET"},
		{429, 200, 429, "HEAD"}, // the host is throttled, so GET is not sent
		{503, 200, 503, "HEAD"},
	} {
		t.Run(fmt.Sprint(test.head, test.get), func(t *testing.T) {
			var mu sync.Mutex // an aborted connection does not order its handler before the next
			var methods []string
			s := apptest.NewSite(t, func(rw http.ResponseWriter, r *http.Request) {
				mu.Lock()
				methods = append(methods, r.Method)
				mu.Unlock()
				status(rw, r)
			})
			p, err := fetcher.Probe(t.Context(), fmt.Sprintf("%s/%d/%d", s, test.head, test.get))
			if (err != nil) != (test.want == 0) || p.Status != test.want {
				t.Errorf("%+v, %v; want %d", p, err, test.want)
			}
			if _, ok := errors.AsType[*links.FetchError](err); err != nil && !ok {
				t.Errorf("error of type %T", err)
			}
			mu.Lock()
			defer mu.Unlock()
			if got := strings.Join(methods, " "); got != test.methods {
				t.Errorf("methods %q, want %q", got, test.methods)
			}
		})
	}
}

func TestThrottledHostGetsNoRequest(t *testing.T) {
	fetcher := apptest.NewFetcher(t)
	s := apptest.NewSite(t, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Retry-After", "60")
		rw.WriteHeader(http.StatusTooManyRequests)
	})
	if p, err := fetcher.Probe(t.Context(), s+"/1"); err != nil || p.Status != http.StatusTooManyRequests {
		t.Errorf("%+v, %v", p, err)
	}
	_, err := fetcher.Probe(t.Context(), s+"/2")
	if fe, ok := errors.AsType[*links.FetchError](err); !ok || fe.RetryAfter <= 0 || fe.Blocked {
		t.Errorf("while throttled: %#v", err)
	}
}

func TestFetch(t *testing.T) {
	s := apptest.NewSite(t, func(rw http.ResponseWriter, r *http.Request) {
		n, hops := strings.CutPrefix(r.URL.Path, "/hops/")
		switch remaining, _ := strconv.Atoi(n); {
		case hops && remaining > 0:
			code, _ := strconv.Atoi(r.URL.RawQuery)
			http.Redirect(rw, r, fmt.Sprintf("/hops/%d?%d", remaining-1, code), code)
		case r.URL.Path == "/pdf":
			rw.Header().Set("Content-Type", "text/html") // wrong, as on some servers
			_, _ = fmt.Fprint(rw, "%PDF-1.7\n<title>Not its title</title>", strings.Repeat("\x00", 3000))
		case r.URL.Path == "/missing":
			rw.WriteHeader(http.StatusNotFound)
		default:
			_, _ = fmt.Fprint(rw, `<head><title>T</title><meta property="og:title" content="O"><meta property="og:image" content="//pictures.example/i.png"></head>`)
		}
	})
	fetcher := apptest.NewFetcher(t)
	fetch := func(path string) links.Page {
		t.Helper()
		p, err := fetcher.Fetch(t.Context(), s+path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		return p
	}
	want := links.Page{Status: 200, URL: s + "/page", Title: "O", OpenGraph: links.OpenGraph{Title: "O", Image: "http://pictures.example/i.png"}}
	if p := fetch("/page"); p != want {
		t.Errorf("page: %+v", p)
	}
	if p := fetch("/pdf"); p.Status != 200 || p.Title != "" {
		t.Errorf("PDF: %+v", p)
	}
	if p := fetch("/missing"); p.Status != 404 {
		t.Errorf("missing: %+v", p)
	}
	if p := fetch("/hops/4?308"); !p.Permanent || p.URL != s+"/hops/0?308" || p.Title != "O" {
		t.Errorf("moved: %+v", p)
	}
	if p := fetch("/hops/1?302"); p.Permanent || p.Status != 200 {
		t.Errorf("temporary redirect: %+v", p)
	}
	if p, err := fetcher.Fetch(t.Context(), s+"/hops/5?301"); err == nil {
		t.Errorf("five redirects: %+v", p)
	}
}

func TestFetchErrors(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	address := "http://" + closed.Addr().String()

	_, err = apptest.NewFetcher(t).Fetch(t.Context(), address)
	if fe, ok := errors.AsType[*links.FetchError](err); !ok || fe.Reason != "connection refused" || fe.Blocked {
		t.Errorf("no listener: %#v", err)
	}
	strict := outbound.New(outbound.Options{})
	t.Cleanup(strict.Close)
	for _, fetch := range []func(context.Context, string) (links.Page, error){
		app.NewFetcher(strict).Fetch, app.NewFetcher(strict).Probe,
	} {
		_, err = fetch(t.Context(), address)
		if fe, ok := errors.AsType[*links.FetchError](err); !ok || !fe.Blocked {
			t.Errorf("blocked address: %#v", err)
		}
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = apptest.NewFetcher(t).Probe(canceled, address); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// After a host has failed once, users can still save other pages of it. Probes back off.
func TestOneBadPageDoesNotBlockAHost(t *testing.T) {
	fetcher := apptest.NewFetcher(t)
	s := apptest.NewSite(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/bad" {
			rw.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	if p, err := fetcher.Fetch(t.Context(), s+"/bad"); err != nil || p.Status != http.StatusServiceUnavailable {
		t.Fatalf("%+v, %v", p, err)
	}
	if p, err := fetcher.Fetch(t.Context(), s+"/good"); err != nil || p.Status != http.StatusOK {
		t.Errorf("saving a good page: %+v, %v", p, err)
	}
	if _, err := fetcher.Fetch(t.Context(), s+"/bad"); err != nil {
		t.Fatal(err)
	}
	_, err := fetcher.Probe(t.Context(), s+"/good")
	if fe, ok := errors.AsType[*links.FetchError](err); !ok || fe.RetryAfter <= 0 {
		t.Errorf("probe during backoff: %v", err)
	}
}
