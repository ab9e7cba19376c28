package crawl_test

import (
	"net/url"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/crawl"
)

// hostile is a text that runs as a script if it is not escaped.
const hostile = `<script>alert(1)</script>"><img src=x onerror=alert(2)>`

type site struct {
	*apptest.App
	Crawl *crawl.Store
}

func newSite(t *testing.T) *site {
	t.Helper()
	a := apptest.New(t)
	return &site{a, a.Systems.Crawl.Store}
}

// every makes a job recurring.
func every(count int, unit crawl.IntervalType) func(*crawl.NewJob) {
	return func(n *crawl.NewJob) { n.Interval = crawl.Interval{Count: count, Type: unit} }
}

// named sets the name of the source that a job adds.
func named(name string) func(*crawl.NewJob) {
	return func(n *crawl.NewJob) { n.Source.Name = name }
}

// fails makes a crawl fail without retries.
func fails(n *crawl.NewJob) { n.MaxRetries = new(0) }

// run runs a job once. Its start page links to two pages, one of them broken, and to another
// site.
func (s *site) run(j crawl.Job) crawl.Execution {
	s.Helper()
	e := s.BeginCrawl(j)
	s.Fetch(func(e crawl.Entry) crawl.Result {
		switch {
		case e.Depth == 0:
			r := apptest.Crawled(e, j.URL+"/fine", j.URL+"/broken")
			r.LogLine = crawl.FormatLogLine(s.Crawl.Now(), "info", "fetched", "url", e.URL)
			r.Discovered = []crawl.DiscoveredLink{{SourceSeq: e.Crawl.Source, URL: "https://other.test/a", Text: hostile, FoundOn: e.URL}}
			return r
		case e.URL == j.URL+"/fine":
			return apptest.Crawled(e)
		}
		return crawl.Result{Status: crawl.EntryFailed, Reason: "status 404", LogLine: crawl.FormatLogLine(s.Crawl.Now(), "warn", hostile)}
	})
	s.EndCrawl(e, crawl.ExecutionEnd{Event: crawl.Succeed})
	return e
}

// fail makes a run of a job fail.
func (s *site) fail(j crawl.Job, reason string) crawl.Execution {
	s.Helper()
	e := s.BeginCrawl(j)
	s.EndCrawl(e, crawl.ExecutionEnd{Event: crawl.Fail, Error: reason})
	return e
}

// job returns the current state of a job.
func (s *site) job(id string) crawl.Job {
	s.Helper()
	j, err := s.Crawl.Job(s.Context(), id)
	s.Must(err)
	return j
}

var noJob, noSource = models.NewID(models.KindJob), models.NewID(models.KindSource)

// row returns the form values that a browser sends for a button.
func (s *site) row(p apptest.Page, form, action string) url.Values {
	s.Helper()
	f := p.Find(form)
	if f.Length() != 1 || f.Find("button[value="+action+"]").Length() != 1 {
		s.Fatalf("%d forms match %s, with %d buttons to %s", f.Length(), form, f.Find("button[value="+action+"]").Length(), action)
	}
	v := url.Values{"action": {action}}
	f.Find("input[name]").Each(func(_ int, in *goquery.Selection) { v.Add(in.AttrOr("name", ""), in.AttrOr("value", "")) })
	return v
}
