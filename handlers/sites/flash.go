package sites

import (
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/views/ui"
)

// paramSiteDeleted is the query parameter with the ID of the website that was just deleted.
const paramSiteDeleted = "site_deleted"

// notices are the messages without parameters that pages show after actions.
var notices = map[string]ui.Flash{
	"site_added":           {Text: "Website added. The first read of the sitemaps listed in robots.txt starts within seconds. Add others below."},
	"site_restored":        {Text: "Website restored."},
	"credentials_saved":    {Text: "Credentials saved. Test them now."},
	"credentials_removed":  {Text: "Credentials removed. Linkwatch sends no more requests to Google for this website."},
	"indexnow_key":         {Text: "Key saved. Upload the key file to the website, then check it."},
	"indexnow_stopped":     {Text: "IndexNow disabled."},
	"indexnow_found":       {Text: "Key file found. The key is correct."},
	"indexnow_not_found":   {Text: "Key file not found. The reason is below.", Bad: true},
	"sitemap_added":        {Text: "Sitemap added. The first read starts within seconds."},
	"sitemap_known":        {Text: "The website already has this sitemap. Linkwatch will read it again within seconds."},
	"sitemap_deleted":      {Text: "Sitemap deleted. Pages in no other sitemap will be marked as gone within seconds."},
	"sitemaps_requested":   {Text: "Linkwatch will read the sitemaps within seconds."},
	"site_crawl_without":   {Text: "No pages to crawl. Add a sitemap with pages first.", Bad: true},
	"credentials_untested": {Text: "No credentials to test. Save them first.", Bad: true},

	"pages_none":       {Text: "Select pages first.", Bad: true},
	"page_boosted":     {Text: "Priority set to 100."},
	"page_priority":    {Text: "Priority saved."},
	"page_reset":       {Text: "Priority reset to automatic."},
	"page_submit":      {Text: "Submission requested."},
	"page_verify":      {Text: "Verification requested."},
	"page_remove":      {Text: "Removal requested."},
	"pages_undone":     {Text: "Priorities restored."},
	"pages_not_undone": {Text: "Could not undo: these priorities have changed since.", Bad: true},
	"pages_nothing":    {Text: "The website has no Google credentials and no IndexNow key. Add one first.", Bad: true},
	"pages_no_google":  {Text: "Verification needs Google credentials. Add them to the website first.", Bad: true},
}

// Flashes returns the messages that pages show after actions on websites.
func (p Pages) Flashes() pages.Flash {
	return pages.Flash{
		Params:  append([]string{paramSiteDeleted}, pageParams...),
		Read:    p.flash,
		Notices: notices,
	}
}

func (p Pages) flash(c *gin.Context, here string) (f ui.Flash, found bool, err error) {
	if id := c.Query(paramSiteDeleted); models.CheckID(models.KindWebsite, id) == nil {
		return ui.Flash{
			Text:   "Website deleted, with its sitemaps and pages.",
			Action: ui.Action{Label: "Undo", Path: "/sites/" + id + "/restore"},
		}, true, nil
	}
	f, found = p.pageFlash(c, here)
	return f, found, nil
}
