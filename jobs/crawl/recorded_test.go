package crawl_test

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httputil"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

var record = flag.String("record", "", "download responses that are missing in testdata/site from `url` (http://localhost:8000)")

const recorded = "testdata/site"

// replay serves a recorded site. Each response is a file in testdata/site. With -record,
// missing responses are fetched and stored.
func replay(t *testing.T) *site {
	t.Helper()
	return newSite(t, map[string]http.HandlerFunc{"": func(w http.ResponseWriter, r *http.Request) {
		name := strings.NewReplacer("/", "_", "?", "_").Replace(strings.Trim(r.URL.RequestURI(), "/"))
		if name == "" {
			name = "index"
		}
		file := filepath.Join(recorded, filepath.Base(name)+".http")
		f, err := os.Open(file)
		if errors.Is(err, fs.ErrNotExist) && *record != "" {
			err = download(*record+r.URL.RequestURI(), file)
			if err == nil {
				f, err = os.Open(file)
			}
		}
		if err != nil {
			t.Errorf("%s is not recorded: %v", r.URL.Path, err)
			return
		}
		defer f.Close() //nolint:errcheck // read only
		res, err := http.ReadResponse(bufio.NewReader(f), r)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			return
		}
		defer res.Body.Close()
		maps.Copy(w.Header(), res.Header)
		w.WriteHeader(res.StatusCode)
		_, _ = io.Copy(w, res.Body) // the client may have disconnected
	}})
}

// download fetches a URL and stores the response in a file.
func download(url, file string) error {
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Get(url)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := httputil.DumpResponse(res, true)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// A crawl of a recorded site always has the same requests, redirects, errors and pages.
func TestRecordedSite(t *testing.T) {
	t.Parallel()
	w := newWorld(t, modelstest.New(t))
	s := replay(t)
	j := w.job(s.URL + "/")
	w.start()
	e := w.ended(j)
	got := fmt.Sprint(w.entries(s.URL))
	want := "map[/:done  /about:done  /blog:done  /blog/2026/first:done  /blog/?page=2:done  /caf%C3%A9:done  /drafts/x:failed disallowed by robots.txt /gone:failed status 410]"
	if got != want {
		t.Errorf("got frontier %s\nwant %s", got, want)
	}
	if e.Status != crawl.ExecutionCompleted || e.ItemsCrawled != 7 || e.ItemsIndexed != 5 || e.PagesNew != 6 || !strings.HasPrefix(e.StartHash, "3ab093c77274b5f1") {
		t.Errorf("got %+v", e)
	}
}
