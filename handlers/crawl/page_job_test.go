package crawl_test

import (
	"bufio"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/crawl"
)

var noCursor models.Cursor

func TestJobPage(t *testing.T) {
	s := newSite(t)
	j := s.AddJob("https://a.test", named(hostile), every(1, crawl.Hours))
	path := "/crawl/jobs/" + j.ID
	a := s.Get(path)
	apptest.WantText(t, a, "section[aria-labelledby=progress]", "No runs yet.")
	apptest.WantText(t, a, "#executions", "No runs yet.")
	apptest.WantCount(t, a, "noscript", 0)

	s.Clock.Advance(time.Hour)
	e := s.BeginCrawl(j)
	a = s.Get(path)
	apptest.WantText(t, a, ".run-progress", "0 of 1 URL done succeeded 0 queued 1 failed 0")
	apptest.WantCount(t, a, `#log-head[data-live]`, 1)
	if got := a.Find("#now").AttrOr("hx-trigger", ""); got != "every 2s" {
		t.Errorf("running crawl: got polling %s", got)
	}
	if a.Find("noscript").Length() != 1 || !strings.Contains(a.HTML, `http-equiv="refresh" content="5"`) {
		t.Error("the page does not reload without JavaScript")
	}
	s.EndCrawl(e, crawl.ExecutionEnd{Event: crawl.Release, Error: crawl.Interrupted})
	s.Clock.Advance(time.Hour)
	s.run(j)

	a = s.Get(path)
	apptest.WantText(t, a, "#progress", "Progress of run 2")
	apptest.WantText(t, a, ".run-progress", "3 of 3 URLs done succeeded 2 queued 0 failed 1 pages crawled 2 pages per second 0.7 elapsed 3 s")
	apptest.WantText(t, a, ".facts", "Runs 2 · 2 pages Success rate 100% · 3.0 s average duration")
	apptest.WantText(t, a, "#log-head", "Log of run 2 4 lines")
	apptest.WantText(t, a, "#log .warn", "warn "+hostile)
	apptest.WantText(t, a, "#log > :last-child", "info crawl completed pages=2 failed=1")
	if got := a.Find("#log").AttrOr("data-at", ""); got != "2-4" {
		t.Errorf("got the log after %q", got)
	}
	apptest.WantCount(t, a, `#log[role=log][aria-live=off][tabindex="0"]`, 1)
	apptest.WantCount(t, a, "#log-head[data-live], noscript, main script, main img", 0)
	apptest.WantCount(t, a, "#executions tbody tr", 2)
	apptest.WantCount(t, a, "#"+s.newest(j)+" [aria-current]", 1)

	a = s.Get(a.Find("#executions tbody tr:last-child a").AttrOr("href", ""))
	apptest.WantText(t, a, "#progress", "Progress of run 1")
	apptest.WantText(t, a, ".run-progress .failure", "Instance stopped")
	apptest.WantText(t, a, "#log-head", "Log of run 1")
	apptest.WantCount(t, a, "#"+e.ID+" [aria-current]", 1)

	other := s.AddJob("https://b.test")
	for _, bad := range []string{path + "?execution=x", path + "?page_token=x", "/crawl/jobs/j_none", "/crawl/jobs/" + noJob, "/crawl/jobs/" + other.ID + "?execution=" + e.ID} {
		if a := s.Get(bad); a.StatusCode != http.StatusBadRequest && a.StatusCode != http.StatusNotFound {
			t.Errorf("%s: status %d", bad, a.StatusCode)
		}
	}
}

// newest returns the id of the newest execution of a job.
func (s *site) newest(j crawl.Job) string {
	s.Helper()
	e, ok, err := s.Crawl.LastExecution(s.Context(), j)
	s.Must(err)
	if !ok {
		s.Fatal("the job has not run")
	}
	return e.ID
}

