package crawl_test

import (
	"maps"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/crawl"
)

// statuses returns the statuses of the entries of the frontier by URL, without the scheme and host.
func (w *world) statuses() map[string]string {
	w.Helper()
	list, err := w.Frontier(w.Context(), crawl.EntryFilter{}, models.Cursor{}, 100)
	w.ok(err)
	all := map[string]string{}
	for _, e := range list.Items {
		all[e.URL[len("http://a.example"):]] = string(e.Status)
	}
	return all
}

// TestInterruptedRunsContinue interrupts a run after its start page was fetched, and checks that the next run of the job
// fetches only the pages that were open.
func TestInterruptedRunsContinue(t *testing.T) {
	off, on := false, true
	url, name := "http://a.example/other", "Other"
	release := func(w *world, e crawl.Execution) {
		w.ok(w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Release, Error: crawl.Interrupted}))
	}
	edit := func(w *world, j crawl.Job, c crawl.SourceEdit) {
		_, err := w.EditSource(w.Context(), j.SourceID, c)
		w.ok(err)
	}
	act := func(w *world, j crawl.Job, e crawl.Event) {
		_, err := w.Act(w.Context(), j.ID, e)
		w.ok(err)
	}
	sweep := func(w *world) {
		if n, err := w.ClearStaleLocks(w.Context()); err != nil || n != 1 {
			w.Errorf("cleared %d locks, %v", n, err)
		}
	}
	for _, c := range []struct {
		name      string
		interrupt func(w *world, j crawl.Job, e crawl.Execution)
	}{
		{"the program stops", func(w *world, _ crawl.Job, e crawl.Execution) { release(w, e) }},
		{"its lease ends", func(w *world, _ crawl.Job, _ crawl.Execution) { w.kill(); sweep(w) }},
		{"no progress", func(w *world, _ crawl.Job, _ crawl.Execution) {
			w.clock.Advance(2 * staleAfter)
			sweep(w)
			w.clock.Advance(time.Minute)
		}},
		{"its source is disabled", func(w *world, j crawl.Job, e crawl.Execution) {
			edit(w, j, crawl.SourceEdit{Enabled: &off})
			release(w, e)
			w.clock.Advance(40 * time.Hour) // it misses a run
			edit(w, j, crawl.SourceEdit{Enabled: &on})
		}},
		{"its source is disabled by an event", func(w *world, j crawl.Job, e crawl.Execution) {
			for _, enabled := range []bool{false, true} {
				if found, err := w.SetSourceEnabled(w.Context(), j.SourceID, enabled); err != nil || !found {
					w.Errorf("got %v, %v", found, err)
				}
				if !enabled {
					release(w, e)
				}
			}
		}},
		{"its source is disabled after the program stops", func(w *world, j crawl.Job, e crawl.Execution) {
			release(w, e)
			edit(w, j, crawl.SourceEdit{Enabled: &off})
			edit(w, j, crawl.SourceEdit{Enabled: &on})
		}},
		{"its source is deleted and restored", func(w *world, j crawl.Job, e crawl.Execution) {
			w.ok(w.DeleteSource(w.Context(), j.SourceID))
			release(w, e)
			w.clock.Advance(20 * time.Hour)
			_, err := w.RestoreSource(w.Context(), j.SourceID)
			w.ok(err)
		}},
		{"it is deleted and restored", func(w *world, j crawl.Job, e crawl.Execution) {
			w.ok(w.DeleteJob(w.Context(), j.ID))
			release(w, e)
			w.clock.Advance(20 * time.Hour)
			_, err := w.RestoreJob(w.Context(), j.ID)
			w.ok(err)
		}},
		{"it is paused after the program stops", func(w *world, j crawl.Job, e crawl.Execution) {
			release(w, e)
			act(w, j, crawl.Pause)
			act(w, j, crawl.Resume)
			w.clock.Advance(24 * time.Hour)
		}},
		{"it is forced after the program stops", func(w *world, j crawl.Job, e crawl.Execution) {
			release(w, e)
			act(w, j, crawl.ForceRun)
		}},
		{"its source is edited", func(w *world, j crawl.Job, e crawl.Execution) {
			edit(w, j, crawl.SourceEdit{Name: &name, URL: &url})
			release(w, e)
		}},
		{"its sources are synced", func(w *world, _ crawl.Job, e crawl.Execution) {
			release(w, e)
			_, err := w.SyncJobs(w.Context())
			w.ok(err)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(w *world) {
				j := w.job("http://a.example/", 24*time.Hour)
				w.clock.Advance(24 * time.Hour)
				e := w.begin()
				turn := w.turn()
				turn.Add(fetched(turn, w.Now(), "http://a.example/1", "http://a.example/2"))
				w.ok(w.Record(w.Context(), turn))
				turn = w.turn() // both are being fetched
				w.ok(w.Record(w.Context(), turn))
				c.interrupt(w, j, e)
				if got, want := w.statuses(), map[string]string{"/": "done", "/1": "pending", "/2": "pending"}; !maps.Equal(got, want) {
					t.Errorf("interrupted: got %v", got)
				}
				second := w.begin()
				if second.Queued != 2 || second.CrawlSeq != e.CrawlSeq || second.Metadata["continues"] != e.ID {
					t.Errorf("got %+v", second)
				}
				fetchedAgain := map[string]bool{}
				w.crawlAll(func(url string) []string { fetchedAgain[url] = true; return nil })
				if want := map[string]bool{"http://a.example/1": true, "http://a.example/2": true}; !maps.Equal(fetchedAgain, want) {
					t.Errorf("fetched %v", fetchedAgain)
				}
				w.ok(w.EndExecution(w.Context(), second, crawl.ExecutionEnd{Event: crawl.Succeed}))
				if got := w.get(j); got.Status != crawl.Scheduled || got.CrawlSeq != nil || got.CurrentRetryCount != 0 || !got.NextRunAt.After(w.Now().Time) {
					t.Errorf("got %+v", got)
				}
			})
		})
	}
}

