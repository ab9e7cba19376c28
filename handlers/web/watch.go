package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
	"linkwatch/models/targets"
	views "linkwatch/views/targets"
	"linkwatch/views/ui"
)

const targetsSize = 100 // targets on a page of the list

// watchPlaceOf reads where in the list of targets a request, or the address of one, is.
func watchPlaceOf(q url.Values) (views.WatchPlace, models.Cursor, error) {
	at := views.WatchPlace{Filter: targets.Filter{Text: models.CleanLine(q.Get("q")), Host: models.CleanLine(q.Get("host"))}}
	var err error
	if at.Status, err = targets.ParseStatus(q.Get("status")); err != nil {
		return at, models.Cursor{}, err
	}
	if at.Certificate, err = targets.ParseCertificate(q.Get("certificate")); err != nil {
		return at, models.Cursor{}, err
	}
	at.Token = q.Get("page_token")
	after, err := models.ParseToken(at.Token)
	return at, after, err
}

// WatchPage is the list of targets, and for htmx its rows.
func (p *Pages) WatchPage(c *gin.Context) {
	v := views.Watch{Add: views.TargetForm{URL: models.CleanLine(c.Query("url"))}}
	at, after, err := watchPlaceOf(c.Request.URL.Query())
	if err == nil {
		v.Flash, err = p.flash(c, at.Path())
	}
	if err != nil {
		p.fail(c, err)
		return
	}
	replaceURL(c, at.Path())
	if wantsPart(c.Request) {
		say(c, v.Flash.Text)
	}
	p.showWatch(c, http.StatusOK, v, at, after)
}

// showWatch fills in the list at a place and shows it; v has what was typed.
func (p *Pages) showWatch(c *gin.Context, status int, v views.Watch, at views.WatchPlace, after models.Cursor) {
	ctx := c.Request.Context()
	v.Page, v.Place = p.page("Watch", "watch", v.Flash), at
	v.Search = true
	v.Interval = p.Targets.Options().CheckInterval
	v.Intervals = views.Intervals(v.Interval, 0)
	var err error
	v.Targets, err = p.Targets.List(ctx, at.Filter, after, targetsSize)
	if v.Query = filterError(err); v.Query != "" {
		err, status = nil, http.StatusBadRequest
		if wantsPart(c.Request) {
			p.showFilterError(c, v.Query)
			return
		}
	}
	if err == nil {
		v.Counts, err = p.Targets.Counts(ctx)
	}
	if err != nil {
		p.fail(c, err)
		return
	}
	p.showPart(c, status, views.WatchPage(v), views.TargetsList(v))
}

// maxSaid is how many characters of a text a header holds at most.
const maxSaid = 500

// say has static/app.js tell the reader of a part what its page would say in a
// flash. text is in ASCII, as headers are: what follows on a button in a row is.
func say(c *gin.Context, text string) {
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

// The fields of the form of a target, by the names of the store's errors.
var targetFields = []string{
	"url", "name", "interval_seconds", "expect.status", "expect.keyword", "expect.keyword_absent", "expect.max_latency_ms",
}

// targetForm reads the form of a target.
func targetForm(c *gin.Context) views.TargetForm {
	return views.TargetForm{
		URL: c.PostForm("url"), Name: c.PostForm("name"), Interval: c.PostForm("interval_seconds"),
		Status: c.PostForm("status"), Keyword: c.PostForm("keyword"), Absent: c.PostForm("keyword_absent"),
		Latency: c.PostForm("max_latency_ms"),
	}
}

// numberOf reads a field that holds a number, or nothing for 0; what is no
// number is -1, which the store refuses with the words for it.
func numberOf(typed string) int {
	if typed = strings.TrimSpace(typed); typed == "" {
		return 0
	}
	n, err := strconv.Atoi(typed)
	if err != nil {
		return -1
	}
	return n
}

func expectOf(f views.TargetForm) targets.Expect {
	return targets.Expect{Status: f.Status, Keyword: f.Keyword, Absent: f.Absent, MaxLatencyMS: numberOf(f.Latency)}
}

// AddTarget watches what the form on the list, or the button on a link, holds.
func (p *Pages) AddTarget(c *gin.Context) {
	form := targetForm(c)
	t, created, err := p.Targets.Add(c.Request.Context(), targets.New{
		URL: models.RepairURL(form.URL), Name: form.Name, IntervalSeconds: numberOf(form.Interval), Expect: expectOf(form),
	})
	if errs, ok := formErrors(err, "url", targetFields...); ok {
		form.Errors = errs
		status := p.formStatus(c, err)
		p.showWatch(c, status, views.Watch{Add: form}, views.WatchPlace{}, models.Cursor{})
		return
	}
	if err != nil {
		p.fail(c, err)
		return
	}
	param := paramWatched
	if created {
		param = paramAdded
	}
	p.seeOther(c, with(back(c, "/watch"), param, t.ID))
}

// targetFlash is what a page has to say about the last action on a target, or
// else the notice that its address names.
func (p *Pages) targetFlash(c *gin.Context) (ui.Flash, error) {
	if id := c.Query(paramDeleted); models.CheckID(models.KindTarget, id) == nil {
		return ui.Flash{
			Text:   "The target is deleted, and is not checked any more.",
			Action: ui.Action{Label: "Undo", Path: "/watch/" + id + "/restore"},
		}, nil
	}
	for _, param := range []string{paramAdded, paramWatched, paramChecked, paramResting} {
		if id := c.Query(param); id != "" {
			t, err := p.Targets.Get(c.Request.Context(), id)
			if models.CodeOf(err) == models.CodeNotFound {
				return ui.Flash{}, nil
			}
			return flashOf(t, param, p.Targets.Now()), err
		}
	}
	return notices[c.Query(paramDone)], nil
}

func flashOf(t targets.Target, param string, now models.Time) ui.Flash {
	details := ui.Link{Label: "Details", Path: "/watch/" + t.ID}
	switch {
	case param == paramAdded:
		return ui.Flash{Text: "Watching " + t.Title() + ".", Link: details}
	case param == paramWatched:
		return ui.Flash{Text: "You watch this already; nothing was changed.", Link: details}
	case param == paramResting && t.Resting(now):
		wait := ui.Lasted(t.NextCheckAt.Sub(now.Time))
		return ui.Flash{Text: "Checks of this target are postponed. The next check is in " + wait + ".", Bad: true}
	case param == paramResting: // the pause is over meanwhile
		return ui.Flash{}
	case len(t.Beats) == 0: // the check was told of, but is gone
		return ui.Flash{}
	}
	switch last := t.Beats[len(t.Beats)-1]; last.Outcome {
	case targets.DownOutcome:
		return ui.Flash{Text: "Checked: down, " + t.LastError + ".", Bad: true}
	case targets.ThrottledOutcome:
		return ui.Flash{Text: "Checked: " + t.LastError + ".", Bad: true}
	case targets.UpOutcome:
	}
	return ui.Flash{Text: fmt.Sprintf("Checked: up, status %d in %s.", t.LastStatusCode, ui.Latency(t.LastLatencyMS))}
}
