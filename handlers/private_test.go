package handlers_test

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"linkwatch/app/apptest"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/alerts"
	"linkwatch/models/crawl"
	"linkwatch/models/links"
	"linkwatch/models/shortlinks"
	"linkwatch/models/sites"
	"linkwatch/models/targets"
)

// belongings are what an account has in a test: an item of each kind, with all that can belong to
// one. Each text begins with a word of the account.
type belongings struct {
	*apptest.App
	user    accounts.User
	ctx     context.Context // of the account
	word    string
	private bool
	words   []string          // all texts, without what is between the words
	ids     map[string]string // of what a path names, by its first parts
	urls    []string          // of its items
}

// has adds an item of each kind for an account.
func has(a *apptest.App, u accounts.User, word string, private bool) *belongings {
	a.Helper()
	b := owner(a, u, word, private)
	b.link()
	b.target()
	b.shortLink()
	b.crawl()
	b.site()
	b.alert()
	return b
}

// owner are the belongings of an account that has nothing yet.
func owner(a *apptest.App, u accounts.User, word string, private bool) *belongings {
	b := &belongings{App: a, user: u, word: word, private: private, ids: map[string]string{}}
	b.ctx = models.WithActor(a.TB.Context(), models.Actor{ID: u.ID, Name: u.Username, Role: string(u.Role), Via: "session"})
	return b
}

// text is a text of an item, which nothing else has.
func (b *belongings) text(of string) string {
	b.words = append(b.words, b.word+of)
	return b.word + of
}

func (b *belongings) url(of string) string {
	u := "https://" + b.text(of) + ".test/" + b.text(of+"path")
	b.urls = append(b.urls, u)
	return u
}

func (b *belongings) link() {
	b.Helper()
	u := b.url("link")
	b.Web.Set(u, links.Page{Status: 200, URL: u, Title: b.text("fetched"), OpenGraph: links.OpenGraph{Description: b.text("described"), SiteName: b.text("sitename")}})
	l, created, err := b.Links.Add(b.ctx, links.New{URL: u, Tags: []string{b.text("tag")}, Title: b.text("linktitle"), Notes: b.text("notes"), Private: b.private})
	b.Must(err)
	if !created {
		b.Fatal("the link was there")
	}
	b.ids["link"] = l.ID
	tags, err := b.Links.TagsOf(b.ctx, l.ID)
	b.Must(err)
	b.ids["tag"] = tags[0].ID
	r, err := b.Links.StartRefresh(b.ctx, l.ID)
	b.Must(err)
	b.ids["refresh"] = r.ID
	gone, _, err := b.Links.Add(b.ctx, links.New{URL: b.url("gonelink"), Tags: []string{b.text("gonetag")}, Title: b.text("gonetitle"), Private: b.private})
	b.Must(err)
	b.ids["gone link"] = gone.ID
	c, err := b.Links.SetExpired(b.ctx, true, gone.ID)
	b.Must(err)
	b.ids["change"] = c.ID
}

func (b *belongings) target() {
	b.Helper()
	t, _, err := b.Targets.Add(b.ctx, targets.New{URL: b.url("target"), Name: b.text("targetname"), Expect: targets.Expect{Keyword: b.text("keyword")}, Private: b.private})
	b.Must(err)
	b.ids["target"] = t.ID
	b.ids["target host"] = t.Host
	for _, r := range []targets.Result{{Outcome: targets.UpOutcome, StatusCode: 200, LatencyMS: 7}, {Outcome: targets.DownOutcome, StatusCode: 500, Error: b.text("checkerror")}} {
		b.Clock.Advance(time.Minute)
		b.Must(b.Targets.RequestCheck(b.ctx, t.ID))
		b.Finish(t.ID, targets.Checked{Result: r, TLSExpiresAt: b.Targets.Now().Add(48 * time.Hour)})
	}
}

func (b *belongings) shortLink() {
	b.Helper()
	l, _, err := b.ShortLinks.Add(b.ctx, shortlinks.New{LongURL: b.url("short"), Key: b.text("key"), Title: b.text("shorttitle"), MaxVisits: 1, Private: b.private})
	b.Must(err)
	b.ids["short link"] = l.Key
	b.Ask("GET", "/s/"+l.Key)
	b.Ask("GET", "/s/"+l.Key)
}

