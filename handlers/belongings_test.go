package handlers_test

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

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

// belongings are the items of an account in a test: one of each kind, with all related data. Each
// text starts with a word of the account.
type belongings struct {
	*apptest.App
	user    accounts.User
	ctx     context.Context // of the account
	word    string
	private bool
	words   []string          // all texts
	ids     map[string]string // ids by the first parts of paths
	urls    []string          // of its items
}

// addAll adds an item of each kind for an account.
func addAll(a *apptest.App, u accounts.User, word string, private bool) *belongings {
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

// owner returns the belongings of an account without items.
func owner(a *apptest.App, u accounts.User, word string, private bool) *belongings {
	b := &belongings{App: a, user: u, word: word, private: private, ids: map[string]string{}}
	b.ctx = models.WithActor(a.TB.Context(), models.Actor{ID: u.ID, Name: u.Username, Role: string(u.Role), Via: "session"})
	return b
}

// text returns a unique text for an item.
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
		b.Fatal("the link existed already")
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
	b.Request("GET", "/s/"+l.Key)
	b.Request("GET", "/s/"+l.Key)
}

// crawl crawls a site twice: one page changes, one is broken, and one links to another site.
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
			r.Page.Text, r.Page.WordCount, r.Page.ContentHash = crawl.CompressText(b.text("pagetext")+" "+version), 2, version
			r.LogLine = crawl.FormatLogLine(s.Now(), "info", b.text("logline"), "url", e.URL)
			switch {
			case strings.HasSuffix(e.URL, "broken"):
				return crawl.Result{Status: crawl.EntryFailed, Broken: true, Reason: b.text("broken"), LogLine: r.LogLine}
			case e.Depth == 0:
				for _, l := range []string{"/fine", "/broken"} {
					r.Links = append(r.Links, crawl.FoundURL{Crawl: e.CrawlSeq, Source: e.Crawl.Source, URL: u + l, Depth: 1})
				}
				r.Page.Links = crawl.CompressText(u + "/fine\tfine\n" + u + "/broken\t" + b.text("brokenlink"))
				r.Discovered = []crawl.DiscoveredLink{{SourceSeq: e.Crawl.Source, URL: b.url("discovered"), Text: b.text("linktext"), FoundOn: e.URL}}
				r.Feeds = []crawl.FoundFeed{{Source: e.Crawl.Source, URL: b.url("feed"), Title: b.text("feedtitle")}}
			}
			return r
		})
		b.Clock.Advance(time.Minute)
		if version == "first" {
			b.EndCrawl(e, crawl.ExecutionEnd{Event: crawl.Succeed})
		} else {
			b.EndCrawl(e, crawl.ExecutionEnd{Event: crawl.Fail, Error: b.text("crawlerror")})
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
	b.Must(s.RecordRead(b.TB.Context(), m, sites.ReadResult{Error: b.text("sitemaperror")}))
	_, err = s.BeginSubmission(b.TB.Context(), w, sites.Submission{Method: sites.ByIndexNow, Action: sites.Updated, Pages: 1})
	b.Must(err)
	b.Must(s.RecordServiceOutcome(b.TB.Context(), w, sites.Indexing, sites.Outcome{Status: sites.Refused, Sitewide: true, Error: b.text("googleerror")}))
	pages, err := s.Pages(b.ctx, w.ID, sites.Filter{}, models.Cursor{}, 1)
	b.Must(err)
	maps.Copy(b.ids, map[string]string{"website": w.ID, "sitemap": m.ID(), "site page": pages.Items[0].ID()})
}

// alert adds a channel and a rule, and sends the pending alerts.
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
	r.SetPrivate(b.private)
	r, err = s.AddRule(b.ctx, r)
	b.Must(err)
	// The rule also applies to later events.
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
		b.Fatal("got no alert")
	}
	b.Must(s.RecordTest(b.TB.Context(), c, b.text("channelerror")))
	maps.Copy(b.ids, map[string]string{"channel": c.ID, "rule": r.ID, "alert": of, "alerted": t.ID})
}

func (b *belongings) send() {
	b.Helper()
	s := b.Systems.Alerts.Store
	for range 3 {
		_, err := s.ProcessEvents(b.TB.Context(), 1000)
		b.Must(err)
		b.Clock.Advance(time.Minute)
		_, err = s.QueueMessages(b.TB.Context(), 1000)
		b.Must(err)
	}
}

