package sites

import (
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/sites"
)

// A page is submitted within moments unless a service that it waits for is paused.
func TestWaits(t *testing.T) {
	paused := sites.ServiceState{Error: "No more requests.", Failures: 1}
	for name, c := range map[string]struct {
		site sites.Website
		page sites.Page
		want string
	}{
		"free":            {sites.Website{}, sites.Page{ForGoogle: true, ForIndexNow: true}, "within moments."},
		"sitemaps":        {sites.Website{Console: paused}, sites.Page{ForGoogle: true}, "when requests are allowed again."},
		"inspections":     {sites.Website{Console: paused, IndexingEnabled: true}, sites.Page{ForGoogle: true}, "within moments."},
		"Indexing API":    {sites.Website{Indexing: paused, IndexingEnabled: true}, sites.Page{ForGoogle: true}, "when requests are allowed again."},
		"IndexNow":        {sites.Website{IndexNowState: paused}, sites.Page{ForIndexNow: true}, "when requests are allowed again."},
		"not by IndexNow": {sites.Website{IndexNowState: paused}, sites.Page{ForGoogle: true}, "within moments."},
	} {
		c.page.SubmitWantedAt = models.At(time.Unix(1, 0))
		if got := (OnePage{Site: c.site, One: c.page}).waits(); len(got) == 0 || !strings.HasSuffix(got[0], c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