// crawl crawls a site twice: a page changes, one is broken, and one leads to another site.
func (b *belongings) crawl() {
	b.Helper()
	s, u := b.Systems.Crawl.Store, b.url("crawl")
	j, err := s.AddJob(b.ctx, crawl.NewJob{
		URL: u, Interval: crawl.Interval{Count: 6, Type: crawl.Hours}, Metadata: crawl.Metadata{"of": b.text("metadata")}, MaxRetries: new(0),
		Source: crawl.NewSource{Name: b.text("source"), Private: b.private, RateLimitMS: new(0)},
	})
	b.Must(err)
	for _, version := range []string{"first", "second"} {
		_, err := s.Act(b.ctx, j.ID, crawl.ForceRun)
		b.Must(err)
		e := b.BeginCrawl(j)
		b.Fetch(func(e crawl.Entry) crawl.Result {
			r := apptest.Crawled(e)
			r.Page.Title, r.Page.Description, r.Page.Author = b.text("pagetitle"), b.text("pagedescription"), b.text("author")
			r.Page.Text, r.Page.WordCount, r.Page.ContentHash = crawl.Pack(b.text("pagetext")+" "+version), 2, version
			r.Line = crawl.LogLine(s.Now(), "info", b.text("logline"), "url", e.URL)
			switch {
			case strings.HasSuffix(e.URL, "broken"):
				return crawl.Result{Status: crawl.EntryFailed, Broken: true, Reason: b.text("broken"), Line: r.Line}
			case e.Depth == 0:
				for _, l := range []string{"/fine", "/broken"} {
					r.Links = append(r.Links, crawl.Found{Crawl: e.CrawlSeq, Source: e.Crawl.Source, URL: u + l, Depth: 1})
				}
				r.Page.Links = crawl.Pack(u + "/fine\tfine\n" + u + "/broken\t" + b.text("brokenlink"))
				r.Discovered = []crawl.Discovered{{SourceSeq: e.Crawl.Source, URL: b.url("discovered"), Text: b.text("linktext"), FoundOn: e.URL}}
				r.Feeds = []crawl.FoundFeed{{Source: e.Crawl.Source, URL: b.url("feed"), Title: b.text("feedtitle")}}
			}
			return r
		})
		b.Clock.Advance(time.Minute)
		if version == "first" {
			b.EndCrawl(e, crawl.End{Event: crawl.Succeed})
		} else {
			b.EndCrawl(e, crawl.End{Event: crawl.Fail, Error: b.text("crawlerror")})
		}
		b.ids["execution"] = e.ID
	}
	for more := 1; more > 0; {
		more, err = s.IndexNext(b.TB.Context(), 100)
		b.Must(err)
	}
	for {
		r, err := s.NextReport(b.TB.Context())
		b.Must(err)
		if r == nil {
			break
		}
		for done := false; !done; {
			done, err = r.Next(b.TB.Context())
			b.Must(err)
		}
	}
	page, err := s.Pages(b.ctx, crawl.PageFilter{SourceID: j.SourceID}, models.Cursor{}, 1)
	b.Must(err)
	entries, err := s.Frontier(b.ctx, crawl.EntryFilter{SourceID: j.SourceID}, models.Cursor{}, 1)
	b.Must(err)
	discovered, err := s.DiscoveredLinks(b.ctx, crawl.DiscoveredFilter{SourceID: j.SourceID}, models.Cursor{}, 1)
	b.Must(err)
	feeds, err := s.Feeds(b.ctx, j.SourceID, models.Cursor{}, 1)
	b.Must(err)
	maps.Copy(b.ids, map[string]string{
		"job": j.ID, "source": j.SourceID, "crawled page": page.Items[0].ID(), "entry": entries.Items[0].ID(),
		"discovered link": discovered.Items[0].ID(), "feed": feeds.Items[0].ID(),
	})
}

func (b *belongings) site() {
	b.Helper()
	s, u := b.Systems.Sites.Store, "https://"+b.text("site")+".test/"
	w, err := s.Add(b.ctx, sites.NewWebsite{SiteURL: u, Name: b.text("sitename"), IndexNowKey: b.text("indexnow"), Private: b.private})
	b.Must(err)
	w, err = s.SetCredentials(b.ctx, w.ID, []byte("{}"), sites.Account{ClientEmail: b.text("robot") + "@project.test", ProjectID: b.text("project")})
	b.Must(err)
	m, _, err := s.AddSitemap(b.ctx, w.ID, u+b.text("sitemap")+".xml")
	b.Must(err)
	b.urls = append(b.urls, u+b.text("sitepage"))
	of, err := models.ParseURL("url", u+b.text("sitepage"))
	b.Must(err)
	b.Must(s.BeginReading(b.TB.Context(), m))
	_, err = s.StoreEntries(b.TB.Context(), w, m, []sites.Entry{{URL: of}})
	b.Must(err)
	b.Must(s.RecordRead(b.TB.Context(), m, sites.Read{Error: b.text("sitemaperror")}))
	_, err = s.Begin(b.TB.Context(), w, sites.Submission{Method: sites.ByIndexNow, Action: sites.Updated, Pages: 1})
	b.Must(err)
	b.Must(s.Note(b.TB.Context(), w, sites.Indexing, sites.Answer{Status: sites.Refused, Sitewide: true, Error: b.text("googleerror")}))
	pages, err := s.Pages(b.ctx, w.ID, sites.Filter{}, models.Cursor{}, 1)
	b.Must(err)
	maps.Copy(b.ids, map[string]string{"website": w.ID, "sitemap": m.ID(), "site page": pages.Items[0].ID()})
}

