package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
)

// Call sends an API request with a JSON body (nil: none), decodes the JSON response into out (nil: ignores it) and
// returns the status. The test fails if there is no response.
func (s *Server) Call(method, path string, body, out any) int {
	s.t.Helper()
	status, err := s.Try(method, path, body, out)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return status
}

// Try is like Call, for requests that may fail and for any goroutine.
func (s *Server) Try(method, path string, body, out any) (status int, err error) {
	var sent io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return 0, err
		}
		sent = bytes.NewReader(b)
	}
	req, err := http.NewRequest(method, s.URL+path, sent)
	if err != nil {
		return 0, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	if out == nil {
		_, err = io.Copy(io.Discard, res.Body)
		return res.StatusCode, err
	}
	return res.StatusCode, json.NewDecoder(res.Body).Decode(out)
}
