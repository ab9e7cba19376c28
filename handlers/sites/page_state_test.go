package sites_test

import (
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models/sites"
)

// TestNothingIsGreenerThanItsParts: a website whose Google credentials fail and whose IndexNow key file is missing is not
// active, and its page says what does not work. What is not known yet is said to be so.
func TestNothingIsGreenerThanItsParts(t *testing.T) {
	a := newPagesApp(t)
	w := a.site("https://example.com/")
	path := "/sites/" + w.ID
	get := func() sites.Website {
		t.Helper()
		w, err := a.Sites.Get(t.Context(), w.ID)
		a.Must(err)
		return w
	}
	_, err := a.Sites.Edit(t.Context(), w.ID, sites.Edit{IndexNowKey: new("12345678")})
	a.Must(err)
	a.google(w)
	a.read(w, "a", "b")
	p := a.Get(path)
	apptest.WantText(t, p, ".state .health", "not checked yet")
	apptest.WantText(t, p, ".state-text", "It is not known yet whether IndexNow accepts submissions")
	apptest.WantText(t, p, ".state-text", "It is not known yet whether Google through sitemaps accepts submissions")
	apptest.WantText(t, a.Get(path+"/not-indexed"), ".empty h2", "No page is verified yet")

	a.Must(a.Sites.KeyChecked(t.Context(), get(), "The key file was not found. Upload it."))
	a.Must(a.Sites.RecordServiceOutcome(t.Context(), get(), sites.SearchConsole, sites.Outcome{Status: sites.Refused, Sitewide: true, Error: "Google refused the key."}))
	p = a.Get(path)
	apptest.WantText(t, p, ".state .health", "failed")
	apptest.WantText(t, p, ".state-text", "Submission to IndexNow and to Google through sitemaps does not work until the error below is fixed.")
	apptest.WantText(t, p, ".state", "IndexNow key file: The key file was not found.")
	apptest.WantText(t, p, ".state", "Search Console: Google refused the key.")
	if got := apptest.Text(p, ".state"); got == "" || p.Find(".state.active").Length() > 0 {
		t.Errorf("got %q", got)
	}

	// One service works, the other does not.
	a.Must(a.Sites.RecordServiceOutcome(t.Context(), get(), sites.SearchConsole, sites.Outcome{Status: sites.Accepted}))
	p = a.Get(path)
	apptest.WantText(t, p, ".state .health", "failed")
	apptest.WantText(t, p, ".state-text", "New and changed pages are submitted to Google through sitemaps. Submission to IndexNow does not work")
	a.Must(a.Sites.KeyChecked(t.Context(), get(), ""))
	a.verified(a.page(w, "/a"), "")
	apptest.WantText(t, a.Get(path), ".state .health", "active")
	apptest.WantText(t, a.Get(path+"/not-indexed"), ".empty h2", "among the 1 verified ones of 2")

	// The website is not active with a broken sitemap.
	m := a.sitemap(w, "https://example.com/broken.xml")
	a.Must(a.Sites.BeginReading(t.Context(), m))
	a.Must(a.Sites.RecordRead(t.Context(), m, sites.ReadResult{Error: "not found"}))
	apptest.WantText(t, a.Get(path), ".state .health", "has errors")
}