// alert adds a channel and a rule, and sends what has happened.
func (b *belongings) alert() {
	b.Helper()
	s := b.Systems.Alerts.Store
	c, err := s.AddChannel(b.ctx, alerts.NewChannel{Name: b.text("channel"), Kind: alerts.KindWebhook, Address: alerts.Address{URL: b.url("hook")}, Private: b.private})
	b.Must(err)
	actor, _ := models.ActorOf(b.ctx)
	r := alerts.Rule{Name: b.text("rule"), Owner: actor.Name, Channels: alerts.List{c.ID}, AfterFailures: 1, Enabled: true}
	for _, t := range s.Types() {
		r.Events = append(r.Events, string(t.Kind))
	}
	r.Share(b.private)
	r, err = s.AddRule(b.ctx, r)
	b.Must(err)
	// What happens from now on is for the rule too.
	b.Clock.Advance(time.Minute)
	t, _, err := b.Targets.Add(b.ctx, targets.New{URL: b.url("alerted"), Name: b.text("alertedname"), Private: b.private})
	b.Must(err)
	for range 3 {
		b.Clock.Advance(time.Minute)
		b.Must(b.Targets.RequestCheck(b.ctx, t.ID))
		b.Finish(t.ID, targets.Checked{Result: targets.Result{Outcome: targets.DownOutcome, StatusCode: 500, Error: b.text("alertederror")}})
	}
	b.send()
	all, err := s.Alerts(b.ctx, alerts.Firing, models.Cursor{}, 100)
	b.Must(err)
	var of string
	for _, a := range all.Items {
		if a.PrivateTo != "" == b.private {
			of = a.ID
		}
	}
	if of == "" {
		b.Fatal("there is no alert")
	}
	b.Must(s.Tested(b.TB.Context(), c, b.text("channelerror")))
	maps.Copy(b.ids, map[string]string{"channel": c.ID, "rule": r.ID, "alert": of, "alerted": t.ID})
}

func (b *belongings) send() {
	b.Helper()
	s := b.Systems.Alerts.Store
	for range 3 {
		_, err := s.Take(b.TB.Context(), 1000)
		b.Must(err)
		b.Clock.Advance(time.Minute)
		_, err = s.Send(b.TB.Context(), 1000)
		b.Must(err)
	}
}

// cross adds private items of each kind at the URLs of somebody else, where there is none that is shared.
func (b *belongings) cross(of *belongings) {
	b.Helper()
	for _, at := range of.urls {
		_, _, err := b.Links.Add(b.ctx, links.New{URL: at, Tags: []string{b.text("crosstag")}, Title: b.text("crosstitle"), Private: true})
		b.Must(err)
		t, created, err := b.Targets.Add(b.ctx, targets.New{URL: at, Name: b.text("crosstarget"), Private: true})
		b.Must(err)
		if created {
			b.Clock.Advance(time.Minute)
			b.Must(b.Targets.RequestCheck(b.ctx, t.ID))
			b.Finish(t.ID, targets.Checked{Result: targets.Result{Outcome: targets.DownOutcome, StatusCode: 500, Error: b.text("crosserror")}})
		}
		_, _, err = b.ShortLinks.Add(b.ctx, shortlinks.New{LongURL: at, Title: b.text("crossshort"), Private: true})
		b.Must(err)
		j, err := b.Systems.Crawl.Store.AddJob(b.ctx, crawl.NewJob{URL: at, Source: crawl.NewSource{Name: b.text("crosssource"), Private: true, RateLimitMS: new(0)}})
		b.Must(err)
		e := b.BeginCrawl(j)
		b.Fetch(func(e crawl.Entry) crawl.Result {
			r := apptest.Crawled(e)
			r.Page.Title, r.Page.Links = b.text("crosspage"), crawl.Pack(at+"\t"+b.text("crosslink"))
			return r
		})
		b.EndCrawl(e, crawl.End{Event: crawl.Succeed})
		u, err := models.ParseURL("url", at)
		b.Must(err)
		w, err := b.Systems.Sites.Store.Add(b.ctx, sites.NewWebsite{SiteURL: "https://" + u.Host + "/", Name: b.text("crosssite"), Private: true})
		if models.CodeOf(err) == models.CodeConflict {
			continue // theirs is shared
		}
		b.Must(err)
		m, _, err := b.Systems.Sites.Store.AddSitemap(b.ctx, w.ID, "https://"+u.Host+"/"+b.text("crosssitemap")+".xml")
		b.Must(err)
		b.Must(b.Systems.Sites.Store.BeginReading(b.TB.Context(), m))
		_, err = b.Systems.Sites.Store.StoreEntries(b.TB.Context(), w, m, []sites.Entry{{URL: u}})
		b.Must(err)
	}
	b.send()
}

