package crawl_test

import (
	"fmt"
	"testing"

	"linkwatch/app/apptest"
)

func TestFailedCrawlsNeedAttention(t *testing.T) {
	s := newSite(t)
	apptest.WantCount(t, s.Get("/"), ".steps", 1)
	s.run(s.AddJob("https://fine.test"))
	apptest.WantText(t, s.Get("/"), ".all-well", "no failed crawls")
	for i := range 7 {
		s.fail(s.AddJob(fmt.Sprintf("https://f%d.test", i), named(hostile), fails), "start page: status 500")
	}
	a := s.Get("/")
	apptest.WantText(t, a, ".attention-group h3", "7 failed crawls")
	apptest.WantCount(t, a, ".attention li", 5)
	apptest.WantText(t, a, ".attention li:first-child", "failed "+hostile+" f0.test Start page: status 500")
	apptest.WantText(t, a, "aside .briefs", "completed 1 failed 7")
	apptest.WantCount(t, a, "main script, main img", 0)
	apptest.WantCount(t, s.Get(a.Find(".show-all a").AttrOr("href", "")), ".crawls tbody tr", 7)
	a = s.Submit(a, ".attention li:first-child form")
	apptest.WantText(t, a, ".flash", "The retry starts in a few seconds.")
	apptest.WantText(t, a, ".attention-group h3", "6 failed crawls")
}