// TestOnlyAllowedActions: the pages offer only the actions that the status of a job allows.
func TestOnlyAllowedActions(t *testing.T) {
	s := newSite(t)
	scheduled := s.AddJob("https://scheduled.test", every(1, crawl.Days))
	failed := s.AddJob("https://failed.test", fails)
	s.fail(failed, "no answer")
	running := s.AddJob("https://running.test")
	s.BeginCrawl(running)
	pending := s.AddJob("https://pending.test")
	paused := s.AddJob("https://paused.test", func(n *crawl.NewJob) { n.Paused = true })
	cancelled := s.AddJob("https://cancelled.test")
	_, err := s.Crawl.Act(s.Context(), cancelled.ID, crawl.Cancel)
	s.Must(err)
	for id, want := range map[string]string{
		scheduled.ID: "Run now, Pause, Cancel job", failed.ID: "Retry, Run again", running.ID: "Stop run, Cancel job", pending.ID: "Cancel job",
		paused.ID: "Resume, Cancel job", cancelled.ID: "Run again",
	} {
		offered := func(a apptest.Page, sel, attr string) string {
			var all []string
			a.Find(sel).Each(func(_ int, b *goquery.Selection) {
				if text := strings.TrimSpace(b.AttrOr(attr, b.Text())); text != "Edit" {
					all = append(all, text)
				}
			})
			return strings.Join(all, ", ")
		}
		if got := offered(s.Get("/crawl"), "#"+id+" .acts button, #"+id+" .acts a", "title"); got != want {
			t.Errorf("row of %s: got %q, want %q", s.job(id).URL, got, want)
		}
		if got := offered(s.Get("/crawl/jobs/"+id), "#actions button, #actions a", "title"); got != want {
			t.Errorf("page of %s: got %q, want %q", s.job(id).URL, got, want)
		}
	}
}

func TestActionsOnJobs(t *testing.T) {
	s := newSite(t)
	j := s.AddJob("https://a.test", named("Alpha"), every(1, crawl.Days))
	act := func(action, back string) apptest.Page {
		return s.Follow("/crawl/jobs/"+j.ID+"/"+action, url.Values{"back": {back}})
	}
	a := act("pause", "/crawl?q=alpha")
	apptest.WantText(t, a, ".flash", "Job paused.")
	apptest.WantText(t, a, ".crawls .mark", "paused")
	a = act("force-run", "/crawl?q=alpha")
	apptest.WantText(t, a, ".flash.bad", "Nothing was changed: the job is paused.")
	apptest.WantText(t, act("resume", ""), ".flash", "Job resumed.")
	apptest.WantText(t, act("force-run", ""), ".flash", "The run starts in a few seconds.")
	if due := s.job(j.ID).NextRunAt; due.After(s.Crawl.Now().Time) {
		t.Errorf("got next run at %s", due)
	}
	a = s.Get("/crawl/jobs/" + j.ID + "/cancel")
	apptest.WantText(t, a, "h1", "Cancel this job?")
	a = s.Submit(a, "main form")
	apptest.WantText(t, a, ".flash", "Job cancelled.")
	apptest.WantText(t, a, ".state", "cancelled Schedule: every day Cancelled jobs do not run again. Run again adds a new job.")
	apptest.WantText(t, a, "#actions", "Run again")

	failed := s.AddJob("https://b.test", fails)
	s.fail(failed, "no answer")
	apptest.WantText(t, act("run-again", "/crawl"), ".flash", "Job added. Its first run starts in a few seconds.")
	apptest.WantText(t, s.Follow("/crawl/jobs/"+failed.ID+"/stop", nil), ".flash.bad", "Nothing was changed: the job is failed.")
	a = s.Follow("/crawl/jobs/"+failed.ID+"/retry", nil)
	apptest.WantText(t, a, ".flash", "The retry starts in a few seconds.")
	apptest.WantText(t, a, ".state", "pending")
	for _, action := range []string{"pause", "resume", "retry", "force-run", "stop", "run-again", "cancel", "delete", "restore"} {
		apptest.WantStatus(t, s.Post("/crawl/jobs/"+noJob+"/"+action, nil), http.StatusNotFound)
	}
	apptest.WantStatus(t, s.Get("/crawl/jobs/"+noJob+"/cancel"), http.StatusNotFound)
}