// subjects are the kinds of what paths name, by how they begin.
var subjects = []struct{ prefix, kind string }{
	{"/v1/alert-rules/", "rule"}, {"/v1/channels/", "channel"}, {"/v1/crawled-pages/", "crawled page"}, {"/v1/discovered-links/", "discovered link"},
	{"/v1/feeds/", "feed"}, {"/v1/frontier/", "entry"}, {"/v1/jobs/", "job"}, {"/v1/link/", "link"}, {"/v1/maintenance/", "maintenance"}, {"/v1/shortlinks/", "short link"},
	{"/v1/sources/", "source"}, {"/v1/status-pages/", "status page"}, {"/v1/targets/", "target"}, {"/v1/websites/", "website"}, {"/v1/pages/", "site page"},
	{"/v1/executions/", "execution"}, {"/v1/refreshes/", "refresh"}, {"/v1/tag/", "tag"}, {"/v1/alerts/", "alert"}, {"/v1/changes/", "change"},
	{"/alerts/channels/", "channel"}, {"/alerts/rules/", "rule"}, {"/alerts/maintenance/", "maintenance"}, {"/alerts/", "alert"}, {"/badge/", "target"},
	{"/crawl/executions/", "execution"}, {"/crawl/feeds/", "feed"}, {"/crawl/jobs/", "job"}, {"/crawl/pages/", "crawled page"}, {"/crawl/sources/", "source"},
	{"/links/refreshes/", "refresh"}, {"/links/", "link"}, {"/short/", "short link"}, {"/sites/", "website"}, {"/watch/", "target"}, {"/tags/", "tag"}, {"/changes/", "change"},
}

// pathOf is the path of a route for what b has; "" = it names nothing of anybody.
func (b *belongings) pathOf(path string) string {
	var first string
	for _, s := range subjects {
		if strings.HasPrefix(path, s.prefix+":") {
			first = b.ids[s.kind]
			break
		}
	}
	if first == "" {
		return ""
	}
	parts, n := strings.Split(path, "/"), 0
	for i, p := range parts {
		switch {
		case !strings.HasPrefix(p, ":"):
			continue
		case n == 0:
			parts[i] = url.PathEscape(first)
		case p == ":tag" || p == ":tag_id":
			parts[i] = b.ids["tag"]
		default:
			parts[i] = map[string]string{
				":link_id": b.ids["link"], ":sitemap": b.ids["sitemap"], ":sitemap_id": b.ids["sitemap"], ":page": b.ids["site page"],
				":version": "1", ":hash": strings.Repeat("0", 64), ":kind": "status", ":range": "24h",
			}[p]
		}
		n++
	}
	return strings.Join(parts, "/")
}