// cross adds private items with the URLs of another account, except where a shared item exists.
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
			r.Page.Title, r.Page.Links = b.text("crosspage"), crawl.CompressText(at+"\t"+b.text("crosslink"))
			return r
		})
		b.EndCrawl(e, crawl.ExecutionEnd{Event: crawl.Succeed})
		u, err := models.ParseURL("url", at)
		b.Must(err)
		w, err := b.Systems.Sites.Store.Add(b.ctx, sites.NewWebsite{SiteURL: "https://" + u.Host + "/", Name: b.text("crosssite"), Private: true})
		if models.CodeOf(err) == models.CodeConflict {
			continue // the other one is shared
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

// subjects maps prefixes of paths to kinds of items.
var subjects = []struct{ prefix, kind string }{
	{"/v1/alert-rules/", "rule"}, {"/v1/channels/", "channel"}, {"/v1/crawled-pages/", "crawled page"}, {"/v1/discovered-links/", "discovered link"},
	{"/v1/feeds/", "feed"}, {"/v1/frontier/", "entry"}, {"/v1/jobs/", "job"}, {"/v1/link/", "link"}, {"/v1/maintenance/", "maintenance"}, {"/v1/shortlinks/", "short link"},
	{"/v1/sources/", "source"}, {"/v1/status-pages/", "status page"}, {"/v1/targets/", "target"}, {"/v1/websites/", "website"}, {"/v1/pages/", "site page"},
	{"/v1/executions/", "execution"}, {"/v1/refreshes/", "refresh"}, {"/v1/tag/", "tag"}, {"/v1/alerts/", "alert"}, {"/v1/changes/", "change"},
	{"/alerts/channels/", "channel"}, {"/alerts/rules/", "rule"}, {"/alerts/maintenance/", "maintenance"}, {"/alerts/", "alert"}, {"/badge/", "target"},
	{"/crawl/executions/", "execution"}, {"/crawl/feeds/", "feed"}, {"/crawl/jobs/", "job"}, {"/crawl/pages/", "crawled page"}, {"/crawl/sources/", "source"},
	{"/links/refreshes/", "refresh"}, {"/links/", "link"}, {"/short/", "short link"}, {"/sites/", "website"}, {"/watch/", "target"}, {"/tags/", "tag"}, {"/changes/", "change"},
}

// pathOf returns the path of a route with the ids of b; "" = the route has no id.
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

// secrets returns the texts that only b may see, in lower case.
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

// paths returns the paths that read the items of b.
func (b *belongings) paths() (all []string) {
	for _, r := range b.Router.Routes() {
		if p := b.pathOf(r.Path); r.Method == http.MethodGet && p != "" && !r.Stream && r.Needs != middleware.Admin {
			all = append(all, p)
		}
	}
	return all
}

// lists returns the paths without parameters, with all filters.
func lists(s *apptest.App, of ...*belongings) (paths []string) {
	filters := map[string][]string{
		"/v1/links":  {"tag=%stag", "expired=all", "expired=true", "health=unchecked"},
		"/v1/search": {"q=%s", "q=tag:%stag", "q=site:%slink.test", "q=notes:%snotes", "q=url:%slinkpath", "q=title:%slinktitle"},
		"/links":     {"q=%s", "tag=%stag", "expired=all", "expired=true", "q=tag:%stag", "q=%slinktitel", "q=%slinktitl", "q=%sfetche", "url=https://%slink.test/%slinkpath", "format=csv"},
		"/v1/tags":   {"q=%s"}, "/links/tags": {"q=%s", "sort=name", "sort=links"}, "/tags": {"tags=%s", "tags=%s&format=html", "q=%s"},
		"/v1/targets": {"q=%s", "host=%starget.test", "status=down", "status=pending"}, "/watch": {"q=%s", "host=%starget.test", "status=down", "url=https://%starget.test/%stargetpath"},
		"/v1/shortlinks": {"q=%s", "status=active", "status=expired"}, "/short": {"q=%s", "status=expired", "url=https://%sshort.test/%sshortpath", "added=%skey"},
		"/v1/jobs": {"q=%s", "status=failed"}, "/crawl": {"q=%s", "status=failed", "url=https://%scrawl.test/"}, "/v1/sources": {"q=%s"},
		"/v1/crawled-pages": {"q=%s", "q=%spagetext", "q=%spagetitle", "q=%spagetitel"}, "/crawl/pages": {"q=%s", "q=%spagetext", "q=%spagetitel", "q=%s&format=csv", "source=%s"},
		"/v1/discovered-links": {"q=%s", "host=%sdiscovered.test"}, "/crawl/discovered": {"q=%s", "host=%sdiscovered.test"}, "/v1/frontier": {"status=failed", "status=done"}, "/v1/executions": {"status=failed"},
		"/crawl/frontier": {"status=failed", "status=done"}, "/crawl/feeds": {"url=https://%sfeed.test/"}, "/v1/alerts": {"state=firing", "state=unacknowledged", "state=resolved", "event=target.down", "severity=critical"},
		"/alerts": {"state=firing", "state=unacknowledged"}, "/v1/checks": {"failed=true"}, "/sites": {"problem=google", "problem=sitemaps", "problem=pages", "url=https://%ssite.test/"},
		"/search":           {"q=%s", "q=%spagetext", "q=%slinktitle", "q=%stargetname", "q=%skey", "q=%schannel", "q=%srule", "q=%ssite", "q=https://%starget.test/%stargetpath"},
		"/alerts/rules/new": {"find=%s", "q=%s"}, "/alerts/maintenance/new": {"find=%s"}, "/status/new": {"find=%s", "q=%s"},
	}
	ids := map[string][][2]string{
		"/": {
			{"change", "change"}, {"saved", "link"}, {"known", "link"}, {"shared", "link"}, {"added", "target"}, {"watched", "target"}, {"checked", "target"}, {"resting", "target"},
			{"deleted", "target"}, {"removed", "short link"}, {"job_added", "job"}, {"job_kept", "job"}, {"job_refused", "job"}, {"job_deleted", "job"}, {"source_deleted", "source"},
			{"site_deleted", "website"}, {"channel_deleted", "channel"}, {"rule_deleted", "rule"},
		},
		"/v1/jobs": {{"source_id", "source"}}, "/v1/executions": {{"job_id", "job"}}, "/v1/crawled-pages": {{"source_id", "source"}}, "/crawl/pages": {{"source", "source"}, {"deleted", "crawled page"}},
		"/v1/discovered-links": {{"source_id", "source"}}, "/v1/frontier": {{"source_id", "source"}, {"execution_id", "execution"}}, "/v1/feeds": {{"source_id", "source"}},
		"/crawl/feeds": {{"source", "source"}}, "/crawl/frontier": {{"source", "source"}, {"execution", "execution"}}, "/crawl/discovered": {{"source", "source"}},
		"/short": {{"made", "short link"}}, "/alerts/rules/new": {{"targets", "target"}}, "/v1/alerts": {{"subject", "target"}, {"subject", "alerted"}}, "/alerts/maintenance/new": {{"targets", "target"}},
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
