package sites

import (
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/sites"
)

// A requested page is submitted shortly unless a service that it is queued for is paused.
func TestWaits(t *testing.T) {
	paused := sites.ServiceState{Error: "No more requests.", Failures: 1}
	for name, c := range map[string]struct {
		site sites.Website
		page sites.Page
		want string
	}{
		"not paused":      {sites.Website{}, sites.Page{QueuedForGoogle: true, QueuedForIndexNow: true}, "shortly."},
		"sitemaps":        {sites.Website{Console: paused}, sites.Page{QueuedForGoogle: true}, "when requests are allowed again."},
		"inspections":     {sites.Website{Console: paused, IndexingEnabled: true}, sites.Page{QueuedForGoogle: true}, "shortly."},
		"Indexing API":    {sites.Website{Indexing: paused, IndexingEnabled: true}, sites.Page{QueuedForGoogle: true}, "when requests are allowed again."},
		"IndexNow":        {sites.Website{IndexNowState: paused}, sites.Page{QueuedForIndexNow: true}, "when requests are allowed again."},
		"not by IndexNow": {sites.Website{IndexNowState: paused}, sites.Page{QueuedForGoogle: true}, "shortly."},
	} {
		c.page.SubmitRequestedAt = models.At(time.Unix(1, 0))
		if got := (OnePage{Site: c.site, One: c.page}).waitingTexts(); len(got) == 0 || !strings.HasSuffix(got[0], c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