// secrets are what only b may see, in lower case.
func (b *belongings) secrets() []string {
	all := slices.Clone(b.words)
	for kind, id := range b.ids {
		if kind != "refresh" && kind != "change" {
			all = append(all, strings.ToLower(id))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// paths are those that read what b has.
func (b *belongings) paths() (all []string) {
	for _, r := range b.Router.Routes() {
		if p := b.pathOf(r.Path); r.Method == http.MethodGet && p != "" && !r.Stream && r.Needs != middleware.Admin {
			all = append(all, p)
		}
	}
	return all
}

// lists are the paths without parameters, with all filters.
func lists(s *apptest.App, of ...*belongings) (paths []string) {
	filters := map[string][]string{
		"/v1/links": {"q=%s", "tag=%stag", "expired=all", "expired=true", "health=unchecked", "q=tag:%stag", "q=site:%slink.test", "q=notes:%snotes", "q=url:%slinkpath", "q=title:%slinktitle"},
		"/links":    {"q=%s", "tag=%stag", "expired=all", "expired=true", "q=tag:%stag", "q=%slinktitel", "q=%slinktitl", "q=%sfetche", "url=https://%slink.test/%slinkpath", "format=csv"},
		"/v1/tags":  {"q=%s"}, "/links/tags": {"q=%s", "sort=name", "sort=links"}, "/tags": {"tags=%s", "tags=%s&format=html", "q=%s"},
		"/v1/targets": {"q=%s", "host=%starget.test", "status=down", "status=pending"}, "/watch": {"q=%s", "host=%starget.test", "status=down", "url=https://%starget.test/%stargetpath"},
		"/v1/shortlinks": {"q=%s", "status=active", "status=expired"}, "/short": {"q=%s", "status=expired", "url=https://%sshort.test/%sshortpath", "added=%skey"},
		"/v1/jobs": {"q=%s", "status=failed"}, "/crawl": {"q=%s", "status=failed", "url=https://%scrawl.test/"}, "/v1/sources": {"q=%s"},
		"/v1/crawled-pages": {"q=%s", "q=%spagetext", "q=%spagetitle", "q=%spagetitel"}, "/crawl/pages": {"q=%s", "q=%spagetext", "q=%spagetitel", "q=%s&format=csv", "source=%s"},
		"/v1/discovered-links": {"q=%s", "host=%sdiscovered.test"}, "/crawl/discovered": {"q=%s", "host=%sdiscovered.test"}, "/v1/frontier": {"status=failed", "status=done"},
		"/crawl/frontier": {"status=failed", "status=done"}, "/crawl/feeds": {"url=https://%sfeed.test/"}, "/v1/alerts": {"state=firing", "state=unacknowledged", "state=resolved"},
		"/alerts": {"state=firing", "state=unacknowledged"}, "/v1/checks": {"failed=true"}, "/sites": {"problem=refused", "problem=unread", "problem=failed", "url=https://%ssite.test/"},
		"/search":           {"q=%s", "q=%spagetext", "q=%slinktitle", "q=%stargetname", "q=%skey", "q=%schannel", "q=%srule", "q=%ssite", "q=https://%starget.test/%stargetpath"},
		"/alerts/rules/new": {"find=%s", "q=%s"}, "/alerts/maintenance/new": {"find=%s"}, "/status/new": {"find=%s", "q=%s"},
	}
	ids := map[string][][2]string{
		"/": {
			{"change", "change"}, {"saved", "link"}, {"known", "link"}, {"shared", "link"}, {"added", "target"}, {"watched", "target"}, {"checked", "target"}, {"resting", "target"},
			{"deleted", "target"}, {"removed", "short link"}, {"job_added", "job"}, {"job_kept", "job"}, {"job_refused", "job"}, {"job_deleted", "job"}, {"source_deleted", "source"},
			{"site_deleted", "website"}, {"channel_deleted", "channel"}, {"rule_deleted", "rule"},
		},
		"/v1/jobs": {{"source_id", "source"}}, "/v1/crawled-pages": {{"source_id", "source"}}, "/crawl/pages": {{"source", "source"}, {"deleted", "crawled page"}},
		"/v1/discovered-links": {{"source_id", "source"}}, "/v1/frontier": {{"source_id", "source"}, {"execution_id", "execution"}}, "/v1/feeds": {{"source_id", "source"}},
		"/crawl/feeds": {{"source", "source"}}, "/crawl/frontier": {{"source", "source"}, {"execution", "execution"}}, "/crawl/discovered": {{"source", "source"}},
		"/short": {{"made", "short link"}}, "/alerts/rules/new": {{"targets", "target"}}, "/v1/checks": {{"target", "target"}}, "/alerts/maintenance/new": {{"targets", "target"}},
	}
	for _, r := range s.Router.Routes() {
		if r.Method != http.MethodGet || strings.ContainsAny(r.Path, ":*") || r.Stream || r.Needs == middleware.Admin {
			continue
		}
		paths = append(paths, r.Path)
		for _, b := range of {
			for _, f := range filters[r.Path] {
				paths = append(paths, r.Path+"?"+strings.ReplaceAll(f, "%s", b.word))
			}
			for _, of := range ids[r.Path] {
				paths = append(paths, r.Path+"?"+of[0]+"="+url.QueryEscape(b.ids[of[1]]))
			}
		}
	}
	return paths
}

// TestNothingPrivateIsSeen asks as alice, by every route that reads, for what is private to bob: by his ids, by the texts of what he
// has, and by lists with filters. No answer may have any of it, and what she has herself must look as it did before he added
// anything. Then she tries to change it by every route that writes. A viewer tries to change what is shared.
func TestNothingPrivateIsSeen(t *testing.T) {
	apptest.EachEngine(t, func(a *apptest.App) {
		root := signIn(a, a.AddUser("root", accounts.Admin))
		alices := has(a, a.AddUser("alice", accounts.Editor), "wombat", false)
		bob, vera := a.AddUser("bob", accounts.Editor), a.AddUser("vera", accounts.Viewer)
		began := a.Clock.Now()
		a.Clock.Advance(24 * time.Hour)
		end := a.Clock.Now()
		alice := signIn(a, alices.user)

		own, before := append(alices.paths(), lists(a, alices)...), map[string]string{}
		for _, p := range own {
			before[p] = settled(alice.see(p))
		}
		said := alice.listen("/sse/crawler/events", "/sse/health/events", "/sse/metrics/events", "/v1/jobs/"+alices.ids["job"]+"/logs/stream/v2")
		a.Clock.Advance(began.Sub(end))
		bobs := has(a, bob, "quokka", true)
		bobs.cross(alices)
		if a.Clock.Now().After(end) {
			a.Fatal("this takes more than a day")
		}
		a.Clock.Advance(end.Sub(a.Clock.Now()))
		for _, p := range own {
			if got := settled(alice.see(p)); got != before[p] && p != "/metrics" { // they are of the program as a whole
				a.Errorf("%s differs: %s", p, differ(before[p], got))
			}
		}

		secrets, seen := bobs.secrets(), map[string]bool{}
		for _, p := range append(bobs.paths(), "/crawl/jobs/"+bobs.ids["job"]+"/log", "/v1/jobs/"+bobs.ids["job"]+"/logs/stream/v2") {
			if code, _, _ := strings.Cut(alice.see(p), "\n"); code != "404" {
				a.Errorf("%s: %s", p, code)
			}
		}
		his := signIn(a, bob)
		for _, p := range append(bobs.paths(), lists(a, alices, bobs)...) {
			plain, err := url.QueryUnescape(p)
			a.Must(err)
			for _, got := range []string{alice.see(p), alice.see(p, "Authorization", alice.bearer), root.see(p, "Authorization", root.bearer)} {
				shows(a.TB, p, plain, got, secrets)
			}
			got := strings.ToLower(his.see(p))
			for _, s := range secrets {
				seen[s] = seen[s] || strings.Contains(got, s)
			}
		}
		for of, got := range said() {
			shows(a.TB, of, "", got, secrets)
		}
		unseen := map[string]bool{"hook": true, "hookpath": true, "brokenlink": true, "crosslink": true, "crosssitemap": true} // no page of these lists has them
		for _, s := range secrets {
			if word, ok := strings.CutPrefix(s, bobs.word); ok && !seen[s] && !unseen[word] {
				a.Errorf("bob does not see %s, so the test does not look for it", s)
			}
		}

		alice.writes(bobs, secrets)
		signIn(a, vera).writes(alices, nil)
	})
}

// The search over everything marks what only its owner sees. A crawled page is as its source.
func TestSearchMarksPrivateItems(t *testing.T) {
	a := apptest.New(t)
	bob := a.AddUser("bob", accounts.Admin)
	has(a, bob, "quokka", true)
	kinds := map[string]int{}
	a.SignIn(bob).Get("/search?q=quokka").Find(".hits-of section").Each(func(_ int, s *goquery.Selection) {
		kind, hits, marks := s.Find("h2").Text(), s.Find("li").Length(), s.Find("li .private").Length()
		if kinds[kind] = hits; kind != "Actions" && kind != "Crawled pages" && hits != marks {
			t.Errorf("%s: %d of %d are marked", kind, marks, hits)
		}
	})
	for _, kind := range []string{"Links", "Targets", "Short links", "Crawl jobs", "Websites", "Alerts", "Alert settings"} {
		if kinds[kind] == 0 {
			t.Errorf("found no %s: %v", kind, kinds)
		}
	}
}

// TestWhatBecomesPrivateIsGone: bob makes private what alice has seen and changed, and then deletes it. Neither caches, nor changes that
// she could undo, nor ids that she knows show it or lead to it. (Alerts stay with who had them, so there are none here.)
func TestWhatBecomesPrivateIsGone(t *testing.T) {
	apptest.EachEngine(t, func(a *apptest.App) {
		a.AddUser("root", accounts.Admin)
		alice, bob := signIn(a, a.AddUser("alice", accounts.Editor)), a.AddUser("bob", accounts.Editor)
		bobs, his := owner(a, bob, "quokka", false), signIn(a, bob)
		bobs.link()
		bobs.target()
		bobs.shortLink()
		bobs.crawl()
		bobs.site()
		bobs.ids["change"] = alice.Do("POST", "/v1/links/bulk", `{"action":"tag","tags":["quokkaagain"],"ids":["`+bobs.ids["link"]+`"]}`).Want(200)["id"].(string)
		bobs.words = append(bobs.words, "quokkaagain")
		paths := append(bobs.paths(), lists(a, bobs)...)
		for _, p := range paths {
			alice.see(p)
		}

		gone := func(when string) {
			a.Helper()
			a.Clock.Advance(time.Minute) // figures of an account count for half a minute
			secrets := bobs.secrets()
			for _, p := range bobs.paths() {
				if code, _, _ := strings.Cut(alice.see(p), "\n"); code != "404" && !strings.Contains(p, "/refreshes/") { // it was hers
					a.Errorf("%s, %s: %s", when, p, code)
				}
			}
			for _, p := range paths {
				plain, err := url.QueryUnescape(p)
				a.Must(err)
				shows(a.TB, when+", "+p, plain, alice.see(p), secrets)
			}
			alice.writes(bobs, secrets)
		}
		items := []struct{ path, kind string }{
			{"/v1/targets/", "target"}, {"/v1/shortlinks/", "short link"}, {"/v1/sources/", "source"}, {"/v1/websites/", "website"},
		}
		for _, of := range items {
			his.Do("PATCH", of.path+bobs.ids[of.kind], `{"private":true}`).Want(200)
		}
		for _, kind := range []string{"link", "gone link"} {
			his.Do("PUT", "/v1/link/"+bobs.ids[kind]+"/annotation", `{"private":true}`).Want(200)
		}
		gone("made private")
		his.Do("POST", "/v1/links/bulk", `{"action":"delete","ids":["`+bobs.ids["link"]+`","`+bobs.ids["gone link"]+`"]}`).Want(200)
		for _, of := range items {
			if got := his.Send("DELETE", of.path+bobs.ids[of.kind], "", ""); got.Status >= 300 {
				a.Errorf("%s: %d %s", of.kind, got.Status, got.Body)
			}
		}
		gone("deleted")
	})
}

// shows fails if an answer has secrets that were not in the path.
func shows(t testing.TB, of, plain, got string, secrets []string) {
	t.Helper()
	got, plain = strings.ToLower(got), strings.ToLower(plain)
	for _, s := range secrets {
		if strings.Contains(got, s) && !strings.Contains(plain, s) {
			i := strings.Index(got, s)
			t.Errorf("%s shows %s: %s", of, s, got[max(0, i-100):min(len(got), i+100)])
		}
	}
}

// reader is the browser and the token of an account.
type reader struct {
	*apptest.App
	bearer string
}

func signIn(a *apptest.App, u accounts.User) *reader {
	a.Helper()
	scope := map[accounts.Role]string{accounts.Viewer: "read", accounts.Editor: "write", accounts.Admin: "read"}[u.Role]
	_, secret, err := a.Systems.Accounts.Store.AddToken(a.Context(), u, accounts.NewToken{Name: "test", Scopes: []string{scope}, By: u.Role})
	a.Must(err)
	return &reader{App: a.SignIn(u), bearer: "Bearer " + secret}
}

// see returns status, headers and body of a path, by the session unless headers, given as name and value in turn, have a token.
func (a *reader) see(path string, headers ...string) string {
	a.Helper()
	r := httptest.NewRequestWithContext(a.TB.Context(), http.MethodGet, path, nil)
	r.Header.Set("Accept", "text/html")
	return a.send(r, headers...)
}

func (a *reader) send(r *http.Request, headers ...string) string {
	a.Helper()
	r.Host = "127.0.0.1:8080"
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	if r.Header.Get("Authorization") == "" {
		r.Header.Set("Cookie", "linkwatch_session="+a.Session())
	}
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, r)
	var b strings.Builder
	fmt.Fprintln(&b, w.Code)
	for _, name := range slices.Sorted(maps.Keys(w.Header())) {
		fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(w.Header()[name], ", "))
	}
	b.WriteString(w.Body.String())
	return b.String()
}

// volatile is what differs between two answers to the same request: its id, and how often a link was viewed, with the length of both.
var volatile = regexp.MustCompile(`Content-Length: \d+|X-Request-Id: \S+|Request <code>\w+|"request_id":"\w+"|"view_count":\d+|\d+ views?|Views</dt><dd>\d+|"uptime":"\w+"`)

func settled(answer string) string { return volatile.ReplaceAllString(answer, "") }

// differ is where two texts differ.
func differ(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	cut := func(s string) string { return s[max(0, min(len(s), i-120)):min(len(s), i+120)] }
	return fmt.Sprintf("%q, now %q", cut(a), cut(b))
}

// listen opens streams. What it returns closes them and returns what they have said.
func (a *reader) listen(paths ...string) func() map[string]string {
	a.Helper()
	ctx, cancel := context.WithCancel(a.TB.Context())
	said := map[string]chan string{}
	for _, path := range paths {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, a.URL+path, nil)
		a.Must(err)
		r.Header.Set("Authorization", a.bearer)
		res, err := http.DefaultClient.Do(r)
		a.Must(err)
		if res.StatusCode != http.StatusOK {
			a.Errorf("%s: %d", path, res.StatusCode)
		}
		of := make(chan string, 1)
		said[path] = of
		go func() {
			defer res.Body.Close()
			var b strings.Builder
			for s := bufio.NewScanner(res.Body); s.Scan(); {
				b.WriteString(s.Text() + "\n")
			}
			of <- b.String()
		}()
	}
	return func() map[string]string {
		time.Sleep(1100 * time.Millisecond) // they look each second
		cancel()
		all := map[string]string{}
		for path, of := range said {
			all[path] = <-of
		}
		return all
	}
}

