package targets

import (
	"testing"
	"time"
)

func TestEvaluate(t *testing.T) {
	ok := Response{StatusCode: 200, Latency: 100 * time.Millisecond, Body: []byte("hello world")}
	with := func(change func(*Response)) Response { a := ok; change(&a); return a }
	status := func(n int) Response { return with(func(a *Response) { a.StatusCode = n }) }
	for _, c := range []struct {
		name    string
		expect  Expect
		answer  Response
		outcome Outcome
		problem string
	}{
		{"ok", Expect{}, ok, UpOutcome, ""},
		{"3xx", Expect{}, status(304), UpOutcome, ""},
		{"404", Expect{}, status(404), DownOutcome, "unexpected status 404"},
		{"500", Expect{}, status(500), DownOutcome, "unexpected status 500"},
		{"429", Expect{}, status(429), ThrottledOutcome, "throttled: status 429"},
		{"429 is expected", Expect{Status: "200-499"}, status(429), UpOutcome, ""},
		{"404 is expected", Expect{Status: "404"}, status(404), UpOutcome, ""},
		{"200 is not", Expect{Status: "201,204-299"}, ok, DownOutcome, "unexpected status 200"},
		{"keyword", Expect{Keyword: "world"}, ok, UpOutcome, ""},
		{"keyword in another casing", Expect{Keyword: "World"}, ok, DownOutcome, "keyword not found"},
		{"unwanted keyword", Expect{KeywordAbsent: "hello"}, ok, DownOutcome, "unwanted keyword found"},
		{"no unwanted keyword", Expect{KeywordAbsent: "error"}, ok, UpOutcome, ""},
		{"slow", Expect{MaxLatencyMS: 99}, ok, DownOutcome, "slower than 99 ms"},
		{"fast enough", Expect{MaxLatencyMS: 100}, ok, UpOutcome, ""},
		{"no answer", Expect{}, Response{Error: "connection refused"}, DownOutcome, "connection refused"},
		{"endless", Expect{}, with(func(a *Response) { a.Truncated = true }), DownOutcome, "the body is too long"},
	} {
		if outcome, problem := c.expect.Evaluate(c.answer); outcome != c.outcome || problem != c.problem {
			t.Errorf("%s: %s %q, want %s %q", c.name, outcome, problem, c.outcome, c.problem)
		}
	}
}

func FuzzParseStatuses(f *testing.F) {
	f.Add("200-399")
	f.Add(" 200 , 301-308,404")
	f.Fuzz(func(t *testing.T, s string) {
		e, err := Expect{Status: s}.validate("expect")
		if err != nil {
			return
		}
		again, err := e.validate("expect")
		if err != nil || again != e {
			t.Errorf("%q became %q, then %q, %v", s, e.Status, again.Status, err)
		}
	})
}
