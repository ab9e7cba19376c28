package sites

import (
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/views/ui"
)

// paramSiteDeleted is the parameter with the id of a website that was just deleted.
const paramSiteDeleted = "site_deleted"

// notices are what pages say after actions that need no more words.
var notices = map[string]ui.Flash{
	"site_added":           {Text: "Added. Sitemaps that robots.txt names are read within moments. Add others below."},
	"site_restored":        {Text: "The website is restored."},
	"credentials_saved":    {Text: "The credentials are saved, encrypted. Test them next."},
	"credentials_removed":  {Text: "The credentials are removed. Nothing is submitted to Google any more."},
	"indexnow_key":         {Text: "The key is saved. Put the key file on the website, then check it."},
	"indexnow_stopped":     {Text: "IndexNow is no longer used."},
	"indexnow_found":       {Text: "The key file is there and has the right key."},
	"indexnow_not_found":   {Text: "The key file was not found. The reason is below.", Bad: true},
	"sitemap_added":        {Text: "Added. The sitemap is read within moments."},
	"sitemap_known":        {Text: "The website has this sitemap already. It is read again within moments."},
	"sitemap_deleted":      {Text: "The sitemap is deleted. Pages that no other sitemap has are marked as gone within moments."},
	"sitemaps_wanted":      {Text: "The sitemaps are read within moments."},
	"site_crawl_without":   {Text: "There is nothing to crawl yet: no sitemap has a page.", Bad: true},
	"credentials_untested": {Text: "There are no credentials to test. Save them first.", Bad: true},

	"pages_none":       {Text: "Select pages first.", Bad: true},
	"page_boosted":     {Text: "The page has the highest priority."},
	"page_priority":    {Text: "The priority is saved."},
	"page_reset":       {Text: "The automatic priority counts again."},
	"page_submit":      {Text: "The page is submitted within moments."},
	"page_verify":      {Text: "Google is asked about the page within moments."},
	"page_remove":      {Text: "The removal is submitted within moments."},
	"pages_undone":     {Text: "The priorities are as they were."},
	"pages_not_undone": {Text: "Could not undo: the priorities have changed since.", Bad: true},
	"pages_nothing":    {Text: "There is nothing to submit with. Add Google credentials or an IndexNow key to the website first.", Bad: true},
	"pages_no_google":  {Text: "Only Google can say whether a page is indexed. Add Google credentials to the website first.", Bad: true},
}

// Flashes are what pages say after actions on websites.
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
			Text:   "The website is deleted with its sitemaps and pages.",
			Action: ui.Action{Label: "Undo", Path: "/sites/" + id + "/restore"},
		}, true, nil
	}
	f, found = p.pageFlash(c, here)
	return f, found, nil
}
