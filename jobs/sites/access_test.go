package sites_test

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"linkwatch/jobs"
	sitejobs "linkwatch/jobs/sites"
	"linkwatch/jobs/sites/standin"
	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
	"linkwatch/outbound"
)

// A credentials test reports for each service whether it works and how to fix it.
func TestTestCredentials(t *testing.T) {
	each(t, func(w *fixture) {
		s, plain := w.google(w.site(property, indexing)), w.google(w.site("https://plain.example/"))
		for name, c := range map[string]struct {
			of     sites.Website
			set    func()
			want   []bool
			part   string // of the last check
			paused bool
		}{
			"all is well":      {of: s, set: func() {}, want: []bool{true, true, true}, part: "The service account can use the Indexing API."},
			"without indexing": {of: plain, set: func() {}, want: []bool{true, true}, part: "The service account is an owner of the property."},
			"token refused": {of: s, set: func() {
				w.engine.Fail(standin.Token, standin.TokenError(400, "invalid_grant", "Invalid grant: account not found"))
			}, want: []bool{false}, part: "account not found", paused: true},
			"no permission":     {of: s, set: func() { w.engine.Fail(standin.Sites, standin.NoPermission(property)) }, want: []bool{true, false, true}, part: "can use the Indexing API"},
			"API not enabled":   {of: s, set: func() { w.engine.Fail(standin.Metadata, standin.Disabled("indexing.googleapis.com")) }, want: []bool{true, true, false}, part: "Enable it", paused: true},
			"not the page's":    {of: s, set: func() { w.engine.Fail(standin.Metadata, standin.NotOwner()) }, want: []bool{true, true, false}, part: "as an owner", paused: true},
			"a user":            {of: s, set: func() { w.engine.Permit(property, "siteFullUser") }, want: []bool{true, false, true}, part: "can use the Indexing API"},
			"a user, plain":     {of: plain, set: func() { w.engine.Permit(plain.SiteURL, "siteFullUser") }, want: []bool{true, true}, part: "Only the Indexing API needs an owner"},
			"a restricted user": {of: plain, set: func() { w.engine.Permit(plain.SiteURL, "siteRestrictedUser") }, want: []bool{true, false}, part: "as an owner"},
		} {
			refused := sites.Outcome{Status: sites.Refused, Error: "No.", Sitewide: true}
			for _, service := range []sites.Service{sites.Indexing, sites.SearchConsole} {
				w.must(w.RecordServiceOutcome(w.Context(), c.of, service, refused))
			}
			w.engine.Reset()
			w.engine.Permit(property, "siteOwner")
			w.engine.Permit(plain.SiteURL, "siteOwner")
			c.set()
			checks, err := w.instance().Test(w.Context(), c.of)
			w.must(err)
			var got []bool
			for _, check := range checks {
				got = append(got, check.OK)
				w.has(name, check.Name+": "+check.Text+" "+check.Fix, ": ")
			}
			if len(got) != len(c.want) {
				w.Errorf("%s: %+v", name, checks)
				continue
			}
			for n := range got {
				if got[n] != c.want[n] {
					w.Errorf("%s: %+v, want %v", name, checks, c.want)
				}
			}
			last := checks[len(checks)-1]
			w.has(name, last.Text+" "+last.Fix, c.part)
			if now := w.again(c.of); c.of.IndexingEnabled && now.Paused(sites.Indexing, w.Now()) != c.paused {
				w.Errorf("%s: the Indexing API is %+v", name, now.Indexing)
			}
		}
	})
}

// A credentials test uses the quota, and needs credentials and a lease.
func TestTestCredentialsRefused(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site(property, indexing))
		i := w.instance()
		for n, want := range []bool{true, false} {
			checks, err := i.Test(w.Context(), s)
			w.must(err)
			if last := checks[len(checks)-1]; last.OK != want {
				w.Errorf("test %d: %+v", n, checks)
			}
		}
		if n := w.engine.Count(standin.Metadata); n != 1 {
			w.Errorf("%d requests", n)
		}
		if _, err := i.Test(w.Context(), w.site("https://none.example/")); models.CodeOf(err) != models.CodeConflict {
			w.Errorf("without credentials: %v", err)
		}
		if _, err := w.instanceOf(w.db, w.store(w.db, limits, "another key")).Test(w.Context(), s); models.CodeOf(err) != models.CodeConflict {
			w.Errorf("with another key: %v", err)
		}
		ended, cancel := context.WithCancel(w.Context())
		cancel()
		if _, err := i.Test(ended, s); !errors.Is(err, context.Canceled) {
			w.Errorf("canceled: %v", err)
		}
		instance := lease.New(w.db, time.Now)
		if _, err := w.instance(func(o *sitejobs.Options) { o.Lease = instance }).Test(w.Context(), s); !errors.Is(err, sitejobs.ErrNoLease) {
			w.Errorf("without a lease: %v", err)
		}
	}, func(l *sites.Limits) { l.MetadataPerMinute = 1 })
}

// Checking a key file reports what is wrong with it.
func TestCheckKey(t *testing.T) {
	each(t, func(w *fixture) {
		h := newHost(w)
		s := w.indexNow(w.site(h.URL))
		i := w.instance()
		for _, c := range []struct{ file, part string }{
			{"", "The key file is not on the website (status 404). Upload a text file to " + h.URL + "/" + indexNowKey + ".txt"},
			{"<html>", "serves a page"},
			{"other", "does not contain the key"},
			{indexNowKey + "\n", ""},
		} {
			if c.file != "" {
				h.put("/"+indexNowKey+".txt", c.file)
			}
			problem, err := i.CheckKey(w.Context(), s)
			w.must(err)
			w.has("the problem", problem, c.part)
			if (c.part == "") != (problem == "") {
				w.Errorf("%q: %q", c.file, problem)
			}
		}
		client := outbound.New(outbound.Options{AllowCIDRs: []netip.Prefix{}})
		defer client.Close()
		problem, err := w.instance(func(o *sitejobs.Options) { o.Client = client }).CheckKey(w.Context(), s)
		w.must(err)
		w.has("the problem", problem, "address not allowed")
	})
}