// TestRunsThatDoNotContinue checks that a new crawl starts after a job got another start page, a run failed or a job was
// cancelled.
func TestRunsThatDoNotContinue(t *testing.T) {
	other := "http://a.example/other"
	for _, c := range []struct {
		name string
		end  func(w *world, j crawl.Job, e crawl.Execution)
		next bool // there is another run
	}{
		{"another start page after an interruption", func(w *world, j crawl.Job, e crawl.Execution) {
			w.ok(w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Release, Error: crawl.Interrupted}))
			_, err := w.EditJob(w.Context(), j.ID, crawl.JobEdit{URL: &other})
			w.ok(err)
		}, true},
		{"another start page before an interruption", func(w *world, j crawl.Job, e crawl.Execution) {
			_, err := w.EditJob(w.Context(), j.ID, crawl.JobEdit{URL: &other})
			w.ok(err)
			w.ok(w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Release, Error: crawl.Interrupted}))
		}, true},
		{"a failed run", func(w *world, _ crawl.Job, e crawl.Execution) {
			w.ok(w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Fail, Error: "start page: status 500"}))
			w.clock.Advance(time.Minute)
		}, true},
		{"no progress and no retries left", func(w *world, j crawl.Job, e crawl.Execution) {
			none := 0
			_, err := w.EditJob(w.Context(), j.ID, crawl.JobEdit{MaxRetries: &none})
			w.ok(err)
			w.ok(w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Fail, Error: "no progress", Continue: true}))
		}, false},
		{"a cancelled job", func(w *world, j crawl.Job, _ crawl.Execution) {
			_, err := w.Act(w.Context(), j.ID, crawl.Cancel)
			w.ok(err)
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(w *world) {
				j := w.job("http://a.example/", 0)
				e := w.begin()
				turn := w.turn()
				turn.Add(fetched(turn, w.Now(), "http://a.example/1"))
				w.ok(w.Record(w.Context(), turn))
				c.end(w, j, e)
				if got := w.statuses(); got["/1"] != "failed" || w.get(j).CrawlSeq != nil {
					t.Errorf("got %v, %+v", got, w.get(j))
				}
				if !c.next {
					return
				}
				if second := w.begin(); second.CrawlSeq == e.CrawlSeq || second.Queued != 1 {
					t.Errorf("got %+v", second)
				}
			})
		})
	}
}

