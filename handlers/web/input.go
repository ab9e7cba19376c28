package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
	"linkwatch/models/links"
	views "linkwatch/views/links"
	"linkwatch/views/ui"
)

// pageNumber reads the parameter "page".
func pageNumber(q url.Values) (models.Page, error) {
	n := 0
	if s := q.Get("page"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			n = -1 // NewPage says what is allowed
		}
	}
	return models.NewPage(n, models.DefaultPerPage)
}

// placeOf reads where in the list of links a request, or the address of one, is.
func placeOf(q url.Values) (views.Place, models.Page, error) {
	at := views.Place{Filter: links.Filter{Query: strings.TrimSpace(q.Get("q")), Tag: q.Get("tag")}}
	page, err := pageNumber(q)
	if err != nil {
		return at, page, err
	}
	at.Page = page.Number
	if at.Health, err = links.ParseHealth(q.Get("health")); err != nil {
		return at, page, err
	}
	if at.Shown, err = links.ParseShown(q.Get("expired")); err != nil {
		return at, page, err
	}
	at.Popular = q.Get("sort") == "popular" && !at.Filtered()
	return at, page, nil
}

// tagNames splits a field of tags at its commas.
func tagNames(typed string) []string {
	var names []string
	for name := range strings.SplitSeq(typed, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// The parameters that make a page say what was just done.
const (
	paramChange   = "change"   // id of a change that can be undone
	paramDone     = "done"     // key of notices
	paramSaved    = "saved"    // id of a link that was just saved
	paramKnown    = "known"    // id of a link that was saved before
	paramUntagged = "untagged" // name of a tag that was just taken off the link
	paramAdded    = "added"    // id of a target that was just added
	paramWatched  = "watched"  // id of a target that was added before
	paramChecked  = "checked"  // id of a target that was just checked
	paramResting  = "resting"  // id of a target that was not checked, for its host asked for a pause
	paramDeleted  = "deleted"  // id of a target that was just deleted
	paramMade     = "made"     // key of a short link that was just made
	paramRemoved  = "removed"  // key of a short link that was just deleted
)

// said are all of them.
var said = []string{
	paramChange, paramDone, paramSaved, paramKnown, paramUntagged, paramAdded, paramWatched, paramChecked, paramResting, paramDeleted,
	paramMade, paramRemoved,
}

// back is the page that a form was on, without what it said: one of ours, or
// fallback if the form does not tell.
func back(c *gin.Context, fallback string) string { return localPath(c.PostForm("back"), fallback) }

func localPath(address, fallback string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "" || u.Host != "" || !ours(u.Path) {
		return fallback
	}
	q := u.Query()
	for _, name := range said {
		q.Del(name)
	}
	u.RawQuery, u.Fragment = q.Encode(), ""
	return u.String()
}

func ours(path string) bool {
	switch path {
	case "/", "/links", "/tags", "/watch", "/short":
		return true
	}
	return strings.HasPrefix(path, "/links/") || strings.HasPrefix(path, "/watch/") || strings.HasPrefix(path, "/short/")
}

// formErrors are the messages of an error that the reader of a form can mend,
// by field; ok is false for any other error. What concerns no field of the form
// is put to fallback.
func formErrors(err error, fallback string, fields ...string) (e ui.Errors, ok bool) {
	m, is := asModelError(err)
	if !is {
		return nil, false
	}
	switch m.Code {
	case models.CodeInvalid, models.CodeTooManyTags, models.CodeUnresolvable, models.CodeBlocked, models.CodeUnavailable:
	default:
		return nil, false
	}
	e = ui.Errors{}
	for _, f := range m.Fields {
		name, _, _ := strings.Cut(f.Location, "[") // "tags[2]" is in the field "tags"
		message := sentence(f.Message)
		for _, known := range fields {
			if name == known {
				e[name] = message
			}
		}
	}
	if len(e) == 0 {
		e[fallback] = m.Detail
	}
	return e, true
}

// sentence makes a whole sentence of the message of a field.
func sentence(message string) string { return strings.ToUpper(message[:1]) + message[1:] + "." }

// filterError is what the search field of a list says about an error of one of
// the list's text filters; "" for any other error.
func filterError(err error) string {
	m, ok := asModelError(err)
	if !ok || m.Code != models.CodeInvalid {
		return ""
	}
	for _, f := range m.Fields {
		switch f.Location {
		case "query.q":
			return sentence(f.Message)
		case "query.tag", "query.host": // they have no field of their own
			return sentence(strings.TrimPrefix(f.Location, "query.") + " " + f.Message)
		}
	}
	return ""
}

// showFilterError answers htmx with what is wrong with a list's filter: only
// that changes on the page.
func (p *Pages) showFilterError(c *gin.Context, message string) {
	c.Header("HX-Retarget", "#q-error")
	c.Header("HX-Reswap", "outerHTML")
	p.show(c, http.StatusBadRequest, ui.QueryError(message))
}
