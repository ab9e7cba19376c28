package targets

import (
	"fmt"
	"html"
	"strings"

	"linkwatch/models/targets"
	"linkwatch/views/ui"
)

// StatusPages is the list of status pages.
type StatusPages struct {
	ui.Page
	Pages []targets.StatusPage
}

// StatusEdit is the page with the form of a status page.
type StatusEdit struct {
	ui.Page
	Saved   targets.StatusPage // as stored; zero = a new one
	Form    StatusForm
	BaseURL string // of this instance, for the URLs to copy
}

// StatusForm is the form of a status page as submitted.
type StatusForm struct {
	Title, Slug, Description string
	Chosen                   []targets.Target // in the page's order
	Find                     string           // text of the search for targets
	Found                    []targets.Target // targets to choose from
	More                     bool             // there are more targets to choose from
	Errors                   ui.Errors
}

// StatusDelete is the page that asks for confirmation before a status page is deleted.
type StatusDelete struct {
	ui.Page
	Status targets.StatusPage
}

// StatusNewPath is the path of the form for a new status page.
const StatusNewPath = "/status/new"

func (v StatusEdit) isNew() bool { return v.Saved.ID == "" }

func (v StatusEdit) title() string {
	if v.isNew() {
		return "Add status page"
	}
	return v.Saved.Title
}

// action is the path that the form posts to.
func (v StatusEdit) action() string {
	if v.isNew() {
		return "/status"
	}
	return StatusEditPath(v.Saved.Slug)
}

// markdown and markup return the badges of a target: images that link to the status page.

func (v StatusEdit) markdown(t targets.Target) string {
	return v.snippet(t, func(page, src, alt string) string {
		return fmt.Sprintf("[![%s](%s)](%s)", markdownEscapes.Replace(alt), src, page)
	})
}

func (v StatusEdit) markup(t targets.Target) string {
	return v.snippet(t, func(page, src, alt string) string {
		return fmt.Sprintf(`<a href="%s"><img src="%s" alt="%s"></a>`, html.EscapeString(page), html.EscapeString(src), html.EscapeString(alt))
	})
}

func (v StatusEdit) snippet(t targets.Target, line func(page, src, alt string) string) string {
	var lines []string
	for _, b := range offeredBadges {
		lines = append(lines, line(v.BaseURL+StatusPath(v.Saved.Slug), v.BaseURL+badgePath(t.ID, b.kind, b.within), t.DisplayTitle()+": "+badgeNames[b.kind]))
	}
	return strings.Join(lines, "\n")
}

// markdownEscapes escapes text within the brackets of a Markdown link.
var markdownEscapes = strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "`", "\\`", "*", `\*`, "_", `\_`, "<", "&lt;", "&", "&amp;")

// EditedPage are the stored values of the form of a status page.
func EditedPage(p targets.StatusPage) ui.Edited {
	ids := make([]string, len(p.Targets))
	for i, t := range p.Targets {
		ids[i] = t.ID
	}
	return ui.Edited{}.Text("title", "Title", p.Title).Text("slug", "Slug", p.Slug).Text("description", "Description", p.Description).
		Multiple("target", "Targets", ids)
}
