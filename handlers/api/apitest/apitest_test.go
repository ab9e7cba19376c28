package apitest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// Record writes a line for each exchange that is not passed over, and changes neither.
func TestRecord(t *testing.T) {
	t.Setenv("TEST_EXCHANGES", t.TempDir())
	handler := Record(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write([]byte("got " + string(body)))
	}), func(r *http.Request) bool { return r.Host == "s.test" })
	for _, url := range []string{"http://a.test/v1/links?q=x", "http://s.test/key"} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, url, strings.NewReader("this")))
		if w.Code != http.StatusAccepted || w.Body.String() != "got this" {
			t.Errorf("%s: got %d %q", url, w.Code, w.Body)
		}
	}
	f, err := file()
	if err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var got Exchange
	if err := json.Unmarshal(written, &got); err != nil { // fails for two lines
		t.Fatal(err)
	}
	if got.Test != "TestRecord" || got.Method != http.MethodPost || got.URL != "http://a.test/v1/links?q=x" || string(got.RequestBody) != "this" ||
		got.Status != http.StatusAccepted || string(got.ResponseBody) != "got this" || got.ResponseHeader.Get("Content-Type") != "text/plain" {
		t.Errorf("recorded %+v", got)
	}
}
