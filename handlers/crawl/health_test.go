package crawl_test

import (
	"encoding/json"
	"testing"
	"time"

	crawlhandlers "linkwatch/handlers/crawl"
	"linkwatch/models"
)

func TestElasticsearchCheck(t *testing.T) {
	detail, since := "", models.Time{}
	state := func() (string, models.Time) { return detail, since }
	check := func(state func() (string, models.Time), want string, wantOK bool) {
		t.Helper()
		got, ok := crawlhandlers.ElasticsearchCheck(state).State()
		b, err := json.Marshal(got)
		if err != nil || string(b) != want || ok != wantOK {
			t.Errorf("%s %v %v", b, ok, err)
		}
	}
	check(nil, `{"status":"off","detail":null,"since":null}`, true)
	check(state, `{"status":"ok","detail":null,"since":null}`, true)
	detail, since = "It is away.", models.At(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	check(state, `{"status":"unavailable","detail":"It is away.","since":"2026-01-02T03:04:05Z"}`, false)
}
