package elastic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"linkwatch/models/crawl"
)

const (
	maxBytes    = 5 << 20 // size of a request, without its last document
	bulkTimeout = "20s"   // how long the search engine may wait for an index to be available
)

// The outcomes of a document, as labels of the metrics.
const (
	indexed = "indexed"
	deleted = "deleted"
	stale   = "stale"   // the index has a newer version
	refused = "refused" // not sent again until the page changes
	failed  = "failed"  // sent again later
)

// result is the result of sending a document.
type result struct {
	outcome string
	err     error // for refused and failed
}

var errMissing = errors.New("the document is missing in the response")

// send sends documents to the search engine and returns the result of each. A failed document may
// have been stored. Sending it again is harmless, because writes carry its version.
func (s *Service) send(ctx context.Context, docs []crawl.Document) []result {
	results := make([]result, len(docs))
	bodies := make([][]byte, len(docs)) // nil = not sent, or a deletion
	var ready []int
	checked := map[string]error{}
	for i, d := range docs {
		name := Index(d)
		err, twice := checked[name]
		if !twice {
			err = s.indexes.ensure(ctx, name)
			checked[name] = err
		}
		if err != nil {
			results[i] = result{failed, err}
			if code := status(err); code < 400 || code > 499 || code == http.StatusTooManyRequests {
				for j := range results { // other indexes would fail too
					results[j] = result{failed, err}
				}
				return results
			}
			continue
		}
		if !d.Gone {
			if bodies[i], err = encode(d); err != nil {
				results[i] = result{refused, err}
				continue
			}
		}
		ready = append(ready, i)
	}
	s.bulk(ctx, docs, bodies, results, ready)
	for i, r := range results {
		if status(r.err) == http.StatusNotFound {
			s.indexes.forget(Index(docs[i]))
		}
	}
	return results
}

// bulk sends the chosen documents. If the request is too large, it sends them in halves.
func (s *Service) bulk(ctx context.Context, docs []crawl.Document, bodies [][]byte, results []result, chosen []int) {
	var lines bytes.Buffer
	first := 0
	for n, i := range chosen {
		writeAction(&lines, docs[i], bodies[i])
		if lines.Len() >= maxBytes || n == len(chosen)-1 {
			s.request(ctx, docs, results, chosen[first:n+1], lines.Bytes())
			lines, first = bytes.Buffer{}, n+1
		}
	}
	var large []int
	for _, i := range chosen {
		if refused, ok := errors.AsType[*wholeError](results[i].err); ok && status(refused) == http.StatusRequestEntityTooLarge {
			large = append(large, i)
		}
	}
	switch half := len(large) / 2; {
	case len(large) == 1:
		results[large[0]] = result{refused, results[large[0]].err}
	case len(large) > 1:
		s.bulk(ctx, docs, bodies, results, large[:half])
		s.bulk(ctx, docs, bodies, results, large[half:])
	}
}

// wholeError is an error of a whole request, not of a single document.
type wholeError struct{ err error }

func (e *wholeError) Error() string { return e.err.Error() }
func (e *wholeError) Unwrap() error { return e.err }

// action is the first line of a document in a request. The second is the document, unless it is a deletion.
type action struct {
	Index       string `json:"_index"`
	ID          string `json:"_id"`
	Version     int64  `json:"version"`
	VersionType string `json:"version_type"`
}

func writeAction(lines *bytes.Buffer, d crawl.Document, body []byte) {
	verb := "index"
	if d.Gone {
		verb = "delete"
	}
	line, _ := json.Marshal(map[string]action{verb: {Index(d), d.ID, d.Version, "external_gte"}}) // never fails
	lines.Write(line)
	lines.WriteByte('\n')
	if !d.Gone {
		lines.Write(body)
		lines.WriteByte('\n')
	}
}

// bulkItem is the result of a document in a response.
type bulkItem struct {
	ID     string `json:"_id"`
	Status int    `json:"status"`
	Error  struct {
		Type   string `json:"type"`
		Reason string `json:"reason"`
		Cause  struct {
			Reason string `json:"reason"`
		} `json:"caused_by"`
	} `json:"error"`
}

// request sends lines, which contain the chosen documents, and sets their results.
func (s *Service) request(ctx context.Context, docs []crawl.Document, results []result, chosen []int, lines []byte) {
	var response struct {
		Items []map[string]bulkItem `json:"items"` // each has one member, named after the action
	}
	bulk := request{
		method: http.MethodPost, path: "_bulk", query: url.Values{"timeout": {bulkTimeout}},
		bodyType: typeNDJSON, body: lines,
	}
	err := s.indexes.client.do(ctx, bulk, &response)
	if n := len(response.Items); err == nil && n > len(chosen) {
		err = fmt.Errorf("the response has %d results for %d documents", n, len(chosen))
	}
	for n, i := range chosen {
		results[i] = result{failed, errMissing}
		if err != nil {
			results[i].err = &wholeError{err}
		} else if n < len(response.Items) {
			for _, one := range response.Items[n] {
				results[i] = judge(docs[i], one)
			}
		}
	}
}

// judge returns the result of a document from its response. Errors that the document did not cause,
// such as a busy search engine or missing permissions, make it failed rather than refused.
func judge(d crawl.Document, res bulkItem) result {
	err := &statusError{res.Status, res.Error.Type, res.Error.Reason}
	if cause := res.Error.Cause.Reason; cause != "" {
		err.reason += " (" + cause + ")"
	}
	code := res.Status
	switch {
	case res.ID != d.ID:
		return result{failed, errMissing}
	case d.Gone && (code == http.StatusNotFound || isSuccess(code)):
		return result{outcome: deleted}
	case isSuccess(code):
		return result{outcome: indexed}
	case code == http.StatusConflict:
		return result{outcome: stale}
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusNotFound,
		code == http.StatusRequestTimeout, code == http.StatusTooManyRequests:
		return result{failed, err}
	case code >= 400 && code <= 499:
		return result{refused, err}
	}
	return result{failed, err}
}

func isSuccess(code int) bool { return code >= 200 && code <= 299 }

// summary returns the error of the failed documents; nil = none failed.
func summary(results []result) error {
	n, first := 0, error(nil)
	for _, r := range results {
		if r.outcome == failed {
			if n++; n == 1 {
				first = r.err
			}
		}
	}
	if n == 0 || n == len(results) {
		return first
	}
	return fmt.Errorf("%d of %d documents: %w", n, len(results), first)
}
