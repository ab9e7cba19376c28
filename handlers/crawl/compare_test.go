package crawl_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"linkwatch/app/apptest"
	crawlhandlers "linkwatch/handlers/crawl"
	"linkwatch/models/modelstest"
)

// Two comparisons run at a time. A further one waits until one of them has ended, or its
// reader leaves.
func TestComparisonsAreBounded(t *testing.T) {
	s := newSite(t)
	s.shop()
	at := "/crawl/pages/" + s.found("sharp") + "/changes"
	queries := s.Count(at)
	for range cap(crawlhandlers.Comparing) {
		crawlhandlers.Comparing <- struct{}{}
	}
	if n := len(crawlhandlers.Comparing); n != 2 {
		t.Fatalf("%d comparisons run at a time", n)
	}
	// request asks for a comparison, and returns when it has read the versions.
	request := func(ctx context.Context) <-chan apptest.Page {
		answer, before := make(chan apptest.Page, 1), s.Queries.Load()
		go func() { answer <- s.Browse(httptest.NewRequestWithContext(ctx, http.MethodGet, at, nil)) }()
		modelstest.Eventually(t, "the versions are read", func() bool { return s.Queries.Load() == before+queries })
		return answer
	}
	leaving, leave := context.WithCancel(t.Context())
	left := request(leaving)
	leave()
	if a := <-left; a.StatusCode == http.StatusOK {
		t.Error("a comparison did not wait for the others")
	}
	waiting := request(t.Context())
	select {
	case <-waiting:
		t.Fatal("a comparison did not wait for the others")
	default:
	}
	<-crawlhandlers.Comparing
	a := <-waiting
	apptest.WantStatus(t, a, http.StatusOK)
	apptest.WantText(t, a, ".diff ins", "12")
	<-crawlhandlers.Comparing
	if n := len(crawlhandlers.Comparing); n != 0 {
		t.Errorf("%d comparisons have not ended", n)
	}
}