// bodies are those of operations that would change what they name.
var bodies = map[string]string{
	"PUT /v1/jobs/:id": `{"url":"https://mine.test/"}`, "PUT /v1/link/:id": `{"expired":true}`, "PUT /v1/link/:id/annotation": `{"title":"x","notes":"x","private":false}`, "PATCH /v1/link/:id": `{"expired":true}`, "POST /v1/link/:id/tags": `{"tags":["x"]}`,
	"PUT /v1/link/:id/tag/:tag_id": `{"name":"x"}`, "PUT /v1/websites/:id/credentials": `{"type":"service_account"}`, "POST /v1/alerts/:id/silence": `{"minutes":5}`,
	"POST /v1/websites/:id/priorities": `{"manual_priority":5}`, "POST /v1/websites/:id/sitemaps": `{"url":"https://mine.test/x.xml"}`, "PATCH /v1/pages/:id": `{"manual_priority":5}`,
}

// writes tries to change what belongs to another account, by every route.
func (a *reader) writes(of *belongings, secrets []string) {
	a.Helper()
	ids := slices.Sorted(maps.Values(of.ids))
	form := url.Values{
		"id": ids, "ids": ids, "targets": ids, "channels": ids, "source": {of.ids["source"]}, "source_id": {of.ids["source"]}, "target": {of.ids["target"]}, "name": {"x"}, "title": {"x"},
		"url": {"https://mine.test/"}, "tags": {"x"}, "tag": {"x"}, "minutes": {"5"}, "manual_priority": {"5"}, "credentials": {"{}"}, "private": {"false"},
		"long_url": {"https://mine.test/"}, "events": {"target.down"}, "save": {"1"}, "enabled": {"false"}, "paused": {"true"},
	}
	before := a.rows()
	try := func(method, path, contentType, body string, headers ...string) {
		a.Helper()
		r := httptest.NewRequestWithContext(a.TB.Context(), method, path, strings.NewReader(body))
		if body != "" {
			r.Header.Set("Content-Type", contentType)
		}
		got := a.send(r, headers...)
		shows(a.TB, method+" "+path, path+body, got, secrets)
		if strings.HasPrefix(got, "5") {
			a.Errorf("%s %s: %s", method, path, got)
		}
		if now := a.rows(); now != before {
			a.Errorf("%s %s %s changes %s; answer: %.300s", method, path, body, differ(before, now), got)
			before = now
		}
	}
	post := func(path, action string) {
		a.Helper()
		form.Set("action", action)
		try(http.MethodPost, path, "application/x-www-form-urlencoded", form.Encode())
	}
	for _, r := range a.Router.Routes() {
		path, body := of.pathOf(r.Path), bodies[r.Method+" "+r.Path]
		switch {
		case r.Method == http.MethodGet || path == "" || r.Needs == middleware.Admin || r.Needs == middleware.Public:
		case !strings.HasPrefix(r.Path, "/v1/"):
			post(path, "boost")
		case body == "" && r.Method == http.MethodPatch:
			try(r.Method, path, "application/json", `{"private":false}`, "Authorization", a.bearer)
		default:
			try(r.Method, path, "application/json", body, "Authorization", a.bearer)
		}
	}
	// What names others in its body.
	for path, body := range map[string]string{
		"/v1/jobs": `{"source_id":"<source>"}`, "/v1/feeds": `{"url":"https://mine.test/f","source_id":"<source>"}`, "/v1/frontier": `{"url":"https://mine.test/f","source_id":"<source>"}`,
		"/v1/alert-rules": `{"events":["target.down"],"channels":["<channel>"]}`, "/v1/status-pages": `{"slug":"mine","title":"x","targets":["<target>"]}`,
		"/v1/links/bulk": `{"action":"delete","ids":["<link>"]}`, "/v1/changes/<change>/undo": ``, "/v1/shortlinks": `{"long_url":"https://mine.test/","short_key":"<short link>"}`,
	} {
		for kind, id := range of.ids {
			path, body = strings.ReplaceAll(path, "<"+kind+">", id), strings.ReplaceAll(body, "<"+kind+">", id)
		}
		try(http.MethodPost, path, "application/json", body, "Authorization", a.bearer)
	}
	for _, path := range []string{"/links/bulk", "/crawl/pages/bulk", "/crawl/discovered/bulk", "/crawl/frontier/bulk", "/alerts/bulk", "/alerts/alert-me", "/crawl/schedule"} {
		for _, action := range []string{"delete", "retry", "refresh", "expire", "revive", "tag", "acknowledge", "silence", "save", "watch"} {
			post(path, action)
		}
	}
}

// rows are all rows that a write could change.
func (a *reader) rows() string {
	a.Helper()
	var b strings.Builder
	for _, table := range []string{
		"links", "link_tags", "tags", "targets", "check_results", "outages", "short_links", "sources", "jobs", "job_executions", "frontier", "crawled_pages", "feeds",
		"discovered_links", "websites", "sitemaps", "pages", "submissions", "alerts", "channels", "alert_rules", "deliveries",
	} {
		var all []map[string]any
		a.Must(a.DB.Read(a.TB.Context()).Raw("SELECT * FROM " + table + " ORDER BY 1, 2, 3").Scan(&all).Error)
		fmt.Fprintln(&b, table, all)
	}
	return b.String()
}