// TestStopRunAndRunAgain: the page of a job stops its run and names who did it. A finished job is run again as another job.
func TestStopRunAndRunAgain(t *testing.T) {
	s := newSite(t)
	j := s.AddJob("https://a.test", named("Alpha"), every(1, crawl.Days), func(n *crawl.NewJob) { n.RunNow = true })
	s.BeginCrawl(j)
	path := "/crawl/jobs/" + j.ID
	apptest.WantText(t, s.Get(path+"/cancel"), "main i", "Stop run")
	alice := s.As("alice")
	a := alice.Follow(path+"/stop", nil)
	apptest.WantText(t, a, ".flash", "Run stopped. A recurring job runs again as planned.")
	apptest.WantText(t, a, ".state", "scheduled Schedule: every day next run")
	apptest.WantText(t, a, ".run-progress .muted", "The run was stopped by alice")
	apptest.WantText(t, a, "#executions", "the run was stopped by alice")
	apptest.WantText(t, s.Follow(path+"/stop", nil), ".flash.bad", "Nothing was changed: the job is scheduled.")

	_, err := s.Crawl.Act(s.Context(), j.ID, crawl.Cancel)
	s.Must(err)
	a = s.Follow(path+"/run-again", nil)
	apptest.WantText(t, a, ".flash", "Job added. Its first run starts in a few seconds.")
	apptest.WantText(t, a, ".state", "scheduled Schedule: every day next run due")
	apptest.WantText(t, s.Get("/crawl"), ".choices", "all 2 scheduled 1 running 0 cancelled 1")
}

// TestFailedJobsRetriedAsPlanned: the page of a failed job says when it runs again.
func TestFailedJobsRetriedAsPlanned(t *testing.T) {
	s := newSite(t)
	j := s.AddJob("https://a.test", every(1, crawl.Days), fails, func(n *crawl.NewJob) { n.RunNow, n.RetryNextRun = true, true })
	s.fail(j, "no answer")
	a := s.Get("/crawl/jobs/" + j.ID)
	apptest.WantText(t, a, ".state", "failed Schedule: every day next run in")
	apptest.WantText(t, a, ".state", "It runs again at its next planned time.")
	apptest.WantText(t, a, ".facts", "Retries at the next planned time")
	apptest.WantCount(t, a, "#edit input[name=retry_next_run][checked]", 1)
	a = s.Follow("/crawl/jobs/"+j.ID, url.Values{"schedule": {"1 days"}, "max_retries": {"0"}, "retry_backoff_seconds": {"60"}, "job_name": {"Nightly"}})
	apptest.WantText(t, a, "h1", "Nightly")
	apptest.WantText(t, a, ".state", "The schedule is stopped.")
	apptest.WantCount(t, a, "#edit input[name=retry_next_run][checked]", 0)
	apptest.WantCount(t, s.Get("/crawl"), "#add input[name=retry_next_run][checked]", 1)
}

func TestDeleteJobsAndSourcesAndUndo(t *testing.T) {
	s := newSite(t)
	j := s.AddJob("https://a.test", named("Alpha"))
	s.AddJob("https://a.test/other")
	s.run(j)
	a := s.Follow("/crawl/jobs/"+j.ID+"/delete", nil)
	apptest.WantText(t, a, ".flash", "Job deleted.")
	apptest.WantCount(t, a, ".crawls tbody tr", 1)
	apptest.WantStatus(t, s.Get("/crawl/jobs/"+j.ID), http.StatusNotFound)
	a = s.Submit(a, ".flash form")
	apptest.WantText(t, a, ".flash", "Job restored")
	apptest.WantCount(t, a, "#executions tbody tr", 1)

	a = s.Follow("/crawl/sources/"+j.SourceID+"/delete", nil)
	apptest.WantText(t, a, ".flash", "Source and jobs deleted.")
	apptest.WantCount(t, a, ".crawls", 0)
	a = s.Submit(a, ".flash form")
	apptest.WantText(t, a, ".flash", "Source and jobs restored.")
	apptest.WantCount(t, a, ".crawls tbody tr", 2)
	for _, path := range []string{"/crawl/jobs/" + j.ID + "/restore", "/crawl/sources/" + j.SourceID + "/restore", "/crawl/sources/" + noSource + "/delete"} {
		apptest.WantStatus(t, s.Post(path, nil), http.StatusNotFound)
	}
	apptest.WantCount(t, s.Get("/crawl?job_deleted=x&source_deleted="+url.QueryEscape(`"><script>`)), ".flash", 0)
}