func TestAccount(t *testing.T) {
	a, err := sitejobs.Account(standin.Credentials())
	if err != nil || a != (sites.Account{ClientEmail: standin.ClientEmail, ProjectID: standin.ProjectID}) {
		t.Errorf("%+v %v", a, err)
	}
	if _, err := sitejobs.Account([]byte("{}")); models.CodeOf(err) != models.CodeInvalid {
		t.Error(err)
	}
}

// Every job updates priorities and stores the coverage of the day.
func TestJobs(t *testing.T) {
	each(t, func(w *fixture) {
		i := w.instance()
		for n, want := range []jobs.Job{{ID: "sitemaps", Schedule: "@every 1h0m0s"}, {ID: "submission", Schedule: "@every 5m0s"}, {ID: "verification", Schedule: "@every 1h0m0s"}} {
			if got := i.Jobs()[n]; got.ID != want.ID || got.Schedule != want.Schedule {
				w.Errorf("job %d is %s %s", n, got.ID, got.Schedule)
			}
		}
		s := w.site(property)
		u, err := models.ParseURL("url", property+"1")
		w.must(err)
		m := w.sitemap(s, property+"s.xml")
		w.must(w.BeginReading(w.Context(), m))
		_, err = w.StoreEntries(w.Context(), s, m, []sites.Entry{{URL: u, Lastmod: w.Now()}})
		w.must(err)
		if p := w.pages(s, sites.Filter{})["/1"]; p.AutoPriority != 100 {
			w.Errorf("got priority %d", p.AutoPriority)
		}
		for _, a := range []sites.Activity{sites.Submitting, sites.Verifying} {
			w.clock.Advance(models.Day)
			if got := i.run(a); got != "1 website" {
				w.Errorf("%s: %q", a, got)
			}
			days, err := w.Coverage(w.Context(), s, models.Time{})
			w.must(err)
			if last := days[len(days)-1]; last.ByStatus[sites.Pending] != 1 {
				w.Errorf("got coverage %+v", days)
			}
		}
		if p := w.pages(s, sites.Filter{})["/1"]; p.AutoPriority != 85 {
			w.Errorf("got priority %d", p.AutoPriority)
		}
		w.clock.Advance(models.Day)
		days, err := w.Coverage(w.Context(), s, w.Now().Add(-5*models.Day))
		w.must(err)
		if len(days) != 3 {
			w.Errorf("got days %+v", days)
		}
	})
}

// Nothing is claimed without a lease.
func TestWithoutLease(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.site(property)
		i := w.instance(func(o *sitejobs.Options) { o.Lease = lease.New(w.db, time.Now) })
		if got := i.run(sites.Reading); got != "0 websites" || w.again(s).SitemapsRequestedAt.IsZero() {
			w.Errorf("got summary %q", got)
		}
	})
}

// An error of one website does not affect others. The run fails and names the website.
func TestJobFails(t *testing.T) {
	modelstest.NoLeaks(t)
	w := newFixture(t, modelstest.New(t))
	bad, good := w.google(w.site(property, indexing)), w.google(w.site("https://good.example/", indexing))
	w.have(bad, property+"1")
	w.have(good, "https://good.example/1")
	modelstest.Exec(t, w.db, "CREATE TRIGGER broken BEFORE INSERT ON submissions WHEN NEW.url = 'https://example.com/1' BEGIN SELECT RAISE(ABORT, 'broken'); END")
	summary, err := w.instance().try(t.Context(), t.Context(), sites.Submitting)
	if err == nil || summary != "2 websites: 1 page submitted" {
		t.Errorf("%q %v", summary, err)
	} else {
		w.has("the error", err.Error(), "website "+bad.ID)
	}
	if bad = w.again(bad); bad.SubmissionClaimedBy != "" {
		t.Errorf("still claimed: %+v", bad)
	}
}

// A request is not sent if its permit is too old. The unit is spent, and nothing else changes.
func TestPermitTooOld(t *testing.T) {
	each(t, func(w *fixture) {
		s := w.google(w.site(property, indexing))
		w.have(s, numbered(property, 2)...)
		i := w.instance(one)
		i.SetSendTime(0)
		i.run(sites.Submitting)
		i.run(sites.Verifying)
		if n := w.engine.Count("") - w.engine.Count(standin.Token); n != 0 {
			w.Errorf("%d requests were sent", n)
		}
		q, err := w.Quota(w.Context(), s)
		w.must(err)
		if q.Publish.Used != 2 || q.Inspections.Used != 2 {
			w.Errorf("got quota %+v", q)
		}
		for path, p := range w.pages(s, sites.Filter{}) {
			if p.Status != sites.Pending || !p.QueuedForGoogle || p.LastError != "" || p.Attempts != 0 || !p.VerifyAttemptedAt.IsZero() {
				w.Errorf("%s is %+v", path, p)
			}
		}
		if subs := w.submissions(s); len(subs) != 0 {
			w.Errorf("got submissions %+v", subs)
		}
	})
}
