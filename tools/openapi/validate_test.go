package openapi

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	validator "github.com/pb33f/libopenapi-validator"
)

const document = "../../handlers/api/openapi.json"

// TestOpenAPIIsValid: both documents that the program serves are valid in their version of OpenAPI.
func TestOpenAPIIsValid(t *testing.T) {
	server := start(t)
	for path, version := range map[string]string{"/openapi.json": "3.1.0", "/openapi-3.0.json": "3.0.3"} {
		got := fetch(t, server+path)
		if !strings.Contains(string(got), `"openapi":"`+version+`"`) && !strings.Contains(string(got), `"openapi": "`+version+`"`) {
			t.Errorf("%s: not OpenAPI %s", path, version)
		}
		if _, err := newValidator(got); err != nil {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

// TestExchanges checks each exchange of the folder TEST_EXCHANGES, in which the tests of the program have recorded them.
func TestExchanges(t *testing.T) {
	folder := os.Getenv("TEST_EXCHANGES")
	if folder == "" {
		t.Skip("TEST_EXCHANGES is not set: run the tests of the program with it first")
	}
	v, err := read(document)
	if err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 100)
	var checked [2]int // those below /v1, and the others
	var mu sync.Mutex
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for line := range lines {
				var e Exchange
				if err := json.Unmarshal([]byte(line), &e); err != nil {
					t.Error(err)
					continue
				}
				if found := check(v, e); found != "" {
					t.Errorf("%s: %s %s: %d is not as the document says: %s", e.Test, e.Method, e.URL, e.Status, found)
				}
				mu.Lock()
				if strings.HasPrefix(alias(e.URL), "/v1/") {
					checked[0]++
				} else {
					checked[1]++
				}
				mu.Unlock()
			}
		})
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	for _, file := range files {
		err = errors.Join(err, eachLine(file, func(line string) { lines <- line }))
	}
	close(lines)
	group.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if checked[0] < 1000 {
		t.Errorf("only %d exchanges of the API are recorded", checked[0])
	}
	t.Logf("checked %d exchanges of the API and %d of other paths", checked[0], checked[1])
}

func eachLine(file string, do func(line string)) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it is only read
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadString('\n')
		if line != "" {
			do(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
	}
}

func read(file string) (validator.Validator, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return newValidator(b)
}

// TestCheck: check finds responses that the document does not list.
func TestCheck(t *testing.T) {
	v, err := read(document)
	if err != nil {
		t.Fatal(err)
	}
	const page = `{"page":1,"per_page":30,"total_results":0,"total_is_lower_bound":false,"total_pages":0,"results":[]}`
	problem := func(slug, status string) string {
		return `{"type":"/probs/` + slug + `","title":"T","status":` + status + `,"detail":"D"}`
	}
	for _, c := range []struct {
		name, call  string
		status      int
		media, body string
		want        bool
	}{
		{"a list", "GET /v1/recent", 200, "application/json", page, true},
		{"of an alias", "GET /api/v1/recent", 200, "application/json", page, true},
		{"without a member", "GET /v1/recent", 200, "application/json", strings.Replace(page, `"total_is_lower_bound":false,`, "", 1), false},
		{"with another member", "GET /v1/recent", 200, "application/json", strings.Replace(page, `{`, `{"more":1,`, 1), false},
		{"with null", "GET /v1/recent", 200, "application/json", strings.Replace(page, `[]`, `null`, 1), false},
		{"of another media type", "GET /v1/recent", 200, "text/plain", page, false},
		{"with another status", "GET /v1/recent", 202, "application/json", page, false},
		{"a problem", "GET /v1/link/x", 404, "application/problem+json", problem("not-found", "404"), true},
		{"a problem of another type", "GET /v1/link/x", 404, "application/problem+json", problem("gone", "404"), false},
		{"a problem that is not listed", "GET /v1/recent", 404, "application/problem+json", problem("not-found", "404"), false},
		{"an operation that is not listed", "GET /v1/nothing", 200, "application/json", page, false},
		{"an unknown operation", "GET /v1/nothing", 404, "application/problem+json", problem("not-found", "404"), true},
		{"a bad request that succeeds", "GET /v1/recent?page=x", 200, "application/json", page, false},
	} {
		method, path, _ := strings.Cut(c.call, " ")
		header := http.Header{"Content-Type": {c.media}, "X-Request-Id": {"0123456789"}}
		e := Exchange{Method: method, URL: path, Status: c.status, ResponseHeader: header, ResponseBody: []byte(c.body)}
		if found := check(v, e); (found == "") != c.want {
			t.Errorf("%s: got valid %v, want %v: %s", c.name, !c.want, c.want, found)
		}
	}
}

func TestValid(t *testing.T) {
	for document, want := range map[string]bool{
		`{"openapi":"3.1.0","info":{"title":"T","version":"1","license":{"name":"MIT","identifier":"MIT"}},"paths":{}}`: true,
		`{"openapi":"3.0.3","info":{"title":"T","version":"1","license":{"name":"MIT"}},"paths":{}}`:                    true,
		`{"openapi":"3.0.3","info":{"title":"T","version":"1","license":{"name":"MIT","identifier":"MIT"}},"paths":{}}`: false,
		`{"openapi":"3.0.3","info":{"title":"T"},"paths":{}}`:                                                           false,
	} {
		if _, err := newValidator([]byte(document)); (err == nil) != want {
			t.Errorf("%s: got %v", document, err)
		}
	}
}
