package outbound

import (
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Limits of the outline of a page.
const (
	maxDepth   = 128     // open elements; deeper ones count as part of the last one
	maxNodes   = 1 << 16 // elements
	maxBlocks  = 1 << 16
	maxLinkLen = 1000 // bytes; a link with more text was probably never closed, and does not count

	maxHeadings  = 50
	headingLimit = 200 // runes
)

// block is a run of visible text between two separating elements, such as a paragraph or a table cell.
type block struct {
	from, to int32 // in the visible text
	linked   int32 // bytes in links, except those to fragments of the same page
	node     int32 // index of the innermost node around it
}

// node is an element that separates text.
type node struct {
	parent int32
	tag    atom.Atom // 0 for a custom element
	hints  hint
	facts
}

// outline holds the blocks of a page and the elements around them.
type outline struct {
	nodes  []node // in the order of their start tags; the first is the page
	blocks []block
	stack  []int32 // indexes of the open elements
	deeper int     // number of open elements that are not in stack
	from   int     // start of the current block
	linked int     // bytes of links in the current block
	link   int     // start of the current link, or -1
	broken int     // length of the text at the last <br>
}

func newOutline() outline {
	return outline{
		nodes: make([]node, 1, 128), blocks: make([]block, 0, 128), stack: append(make([]int32, 0, maxDepth), 0), link: -1, broken: -1,
	}
}

func (o *outline) top() int32 { return o.stack[len(o.stack)-1] }

// cut ends the current block. end is the length of the visible text.
func (o *outline) cut(end int) {
	if end == o.from {
		return
	}
	o.countLink(end)
	if len(o.blocks) < maxBlocks {
		o.blocks = append(o.blocks, block{from: int32(o.from), to: int32(end), linked: int32(o.linked), node: o.top()})
	}
	o.from, o.linked = end, 0
}

// countLink adds the part of the current link that is in the current block.
func (o *outline) countLink(end int) {
	if o.link >= 0 && end-o.link < maxLinkLen {
		o.linked += end - max(o.link, o.from)
	}
}

func (o *outline) beginLink(at int) {
	o.link = at
}

func (o *outline) endLink(at int) {
	o.countLink(at)
	o.link = -1
}

// lineBreak handles a <br>. Two without text between them end a block.
func (o *outline) lineBreak(end int) {
	if o.broken == end {
		o.cut(end)
	}
	o.broken = end
}

// start handles the start tag of an element that separates text.
func (o *outline) start(z *html.Tokenizer, name []byte, end int) {
	tag := atom.Lookup(name)
	switch tag {
	case atom.Br:
		o.lineBreak(end)
		return
	case atom.Hr, atom.Input, atom.Col, atom.Frame:
		o.cut(end)
		return
	case atom.Head, atom.Html:
		return
	}
	o.cut(end)
	o.implyEnd(tag)
	if len(o.stack) == maxDepth || len(o.nodes) == maxNodes {
		o.deeper++
		return
	}
	n := node{parent: o.top(), tag: tag}
	if tag != atom.Body {
		n.hints = readHints(z)
	}
	o.stack = append(o.stack, int32(len(o.nodes)))
	o.nodes = append(o.nodes, n)
}

// implyEnd closes elements whose end tag may be omitted before tag (WHATWG HTML, 13.1.2.4).
func (o *outline) implyEnd(tag atom.Atom) {
	for o.deeper == 0 {
		open := o.nodes[o.top()].tag
		switch {
		case open == atom.P:
		case open == tag && (tag == atom.Li || tag == atom.Tr || tag == atom.Option):
		case (open == atom.Td || open == atom.Th) && (tag == atom.Td || tag == atom.Th || tag == atom.Tr):
		case (open == atom.Dt || open == atom.Dd) && (tag == atom.Dt || tag == atom.Dd):
		default:
			return
		}
		o.stack = o.stack[:len(o.stack)-1]
	}
}

// finish handles the end tag of an element that separates text.
func (o *outline) finish(name []byte, end int) {
	tag := atom.Lookup(name)
	if tag == atom.Br {
		o.lineBreak(end)
		return
	}
	o.cut(end)
	if o.deeper > 0 {
		o.deeper--
		return
	}
	for i := len(o.stack) - 1; i > 0; i-- {
		if o.nodes[o.stack[i]].tag == tag {
			o.stack = o.stack[:i]
			return
		}
	}
}

// headings returns the texts of the visible h1, h2 and h3.
func (o *outline) headings(text []byte) (all []string) {
	for i := range o.blocks {
		b := &o.blocks[i]
		n := &o.nodes[b.node]
		if tag := n.tag; n.hints&invisible != 0 || tag != atom.H1 && tag != atom.H2 && tag != atom.H3 {
			continue
		}
		if len(all) == maxHeadings {
			break
		}
		all = append(all, cleanText(string(text[b.from:min(b.to, b.from+utf8.UTFMax*headingLimit)]), headingLimit))
	}
	return all
}
