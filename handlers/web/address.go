package web

import (
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"
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

// with is an address of ours with one more parameter, which stays when the
// address has to be shortened.
func with(address, name, value string) string {
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

// seeOther sends the browser on after a POST, so that a reload repeats nothing.
func (p *Pages) seeOther(c *gin.Context, address string) { RedirectTo(c, http.StatusSeeOther, address) }

// replaceURL makes htmx show an address of ours in the address bar.
func replaceURL(c *gin.Context, address string) {
	c.Header("HX-Replace-Url", bounded(address, maxAddress))
}
