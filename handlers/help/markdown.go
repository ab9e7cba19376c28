package help

import (
	"bytes"
	"net/url"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	views "linkwatch/views/help"
)

// converter reads the Markdown of the guides. It renders no raw HTML and no inline styles. Its output is not sanitized,
// because it comes only from files of the program.
var converter = goldmark.New(
	goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
)

// scrolling makes code and tables scroll by themselves, also with the keyboard. In texts, goldmark escapes "<".
var scrolling = strings.NewReplacer(
	"<pre>", `<pre tabindex="0">`,
	"<table>", `<div class="scroll" role="group" aria-label="Table" tabindex="0"><table>`,
	"</table>", "</table></div>",
)

// anchor precedes the ids of headings, so that they differ from those of the page frame.
const anchor = "about-"

// render returns the title, the sections and the HTML of a guide. file is its name in the folder docs.
func render(file string, markdown []byte) (views.Guide, error) {
	doc := converter.Parser().Parse(text.NewReader(markdown))
	g := guide{file: file, source: markdown}
	g.sections(doc)
	if err := ast.Walk(doc, g.edit); err != nil {
		return views.Guide{}, err
	}
	for _, n := range g.unwanted {
		n.Parent().RemoveChild(n.Parent(), n)
	}
	var html bytes.Buffer
	if err := converter.Renderer().Render(&html, markdown, doc); err != nil {
		return views.Guide{}, err
	}
	g.HTML = scrolling.Replace(html.String())
	return g.Guide, nil
}

// guide is a guide while it is rendered.
type guide struct {
	views.Guide
	file     string
	source   []byte
	unwanted []ast.Node // nodes to remove
}

// sections sets Title and Sections. The first section has the title of the guide and the text before the next heading.
func (g *guide) sections(doc ast.Node) {
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			s := views.Section{Title: g.plain(n), Level: h.Level}
			if h.Level == 1 {
				g.Title = s.Title
				g.unwanted = append(g.unwanted, n) // the page has it
			} else {
				id, _ := n.AttributeString("id")
				s.ID = anchor + string(id.([]byte))
				n.SetAttributeString("id", []byte(s.ID))
			}
			g.Sections = append(g.Sections, s)
		} else if last := len(g.Sections) - 1; last >= 0 && n.Kind() != ast.KindHTMLBlock {
			g.Sections[last].Text = strings.TrimSpace(g.Sections[last].Text + " " + g.plain(n))
		}
	}
}

// plain returns the text of a node in one line.
func (g *guide) plain(n ast.Node) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // this function returns no error
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(g.source))
			} else if n.SoftLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.FencedCodeBlock:
			if entering {
				b.Write(n.Lines().Value(g.source))
			}
		case *ast.Image:
			return ast.WalkSkipChildren, nil
		default:
			if !entering && n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// edit changes a node for a page of this server: it leaves out images and comments, resolves links, and links headings
// to themselves.
func (g *guide) edit(n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	switch n := n.(type) {
	case *ast.HTMLBlock:
		g.unwanted = append(g.unwanted, n)
	case *ast.Image:
		if p := n.Parent(); p.ChildCount() == 1 { // the paragraph has nothing else
			g.unwanted = append(g.unwanted, p)
		} else {
			g.unwanted = append(g.unwanted, n)
		}
		return ast.WalkSkipChildren, nil
	case *ast.Link:
		to, file := destination(g.file, string(n.Destination))
		if to == "" {
			g.unlink(n, file)
		}
		n.Destination = []byte(to)
	case *ast.Heading:
		if id, ok := n.AttributeString("id"); ok && n.Level > 1 {
			self := ast.NewLink()
			self.Destination = append([]byte("#"), id.([]byte)...)
			moveChildren(self, n)
			n.AppendChild(n, self)
			return ast.WalkSkipChildren, nil
		}
	}
	return ast.WalkContinue, nil
}

// unlink replaces a link to a file by its text, followed by the name of the file if that differs.
func (g *guide) unlink(n *ast.Link, file string) {
	name := ast.NewString([]byte(" (" + file + ")"))
	if g.plain(n) == file {
		name.Value = nil
	}
	words := ast.NewTextBlock()
	moveChildren(words, n)
	for child := words.FirstChild(); child != nil; child = words.FirstChild() {
		n.Parent().InsertBefore(n.Parent(), n, child)
	}
	n.Parent().InsertBefore(n.Parent(), n, name)
	g.unwanted = append(g.unwanted, n)
}

func moveChildren(to, from ast.Node) {
	for child := from.FirstChild(); child != nil; child = from.FirstChild() {
		to.AppendChild(to, child)
	}
}

// home is the address of the server in the guides.
const home = "http://127.0.0.1:8080"

// destination returns the URL of a link in a guide. It is "" if the link names a file that is not served: file is then
// the name of that file in the repository.
func destination(guide, link string) (to, file string) {
	if local, ok := strings.CutPrefix(link, home); ok {
		return local, ""
	}
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "" {
		return link, ""
	}
	if u.Fragment != "" {
		to = "#" + anchor + u.Fragment
	}
	if u.Path == "" {
		return to, ""
	}
	file = path.Join("docs", path.Dir(guide), u.Path)
	if served := pathOf(strings.TrimPrefix(file, "docs/")); served != "" {
		return served + to, ""
	}
	return "", file
}
