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

// Two comparisons run at a time. Another one waits until one of them ends or its client
// disconnects.
func TestComparisonsAreLimited(t *testing.T) {
	s := newSite(t)
	s.shop()
	at := "/crawl/pages/" + s.found("sharp") + "/changes"
	queries := s.Count(at)
	for range cap(crawlhandlers.Comparing) {
		crawlhandlers.Comparing <- struct{}{}
	}
	if n := len(crawlhandlers.Comparing); n != 2 {
		t.Fatalf("got %d concurrent comparisons, want 2", n)
	}
	// request requests a comparison, and returns after it has read the versions.
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
		t.Error("a comparison did not wait")
	}
	waiting := request(t.Context())
	select {
	case <-waiting:
		t.Fatal("a comparison did not wait")
	default:
	}
	<-crawlhandlers.Comparing
	a := <-waiting
	apptest.WantStatus(t, a, http.StatusOK)
	apptest.WantText(t, a, ".diff ins", "12")
	<-crawlhandlers.Comparing
	if n := len(crawlhandlers.Comparing); n != 0 {
		t.Errorf("got %d comparisons that have not ended, want 0", n)
	}
}
