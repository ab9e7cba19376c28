package alerts

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/pages"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
	views "linkwatch/views/alerts"
	"linkwatch/views/ui"
)

const (
	choiceSize = 10  // targets to choose from, in addition to the chosen ones
	maxChosen  = 501 // entries read from a list of a form; the store refuses more than 500
)

func postedScope(c *gin.Context) alerts.Scope {
	tags := strings.Split(c.PostForm("tags"), ",")
	for i := range tags {
		tags[i] = strings.TrimSpace(tags[i])
	}
	return alerts.Scope{Targets: chosen(c, "targets"), StatusPages: chosen(c, "status_pages"), Tags: tags, Subjects: postedItems(c)}
}

// postedItems returns the chosen items. A form has them as kind:id.
func postedItems(c *gin.Context) (refs alerts.Refs) {
	for _, text := range chosen(c, "subjects") {
		kind, id, _ := strings.Cut(text, ":")
		refs = append(refs, alerts.Ref{Kind: kind, ID: id})
	}
	return refs
}

// itemChoice returns an item as a choice of a form. Jobs of a source may have the same name.
func itemChoice(item alerts.Item) views.Choice {
	hint := views.KindLabels[item.Kind]
	if item.Kind == alerts.SubjectJob && item.URL != "" {
		hint += " · " + item.URL
	}
	return views.Choice{ID: views.ItemID(item.Ref), Name: item.Name, Hint: hint}
}

// fillItems loads the chosen items, and finds others.
func (p Pages) fillItems(ctx context.Context, refs alerts.Refs, v *views.Scope) error {
	known, err := p.Subjects.Items(ctx, refs)
	if err != nil {
		return err
	}
	for _, r := range refs {
		item, ok := known[r]
		if !ok {
			item = alerts.Item{Ref: r, Name: "deleted item"}
		}
		v.Items = append(v.Items, itemChoice(item))
	}
	if v.Find == "" {
		return nil
	}
	found, err := p.Subjects.FindItems(ctx, v.Find, choiceSize)
	for _, item := range found {
		if !slices.Contains(refs, item.Ref) {
			v.FoundItems = append(v.FoundItems, itemChoice(item))
		}
	}
	return err
}

// chosen returns up to maxChosen values of a form field.
func chosen(c *gin.Context, name string) alerts.List {
	all := c.PostFormArray(name)
	return all[:min(len(all), maxChosen)]
}

// asksAgain reports whether to show the form again with other targets to choose from. The Enter key saves the form unless the search field
// has text.
func asksAgain(c *gin.Context) bool {
	return c.PostForm("save") == "" && (c.PostForm("enter") == "" || strings.TrimSpace(c.PostForm("find")) != "")
}

// fillScope loads the choices of the scope fields. It returns status, or 400 if the search text is invalid.
func (p Pages) fillScope(ctx context.Context, s alerts.Scope, v *views.Scope, status int) (int, error) {
	targets, err := p.Subjects.Targets(ctx, s.Targets)
	if err != nil {
		return status, err
	}
	for _, id := range s.Targets {
		name := "deleted target"
		if t, ok := targets[id]; ok {
			name = t.Name
		}
		v.Chosen = append(v.Chosen, views.Choice{ID: id, Name: name})
	}
	found, more, err := p.Subjects.FindTargets(ctx, v.Find, choiceSize+len(s.Targets))
	problem, err := pages.FilterError(err)
	if problem != "" {
		if v.Errors == nil {
			v.Errors = ui.Errors{}
		}
		v.Errors["find"], status = problem, http.StatusBadRequest
	}
	if err != nil {
		return status, err
	}
	v.More = more
	for _, t := range found {
		if !slices.Contains(s.Targets, t.ID) && len(v.Found) < choiceSize {
			v.Found = append(v.Found, t)
		}
	}
	if v.StatusPages, err = p.Subjects.StatusPages(ctx); err != nil {
		return status, err
	}
	for _, id := range s.StatusPages {
		if !slices.ContainsFunc(v.StatusPages, func(c views.Choice) bool { return c.ID == id }) {
			v.StatusPages = append(v.StatusPages, views.Choice{ID: id, Name: "deleted status page"})
		}
	}
	v.OnPages, v.Tags = s.StatusPages, strings.Join(s.Tags, ", ")
	return status, p.fillItems(ctx, s.Subjects, v)
}

// names returns all channels, and the names of all channels and of the targets and status pages of the scopes.
func (p Pages) names(ctx context.Context, scopes []alerts.Scope) (n views.Names, all []alerts.Channel, err error) {
	n = views.Names{Events: func(k event.Kind) event.Type { return p.Alerts.Type(k) }, Targets: map[string]string{}, StatusPages: map[string]string{}}
	var targets []string
	for _, s := range scopes {
		targets = append(targets, s.Targets[:min(len(s.Targets), views.Named)]...)
	}
	slices.Sort(targets)
	known, err := p.Subjects.Targets(ctx, slices.Compact(targets))
	if err != nil {
		return n, nil, err
	}
	for id, t := range known {
		n.Targets[id] = t.Name
	}
	var refs []alerts.Ref
	for _, s := range scopes {
		refs = append(refs, s.Subjects[:min(len(s.Subjects), views.Named)]...)
	}
	if n.Items, err = p.Subjects.Items(ctx, refs); err != nil {
		return n, nil, err
	}
	statusPages, err := p.Subjects.StatusPages(ctx)
	if err != nil {
		return n, nil, err
	}
	for _, s := range statusPages {
		n.StatusPages[s.ID] = s.Name
	}
	all, err = p.channels(ctx)
	n.Channels = namesOf(all)
	return n, all, err
}
