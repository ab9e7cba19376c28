package pages

import (
	"encoding/json"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
	"linkwatch/views/ui"
)

// Flash is what the pages of a system say after its actions.
type Flash struct {
	// Params are the parameters of an address that Read looks at.
	Params []string
	// Notices are what Done says, by key. Keys are unique across systems.
	Notices map[string]ui.Flash
	// Read returns what the page at a request's address says about the last action,
	// with the way to undo it. found is whether the address names an action of this
	// system: then the page says nothing else, even if there is nothing left to say.
	// here is the address of the page itself, to come back to. nil = only notices.
	Read func(c *gin.Context, here string) (f ui.Flash, found bool, err error)
}

// ParamDone is the parameter that holds the key of a notice.
const ParamDone = "done"

// Flash returns what the page at the request's address says about the last action
// of any system.
func (f *Frame) Flash(c *gin.Context, here string) (ui.Flash, error) {
	for _, of := range f.flashes {
		if of.Read == nil {
			continue
		}
		if flash, found, err := of.Read(c, here); err != nil || found {
			return flash, err
		}
	}
	return f.Notice(c), nil
}

// Notice is the notice that the request's address names.
func (f *Frame) Notice(c *gin.Context) ui.Flash { return f.notices[c.Query(ParamDone)] }

// Done goes on to a page that shows a notice, or fails.
func (f *Frame) Done(c *gin.Context, err error, path, notice string) {
	if err != nil {
		f.Fail(c, err)
		return
	}
	f.SeeOther(c, With(path, ParamDone, notice))
}

// maxSaid is how many characters of a text a header holds at most.
const maxSaid = 500

// Say has static/app.js tell the reader of a part what its page would say in a
// flash. text is in ASCII, as headers are: what follows on a button in a row is.
func Say(c *gin.Context, text string) {
	if text == "" {
		return
	}
	type said struct {
		Text string `json:"text"`
	}
	header, err := json.Marshal(map[string]said{"say": {models.Truncate(text, maxSaid)}})
	if err != nil {
		panic(err) // text always has a JSON form
	}
	c.Header("HX-Trigger", string(header))
}
