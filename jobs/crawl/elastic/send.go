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
	maxBytes    = 5 << 20 // of the documents of a request, without the last
	bulkTimeout = 20 * time.Second
)

// What became of a document, as the metrics call it.
const (
	indexed = "indexed"
	deleted = "deleted"
	stale   = "stale"   // the index has a newer version already
	refused = "refused" // for good
	failed  = "failed"  // to be sent again
)

// answer is what became of a document. The zero answer is that the engine said nothing.
type answer struct {
	outcome string
	err     error // of refused and failed documents
}

var errNoAnswer = errors.New("the response does not mention the document")

// send writes documents to the search engine, and returns what became of each. A
// document that failed may be stored all the same. That does no harm, for writes
// carry the version of the document.
func (s *Service) send(ctx context.Context, docs []crawl.Document) []answer {
	answers := make([]answer, len(docs))
	bodies := make([][]byte, len(docs)) // nil: not to be sent, or deleted
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
			answers[i] = answer{failed, err}
			if code := status(err); code < 400 || code > 499 || code == http.StatusTooManyRequests {
				for j := range answers { // other indexes will fare no better
					answers[j] = answer{failed, err}
				}
				return answers
			}
			continue
		}
		if !d.Gone {
			if bodies[i], err = encode(d); err != nil {
				answers[i] = answer{refused, err}
				continue
			}
		}
		ready = append(ready, i)
	}
	s.bulk(ctx, docs, bodies, answers, ready)
	for i, a := range answers {
		if status(a.err) == http.StatusNotFound {
			s.indexes.forget(Index(docs[i]))
		}
	}
	return answers
}

// bulk sends the chosen documents. Those of a request that is too large are sent in
// halves.
func (s *Service) bulk(ctx context.Context, docs []crawl.Document, bodies [][]byte, answers []answer, chosen []int) {
	if len(chosen) == 0 {
		return
	}
	for _, i := range chosen {
		answers[i] = answer{failed, errNoAnswer}
	}
	if err := s.request(ctx, docs, bodies, answers, chosen); err != nil {
		for _, i := range chosen {
			if answers[i].outcome == failed && errors.Is(answers[i].err, errNoAnswer) {
				answers[i].err = err
			}
		}
	}
	var large []int
	for _, i := range chosen {
		if whole, ok := errors.AsType[*wholeError](answers[i].err); ok && status(whole) == http.StatusRequestEntityTooLarge {
			large = append(large, i)
		}
	}
	switch half := len(large) / 2; {
	case len(large) == 1:
		answers[large[0]] = answer{refused, answers[large[0]].err}
	case len(large) > 1:
		s.bulk(ctx, docs, bodies, answers, large[:half])
		s.bulk(ctx, docs, bodies, answers, large[half:])
	}
}

// wholeError is that of a request with all its documents.
type wholeError struct{ err error }

func (e *wholeError) Error() string { return e.err.Error() }
func (e *wholeError) Unwrap() error { return e.err }

// request sends the chosen documents by a bulk indexer, which lives as long as that
// takes.
func (s *Service) request(ctx context.Context, docs []crawl.Document, bodies [][]byte, answers []answer, chosen []int) error {
	indexer, err := opensearchutil.NewBulkIndexer(opensearchutil.BulkIndexerConfig{
		Client: s.indexes.client, NumWorkers: 1, FlushBytes: maxBytes, FlushInterval: time.Hour, Timeout: bulkTimeout,
		Header:  http.Header{"Content-Type": {"application/x-ndjson"}},
		Context: context.WithoutCancel(ctx), // else Close would not wait for the worker
		OnFlushStart: func(context.Context) context.Context {
			return ctx // ends the requests of the worker and of Close
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
				answers[i] = judge(d, res)
			},
			OnFailure: func(_ context.Context, _ opensearchutil.BulkIndexerItem, res opensearchapi.BulkRespItem, err error) {
				if err != nil {
					answers[i] = answer{failed, &wholeError{err}}
					return
				}
				answers[i] = judge(d, res)
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

// judge tells what the response to a document means. What is not the document's fault
// has it sent again: a search engine that is busy, or in want of rights.
func judge(d crawl.Document, res opensearchapi.BulkRespItem) answer {
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
		return answer{failed, errNoAnswer}
	case d.Gone && (code == http.StatusNotFound || isSuccess(code)):
		return answer{outcome: deleted}
	case isSuccess(code):
		return answer{outcome: indexed}
	case code == http.StatusConflict:
		return answer{outcome: stale}
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusNotFound,
		code == http.StatusRequestTimeout, code == http.StatusTooManyRequests:
		return answer{failed, err}
	case code >= 400 && code <= 499:
		return answer{refused, err}
	}
	return answer{failed, err}
}

func isSuccess(code int) bool { return code >= 200 && code <= 299 }

// summary is the error of the documents that failed; nil = none did.
func summary(answers []answer) error {
	n, first := 0, error(nil)
	for _, a := range answers {
		if a.outcome == failed {
			if n++; n == 1 {
				first = a.err
			}
		}
	}
	if n == 0 || n == len(answers) {
		return first
	}
	return fmt.Errorf("%d of %d documents: %w", n, len(answers), first)
}
