package elastic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/opensearch-project/opensearch-go/v4/opensearchapi"
	"github.com/opensearch-project/opensearch-go/v4/opensearchutil"

	"linkwatch/models/crawl"
)

const (
	maxBytes    = 5 << 20 // size of a request, without its last document
	bulkTimeout = 20 * time.Second
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
	if len(chosen) == 0 {
		return
	}
	for _, i := range chosen {
		results[i] = result{failed, errMissing}
	}
	if err := s.request(ctx, docs, bodies, results, chosen); err != nil {
		for _, i := range chosen {
			if results[i].outcome == failed && errors.Is(results[i].err, errMissing) {
				results[i].err = err
			}
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

// request sends the chosen documents with a bulk indexer.
func (s *Service) request(ctx context.Context, docs []crawl.Document, bodies [][]byte, results []result, chosen []int) error {
	indexer, err := opensearchutil.NewBulkIndexer(opensearchutil.BulkIndexerConfig{
		Client: s.indexes.client, NumWorkers: 1, FlushBytes: maxBytes, FlushInterval: time.Hour, Timeout: bulkTimeout,
		Header:  http.Header{"Content-Type": {"application/x-ndjson"}},
		Context: context.WithoutCancel(ctx), // so that Close waits for the worker
		OnFlushStart: func(context.Context) context.Context {
			return ctx // cancels the requests of the worker and of Close
		},
	})
	if err != nil {
		return err
	}
	kind := "external_gte"
	for _, i := range chosen {
		d := docs[i]
		item := opensearchutil.BulkIndexerItem{
			Index: Index(d), Action: "index", DocumentID: d.ID, Version: &d.Version, VersionType: &kind, Body: bytes.NewReader(bodies[i]),
			OnSuccess: func(_ context.Context, _ opensearchutil.BulkIndexerItem, res opensearchapi.BulkRespItem) {
				results[i] = judge(d, res)
			},
			OnFailure: func(_ context.Context, _ opensearchutil.BulkIndexerItem, res opensearchapi.BulkRespItem, err error) {
				if err != nil {
					results[i] = result{failed, &wholeError{err}}
					return
				}
				results[i] = judge(d, res)
			},
		}
		if d.Gone {
			item.Action, item.Body = "delete", nil
		}
		if err = indexer.Add(ctx, item); err != nil {
			break
		}
	}
	return errors.Join(err, indexer.Close(context.WithoutCancel(ctx)))
}

// judge returns the result of a document from its response. Errors that the document did not cause,
// such as a busy search engine or missing permissions, make it failed rather than refused.
func judge(d crawl.Document, res opensearchapi.BulkRespItem) result {
	err := &statusError{status: res.Status}
	if res.Error != nil {
		err.kind, err.reason = res.Error.Type, res.Error.Reason
		if cause := res.Error.Cause.Reason; cause != "" {
			err.reason += " (" + cause + ")"
		}
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
