package elastic

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

const news = "news_raw_content"

func TestDocumentsAreStoredInTheIndexOfTheirSource(t *testing.T) {
	modelstest.NoLeaks(t)
	e := newEngine(t)
	full := page(1)
	full.Description, full.Author, full.Language, full.ContentHash = "about", "Ann", "en", "ab12"
	full.OpenGraph = crawl.OpenGraph{Title: "ot", Description: "od", Image: "https://news.example/i.png", SiteName: "os", Type: "article"}
	full.JSONLD = `[{"@type":"NewsArticle","publisher":{"name":"News"}}]`
	full.Headings = []string{"h1", "h2"}
	full.PublishedAt, full.ModifiedAt = full.FetchedAt, full.FetchedAt
	other := page(2)
	other.SourceName, other.SourceID = "Other News!", "s_2"
	f := newFixture(t, e.URL, newQueue(full, other))
	f.start(t)
	f.empty(t)
	var want map[string]any
	err := json.Unmarshal([]byte(`{
		"id": "k_1", "source_id": "s_1", "source_name": "News", "url": "https://news.example/1", "status_code": 200, "title": "A <title> & more",
		"meta_description": "about", "headings": ["h1", "h2"], "raw_text": "one\ntwo\u2028three", "author": "Ann", "language": "en", "word_count": 3,
		"content_hash": "ab12", "og_title": "ot", "og_description": "od", "og_image": "https://news.example/i.png", "og_site_name": "os", "og_type": "article",
		"json_ld_data": {"jsonld_raw": [{"@type": "NewsArticle", "publisher": {"name": "News"}}]}, "published_date": "2026-03-04T05:06:07.000089Z",
		"modified_date": "2026-03-04T05:06:07.000089Z", "changed_at": "2026-03-04T05:06:07.000089Z", "crawled_at": "2026-03-04T05:06:07.000089Z"
	}`), &want)
	if err != nil {
		t.Fatal(err)
	}
	if got := e.stored(news)["k_1"].source; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	for field := range want { // all can be searched
		if e.indexes[news].mapping.Properties[field] == nil {
			t.Errorf("no mapping for %s", field)
		}
	}
	if len(e.indexes[news].mapping.Properties) != len(want) {
		t.Error("the mapping has fields that no document has")
	}
	if len(e.stored("other_news_raw_content")) != 1 || f.count(indexed) != 2 || f.Status().Error != "" || f.Status().LastSuccess.IsZero() ||
		testutil.ToFloat64(f.metrics.lastSuccess) == 0 {
		t.Errorf("got indexes %v, status %+v", e.indexes, f.Status())
	}
}

// publishers returns two pages whose JSON-LD has the same member with different types.
func publishers() (text, object crawl.Document) {
	text, object = page(1), page(2)
	text.JSONLD, object.JSONLD = `[{"publisher":"News Inc."}]`, `[{"publisher":{"@type":"Organization","name":"News Inc."}}]`
	return text, object
}

func TestPublishersOfDifferentTypesDoNotConflict(t *testing.T) {
	e := newEngine(t)
	f := newFixture(t, e.URL, newQueue())
	text, object := publishers()
	f.store.add(text, object)
	f.start(t)
	f.empty(t)
	if len(e.stored(news)) != 2 || f.store.refusal(1)+f.store.refusal(2) != "" {
		t.Errorf("got %v, refused: %s, %s", e.stored(news), f.store.refusal(1), f.store.refusal(2))
	}
}

func TestIndexWithADynamicMappingIsUsed(t *testing.T) {
	e := newEngine(t)
	e.indexes[news] = &index{property{Properties: map[string]*property{}}, map[string]document{}}
	f := newFixture(t, e.URL, newQueue())
	text, object := publishers()
	f.store.add(text, object, page(3))
	if _, _, err := f.batch(t.Context()); err != nil {
		t.Error(err)
	}
	if len(e.stored(news)) != 2 || f.store.refusal(1) != "" || !strings.Contains(f.store.refusal(2), "document_parsing_exception") {
		t.Errorf("got %v, refused: %q, %q", e.stored(news), f.store.refusal(1), f.store.refusal(2))
	}
	clear(f.indexes.known)
	f.store.add(page(4))
	if _, _, err := f.batch(t.Context()); err != nil || f.store.left() != 0 {
		t.Error(err)
	}
	if n := f.log.Count("index has a different mapping"); n != 1 {
		t.Errorf("got %d log lines", n)
	}
	if f.count(refused) != 1 || f.log.Count("search engine refused documents") != 1 {
		t.Errorf("got %v refused", f.count(refused))
	}
}

