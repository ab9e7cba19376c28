package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"linkwatch/views/ui"
)

// maxAddress is the longest address in bytes that a page sends in a response
// header. Proxies and clients commonly refuse headers of more than 4 to 8 kB,
// and an address can carry whatever a request held.
const maxAddress = 4000

// bounded returns an address of ours in the form in which a header may hold it:
// escaped, and at most size bytes long. One that is longer loses its query, so
// that it leads to the same page unfiltered, from its beginning. One whose path
// alone is longer becomes "/".
func bounded(address string, size int) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "" || u.Host != "" {
		return "/"
	}
	if s := u.String(); len(s) <= size {
		return s
	}
	u.RawQuery, u.Fragment = "", ""
	if s := u.String(); len(s) <= size {
		return s
	}
	return "/"
}

// With is an address of ours with one more parameter, which stays when the
// address has to be shortened.
func With(address, name, value string) string {
	u, err := url.Parse(bounded(address, maxAddress-len(name)-len(url.QueryEscape(value))-len("?=")))
	if err != nil { // it was parsed before
		return address
	}
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += name + "=" + url.QueryEscape(value)
	return u.String()
}

// RedirectTo sends the browser to an address of ours.
func RedirectTo(c *gin.Context, status int, address string) {
	c.Redirect(status, bounded(address, maxAddress))
}

// SeeOther sends the browser on after a POST, so that a reload repeats nothing.
func (f *Frame) SeeOther(c *gin.Context, address string) { RedirectTo(c, http.StatusSeeOther, address) }

// ReplaceURL makes htmx show an address of ours in the address bar.
func ReplaceURL(c *gin.Context, address string) {
	c.Header("HX-Replace-Url", bounded(address, maxAddress))
}

// Back is the page that a form was on, without what it said: one of ours, or
// fallback if the form does not tell.
func (f *Frame) Back(c *gin.Context, fallback string) string {
	return f.Local(c.PostForm("back"), fallback)
}

// Local is an address if it is that of one of our pages, without what the page
// says about the last action; else fallback.
func (f *Frame) Local(address, fallback string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "" || u.Host != "" || !f.ours(u.Path) {
		return fallback
	}
	q := u.Query()
	q.Del(ParamDone)
	for _, of := range f.flashes {
		for _, name := range of.Params {
			q.Del(name)
		}
	}
	u.RawQuery, u.Fragment = q.Encode(), ""
	return u.String()
}

// ours says whether a path is that of a section, or below it. Admin pages are
// none of them: no form of the other pages is on one.
func (f *Frame) ours(path string) bool {
	for _, s := range f.nav.Sections {
		if slices.ContainsFunc(f.nav.Admin, func(admin ui.Section) bool { return admin.Path == s.Path }) {
			continue
		}
		if path == s.Path || s.Path != "/" && strings.HasPrefix(path, s.Path+"/") {
			return true
		}
	}
	return false
}

// Query is the query of an address of ours.
func Query(path string) url.Values {
	u, err := url.Parse(path)
	if err != nil {
		return url.Values{}
	}
	return u.Query()
}