func TestExecutionsByCursor(t *testing.T) {
	s := newSite(t)
	j := s.AddJob("https://a.test", func(n *crawl.NewJob) { n.MaxRetries = new(100); n.RetryBackoff = new(0) })
	for range 23 {
		s.fail(j, "no answer")
		s.Clock.Advance(time.Second)
	}
	var runs []string
	for path := "/crawl/jobs/" + j.ID; path != ""; {
		a := s.Get(path)
		a.Find("#executions tbody a.title").Each(func(_ int, run *goquery.Selection) { runs = append(runs, strings.TrimSpace(run.Text())) })
		if _, polls := a.Find("#now").Attr("hx-get"); polls == strings.Contains(path, "page_token") {
			t.Errorf("%s: got polling %v", path, polls)
		}
		path, _, _ = strings.Cut(a.Find("#executions a[rel=next]").AttrOr("href", ""), "#")
	}
	if len(runs) != 23 || runs[0] != "Run 23" || runs[22] != "Run 1" {
		t.Errorf("got %d runs: %q", len(runs), runs)
	}
	// The page shows the last lines of a long log.
	e, _, err := s.Crawl.LastExecution(t.Context(), j)
	s.Must(err)
	tail, err := s.Crawl.LogTail(t.Context(), e, 1)
	s.Must(err)
	if len(tail) != 1 || tail[0].Number != 2 || !strings.HasPrefix(tail[0].Message, "crawl failed") {
		t.Errorf("got end of the log %+v", tail)
	}
}

// TestLogOfAnExecution reads the log as events after the lines of the page, and as a file.
func TestLogOfAnExecution(t *testing.T) {
	s := newSite(t)
	j := s.AddJob("https://a.test")
	e := s.run(j)
	a := s.Get("/crawl/jobs/" + j.ID)
	from := a.Find("#log-head").AttrOr("data-stream", "") + "&last_event_id="
	for after, want := range map[string][]string{"": {"1-1", "1-2", "1-3", "1-4"}, "1-3": {"1-4"}, "1-4": nil, "7-3": {"1-1", "1-2", "1-3", "1-4"}} {
		answer := s.Request(http.MethodGet, from+after)
		if answer.Status != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("%d %v", answer.Status, answer.Header)
		}
		var ids []string
		for lines := bufio.NewScanner(strings.NewReader(answer.Body)); lines.Scan(); {
			if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				ids = append(ids, id)
			}
		}
		if fmt.Sprint(ids) != fmt.Sprint(want) || !strings.HasSuffix(answer.Body, "event: end\ndata: {}\n\n") {
			t.Errorf("after %q: got %s", after, answer.Body)
		}
	}
	file := s.Request(http.MethodGet, a.Find("#log-head a").AttrOr("href", ""))
	if file.Header.Get("Content-Type") != "text/plain; charset=utf-8" || !strings.HasPrefix(file.Header.Get("Content-Disposition"), "attachment;") ||
		file.Header.Get("X-Content-Type-Options") != "nosniff" || strings.Count(file.Body, "\n") != 4 || !strings.Contains(file.Body, " warn "+hostile+"\n") {
		t.Errorf("%v %s", file.Header, file.Body)
	}
	for _, path := range []string{"/crawl/jobs/" + noJob + "/log", "/crawl/jobs/" + j.ID + "/log?execution_id=" + e.ID + "x", "/crawl/jobs/" + noJob + "/log.txt"} {
		apptest.WantStatus(t, s.Get(path), http.StatusNotFound)
	}
}
