package pages

import (
	"encoding/json"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
	"linkwatch/views/ui"
)

// Flash is the source of the messages that pages show after actions of a system.
type Flash struct {
	// Params are the query parameters that Read uses.
	Params []string
	// Notices are the messages of Done, by key. Keys are unique across systems.
	Notices map[string]ui.Flash
	// Read returns the message about the last action, with a button to undo it. found is true if
	// the query is about an action of this system; then no other message is shown, even if f is
	// empty. here is the path of the page, for redirects back to it. nil = only notices.
	Read func(c *gin.Context, here string) (f ui.Flash, found bool, err error)
}

// ParamDone is the query parameter with the key of a notice.
const ParamDone = "done"

// Flash returns the message about the last action of any system.
func (f *Frame) Flash(c *gin.Context, here string) (ui.Flash, error) {
	for _, source := range f.flashes {
		if source.Read == nil {
			continue
		}
		if flash, found, err := source.Read(c, here); err != nil || found {
			return flash, err
		}
	}
	return f.Notice(c), nil
}

// Notice returns the notice in the query of the request, if any.
func (f *Frame) Notice(c *gin.Context) ui.Flash { return f.notices[c.Query(ParamDone)] }

// Done redirects to a page that shows a notice, or answers with err.
func (f *Frame) Done(c *gin.Context, err error, path, notice string) {
	if err != nil {
		f.Fail(c, err)
		return
	}
	f.SeeOther(c, With(path, ParamDone, notice))
}

// maxSayText is the maximum length of a text in the header, in characters.
const maxSayText = 500

// Say makes static/app.js show a text after htmx has replaced a part of a page, in place of a flash.
// text must be ASCII, because it is sent in a header.
func Say(c *gin.Context, text string) {
	if text == "" {
		return
	}
	type detail struct {
		Text string `json:"text"`
	}
	header, err := json.Marshal(map[string]detail{"say": {models.Truncate(text, maxSayText)}})
	if err != nil {
		panic(err) // cannot happen: a string has a JSON encoding
	}
	c.Header("HX-Trigger", string(header))
}