// Each document of a request has its own result. Only stored, deleted and refused documents are
// marked as sent.
func TestEachDocumentHasItsOwnResult(t *testing.T) {
	e := newEngine(t)
	docs := pages(12)
	docs[10].Gone, docs[11].Gone = true, true
	f := newFixture(t, e.URL, newQueue(docs...))
	codes := map[string]int{"k_1": 429, "k_2": 503, "k_3": 400, "k_4": 409, "k_5": 403, "k_6": 422, "k_7": 401, "k_8": 500, "k_9": 404, "k_12": 429}
	e.item = func(id string) (int, string) {
		if codes[id] == 0 {
			return 0, ""
		}
		return codes[id], "some_exception"
	}
	more, some, err := f.batch(t.Context())
	if more || !some || err == nil || !strings.HasPrefix(err.Error(), "7 of 12 documents: status 429: some_exception") {
		t.Errorf("got %v, %v, %v", more, some, err)
	}
	for i, d := range docs {
		sent, done := f.store.sent[d.Seq]
		want := map[int]bool{400: true, 409: true, 422: true, 0: true}[codes[d.ID]]
		isRefused := map[int]bool{400: true, 422: true}[codes[d.ID]]
		if done != want || (sent.Error != "") != isRefused {
			t.Errorf("document %d with status %d: got done %v, %+v", i+1, codes[d.ID], done, sent)
		}
	}
	if f.count(failed) != 7 || f.count(refused) != 2 || f.count(stale) != 1 || f.count(indexed) != 1 || f.count(deleted) != 1 {
		t.Error("wrong counts")
	}
	if s := f.Status(); s.Detail != "The search engine returned status 429." || s.Since.IsZero() {
		t.Errorf("got status %+v", s)
	}
	e.change(nil, nil)
	if _, _, err := f.batch(t.Context()); err != nil || f.store.left() != 0 || f.Status().Error != "" {
		t.Errorf("got %v, %d unsent, %+v", err, f.store.left(), f.Status())
	}
}

func TestGonePagesAreDeleted(t *testing.T) {
	e := newEngine(t)
	f := newFixture(t, e.URL, newQueue(pages(2)...))
	f.start(t)
	f.empty(t)
	gone, never := page(1), page(3)
	gone.Version, gone.Gone, never.Gone = 2, true, true
	f.store.add(gone, never)
	f.empty(t)
	if docs := e.stored(news); len(docs) != 1 || docs["k_2"].version != 1 || f.count(deleted) != 2 {
		t.Errorf("got documents %v", docs)
	}
}

// A repeated request after a crash changes nothing, and an old version does not replace a newer one.
func TestRepeatedRequestsChangeNothing(t *testing.T) {
	e := newEngine(t)
	first := page(1)
	second := first
	second.Version, second.Title = 2, "new"
	f := newFixture(t, e.URL, newQueue())
	for _, d := range []crawl.Document{first, first, second, first} {
		f.store.add(d)
		if _, _, err := f.batch(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if d := e.stored(news)["k_1"]; d.version != 2 || d.source["title"] != "new" || f.count(stale) != 1 || f.store.left() != 0 {
		t.Errorf("got %+v", d)
	}
}

func TestPageThatChangesMeanwhileIsSentAgain(t *testing.T) {
	e := newEngine(t)
	f := newFixture(t, e.URL, newQueue(page(1)))
	changed := page(1)
	changed.Version, changed.Title = 2, "new"
	var once sync.Once
	e.fail = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "_bulk") {
			once.Do(func() { f.store.add(changed) })
		}
		return false
	}
	f.start(t)
	f.empty(t)
	if d := e.stored(news)["k_1"]; d.version != 2 {
		t.Errorf("got %+v", d)
	}
}

// A deleted index is created with its mapping, not implicitly by the next write.
func TestDeletedIndexIsCreatedAgain(t *testing.T) {
	e := newEngine(t)
	now := time.Now()
	f := newFixture(t, e.URL, newQueue(page(1)), func(o *Options) { o.Clock = func() time.Time { return now } })
	if _, _, err := f.batch(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.mu.Lock()
	delete(e.indexes, news)
	e.mu.Unlock()
	now = now.Add(checkTTL)
	f.store.add(page(2))
	if _, _, err := f.batch(t.Context()); err != nil || len(e.stored(news)) != 1 {
		t.Errorf("got %v, %v", err, e.stored(news))
	}
	// An engine that does not create indexes automatically returns an error.
	f.store.add(page(3))
	e.change(nil, func(string) (int, string) { return 404, "index_not_found_exception" })
	if _, _, err := f.batch(t.Context()); err == nil || len(f.indexes.known) != 0 {
		t.Errorf("got %v, known %v", err, f.indexes.known)
	}
}

// Another instance may create an index at the same time.
func TestIndexOfAnotherInstance(t *testing.T) {
	e := newEngine(t)
	f := newFixture(t, e.URL, newQueue(page(1)))
	first := newFixture(t, e.URL, newQueue(page(2)))
	var asked atomic.Bool
	e.fail = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == "PUT" && asked.CompareAndSwap(false, true) {
			_, _, _ = first.batch(context.Background())
		}
		return false
	}
	if _, _, err := f.batch(t.Context()); err != nil || len(e.stored(news)) != 2 {
		t.Errorf("got %v, %v", err, e.stored(news))
	}
}

// Documents that cannot be encoded as JSON are refused. The others of the request are sent.
func TestInvalidDocumentsAreRefused(t *testing.T) {
	e := newEngine(t)
	docs := pages(4)
	docs[0].JSONLD = "{\n"
	docs[1].PublishedAt = models.At(time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC))
	docs[2].Title = "\xff\n{\"delete\":{}}"
	docs[3].JSONLD = "[\n{\"a\":\n1}]"
	f := newFixture(t, e.URL, newQueue(docs...))
	if _, _, err := f.batch(t.Context()); err != nil {
		t.Error(err)
	}
	if len(e.stored(news)) != 2 || f.store.refusal(1) == "" || f.store.refusal(2) == "" || f.store.left() != 0 {
		t.Errorf("got %v, refused: %q, %q", e.stored(news), f.store.refusal(1), f.store.refusal(2))
	}
}
