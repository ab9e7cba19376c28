package help

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"linkwatch/docs"
	"linkwatch/models"
	views "linkwatch/views/help"
)

// files are the guides in the order of their list. The path of each is /help/ and the name of its file without the
// ending.
var files = []struct{ file, label, about string }{
	{"guide/links.md", "Links", "Save, tag and search links, and find out which of them break."},
	{"guide/watch.md", "Watch", "Check URLs, read uptime and outages, and publish status pages."},
	{"guide/short.md", "Short links", "Choose keys, expiry and visit limits, and count visits."},
	{"guide/crawl.md", "Crawl", "Crawl sites on a schedule, search their pages, and see what changed."},
	{"guide/sites.md", "Sites", "Submit pages to search engines, and find out why they are not indexed."},
	{"guide/alerts.md", "Alerts", "Choose which messages are sent, to whom and when."},
	{"guide/pages.md", "Pages", "Search everything, use the keyboard, and choose colors."},
	{"guide/access.md", "Access", "Accounts, roles, private items, single sign-on and API tokens."},
	{"guide/api.md", "API", "Lists, filters and edits by several clients."},
	{"guide/elasticsearch.md", "Elasticsearch", "Search the texts of crawled pages in Elasticsearch or OpenSearch."},
	{"settings.md", "Settings", "All settings, with their defaults and allowed values."},
	{"operating.md", "Operating", "Install, back up, upgrade, monitor and repair a server."},
	{"postgresql.md", "PostgreSQL", "Create the database, and use poolers and several instances."},
}

// guides returns all guides. They are rendered once, at the first call.
var guides = sync.OnceValues(func() ([]views.Guide, error) {
	all := make([]views.Guide, len(files))
	for i, f := range files {
		markdown, err := docs.FS.ReadFile(f.file)
		if err != nil {
			return nil, fmt.Errorf("read guide: %w", err)
		}
		if all[i], err = render(f.file, markdown); err != nil {
			return nil, fmt.Errorf("render %s: %w", f.file, err)
		}
		all[i].Path, all[i].Label, all[i].About = pathOf(f.file), f.label, f.about
	}
	return all, nil
})

// pathOf returns the path of the guide in a file of docs; "" = it is not served.
func pathOf(file string) string {
	for _, f := range files {
		if f.file == file {
			return views.Path + "/" + strings.TrimSuffix(path.Base(file), ".md")
		}
	}
	return ""
}

// entry is a section with the texts in which words are searched, folded as models.Fold does.
type entry struct {
	views.Found
	title string
	all   string // titles of the guide and the section, and the text of the section
}

// entries returns all sections. They are folded once, at the first call.
var entries = sync.OnceValues(func() (all []entry, err error) {
	found, err := guides()
	for _, g := range found {
		for _, s := range g.Sections {
			text := strings.Join([]string{g.Label, g.Title, s.Title, s.Text}, " ")
			all = append(all, entry{views.Found{Guide: g, Section: s}, models.Fold(s.Title), models.Fold(text)})
		}
	}
	return all, err
})

// find returns up to limit sections that contain all terms of a text. Those with the words in their titles come first.
func find(text string, limit int) ([]views.Found, error) {
	all, err := entries()
	words := terms(models.Fold(text))
	if err != nil || len(words) == 0 {
		return nil, err
	}
	var titles, texts []views.Found
	for _, e := range all {
		switch {
		case containsAll(e.title, words):
			titles = append(titles, e.Found)
		case containsAll(e.all, words):
			e.Excerpt = excerpt(e.Section.Text, words)
			texts = append(texts, e.Found)
		}
	}
	found := slices.Concat(titles, texts)
	return found[:min(limit, len(found))], nil
}

// terms returns the words and "quoted phrases" of a text. A quotation mark without a second one is part of a word.
func terms(text string) (all []string) {
	if strings.Count(text, `"`)%2 == 1 {
		return strings.Fields(text)
	}
	for i, part := range strings.Split(text, `"`) {
		if part = strings.TrimSpace(part); i%2 == 0 {
			all = append(all, strings.Fields(part)...)
		} else if part != "" {
			all = append(all, part)
		}
	}
	return all
}

func containsAll(text string, words []string) bool {
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
}

// Lengths of excerpts in bytes.
const (
	excerptLength = 180
	excerptBefore = 60 // before the first match
)

// excerpt returns the part of a text around the first of the words that it contains.
func excerpt(text string, words []string) string {
	lower, at := strings.ToLower(text), -1
	for _, word := range words {
		if at = strings.Index(lower, word); at >= 0 {
			break
		}
	}
	from := min(max(0, at-excerptBefore), len(text))
	if space := strings.IndexByte(text[from:], ' '); from > 0 && space >= 0 {
		from += space + 1
	}
	short := text[from:]
	if len(short) > excerptLength {
		short = short[:strings.LastIndexByte(short[:excerptLength], ' ')+1] + "…"
	}
	if from > 0 {
		short = "… " + short
	}
	return short
}
