package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"linkwatch/views/ui"
)

// maxPath is the maximum length in bytes of a path in a response header. Many proxies and
// clients reject headers of more than 4 to 8 kB, and a path can contain parts of a request.
const maxPath = 4000

// shorten returns a local path, escaped and of at most size bytes, for a response header. If it
// is too long, it loses its query, so that the same page opens without filters. If the path alone
// is too long, or the URL is not local, the result is "/".
func shorten(address string, size int) string {
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

// With adds a parameter to a local path. The parameter is kept if the path must be shortened.
func With(address, name, value string) string {
	u, err := url.Parse(shorten(address, maxPath-len(name)-len(url.QueryEscape(value))-len("?=")))
	if err != nil { // cannot happen: it was parsed before
		return address
	}
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += name + "=" + url.QueryEscape(value)
	return u.String()
}

// RedirectTo redirects to a local path.
func RedirectTo(c *gin.Context, status int, address string) {
	c.Redirect(status, shorten(address, maxPath))
}

// SeeOther redirects after a POST, so that a reload does not repeat it.
func (f *Frame) SeeOther(c *gin.Context, address string) { RedirectTo(c, http.StatusSeeOther, address) }

// ReplaceURL makes htmx show a local path in the address bar.
func ReplaceURL(c *gin.Context, address string) {
	c.Header("HX-Replace-Url", shorten(address, maxPath))
}

// Back returns the path in the form field "back" without flash parameters, or fallback if it is
// not one of our pages.
func (f *Frame) Back(c *gin.Context, fallback string) string {
	return f.Local(c.PostForm("back"), fallback)
}

// Local returns a path without flash parameters, or fallback if it is not one of our pages.
func (f *Frame) Local(address, fallback string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "" || u.Host != "" || !f.isSection(u.Path) {
		return fallback
	}
	q := u.Query()
	q.Del(ParamDone)
	for _, flash := range f.flashes {
		for _, name := range flash.Params {
			q.Del(name)
		}
	}
	u.RawQuery, u.Fragment = q.Encode(), ""
	return u.String()
}

// isSection reports whether a path is in a section of the navigation. Admin pages do not count:
// forms of other pages are never on them.
func (f *Frame) isSection(path string) bool {
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

// Query returns the parsed query of a local path.
func Query(path string) url.Values {
	u, err := url.Parse(path)
	if err != nil {
		return url.Values{}
	}
	return u.Query()
}