// TestResultsAfterTheEndOfARun stores the result of the only open URL after its run has ended, and checks whether the next run
// continues the crawl.
func TestResultsAfterTheEndOfARun(t *testing.T) {
	failed := func(w *world, turn *crawl.HostBatch) crawl.Result { return hangs(w, turn, crawl.EntryFailed) }
	done := func(w *world, turn *crawl.HostBatch) crawl.Result { return fetched(turn, w.Now()) }
	fail := func(w *world, _ crawl.Execution) {
		w.clock.Advance(2 * staleAfter)
		n, err := w.ClearStaleLocks(w.Context())
		w.ok(err)
		if n != 1 {
			w.Fatalf("cleared %d locks", n)
		}
	}
	release := func(w *world, e crawl.Execution) {
		w.ok(w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Release, Error: crawl.Interrupted}))
	}
	for _, c := range []struct {
		name          string
		end           func(w *world, e crawl.Execution)
		result        func(w *world, turn *crawl.HostBatch) crawl.Result
		force, resume bool
	}{
		{"a retry, the start page failed", fail, failed, false, false},
		{"a retry, no page is left", fail, done, false, false},
		{"a forced run, the start page failed", release, failed, true, false},
		{"a forced run, no page is left", release, done, true, false},
		{"an interrupted run, the start page failed", release, failed, false, false},
		{"an interrupted run, no page is left", release, done, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(w *world) {
				j := w.job("http://a.example/", 24*time.Hour)
				w.clock.Advance(24 * time.Hour)
				first := w.begin()
				turn := w.turn()
				c.end(w, first)
				turn.Add(c.result(w, turn))
				w.ok(w.Record(w.Context(), turn))
				if c.force {
					_, err := w.Act(w.Context(), j.ID, crawl.ForceRun)
					w.ok(err)
				}
				w.clock.Advance(time.Minute)
				second := w.begin()
				_, continues := second.Metadata["continues"]
				if continues != c.resume || (second.CrawlSeq == first.CrawlSeq) != c.resume || second.StartError != "" {
					w.Fatalf("got %+v", second)
				}
				requests := 0
				w.crawlAll(func(string) []string { requests++; return nil })
				if requests == 0 != c.resume || !c.resume && w.get(j).CrawlSeq != nil {
					w.Errorf("got %d requests, %+v", requests, w.get(j))
				}
				w.ok(w.EndExecution(w.Context(), second, crawl.ExecutionEnd{Event: crawl.Succeed}))
				if e, err := w.Execution(w.Context(), second.ID); err != nil || e.Queued != 0 || e.StartError != "" || e.StartHash == "" {
					w.Errorf("got %+v, %v", e, err)
				}
			})
		})
	}
}

// TestManualEntriesWaitForTheirSource checks that entries that were added manually stay open while their source is disabled or
// deleted, and are fetched afterwards.
func TestManualEntriesWaitForTheirSource(t *testing.T) {
	off, on := false, true
	for name, c := range map[string]struct {
		stop, start func(w *world, source string) error
	}{
		"disabled": {
			func(w *world, id string) error {
				_, err := w.EditSource(w.Context(), id, crawl.SourceEdit{Enabled: &off})
				return err
			},
			func(w *world, id string) error {
				_, err := w.EditSource(w.Context(), id, crawl.SourceEdit{Enabled: &on})
				return err
			},
		},
		"deleted": {
			func(w *world, id string) error { return w.DeleteSource(w.Context(), id) },
			func(w *world, id string) error { _, err := w.RestoreSource(w.Context(), id); return err },
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				e, _, err := w.AddEntry(w.Context(), "http://a.example/1", "")
				w.ok(err)
				w.ok(c.stop(w, e.SourceID))
				w.crawlAll(func(string) []string { t.Error("fetched"); return nil })
				w.ok(c.start(w, e.SourceID))
				if got := w.statuses(); got["/1"] != "pending" {
					t.Errorf("got %v", got)
				}
				w.crawlAll(func(string) []string { return nil })
				if got := w.statuses(); got["/1"] != "done" {
					t.Errorf("got %v", got)
				}
			})
		})
	}
}
