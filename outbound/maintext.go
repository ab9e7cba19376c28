package outbound

import (
	"bytes"

	"golang.org/x/net/html/atom"
)

// Parameters of the classification, tuned with TestExtractionFigures (docs/adr/0020-text-extraction.md).
const (
	enoughText   = 500 // bytes; with less main text, weaker rules are tried
	leastText    = 150 // bytes, about 25 words; with less, the page has no main text
	scoredBlock  = 25  // bytes; a shorter block adds no score
	proseBlock   = 80  // bytes; a longer block is probably a paragraph
	shortElement = 2000
)

// facts are computed for an element after the page was parsed. Sizes are in bytes.
type facts struct {
	out          bool    // excluded from the main text
	last         int32   // index of its last descendant
	text, linked int32   // all text, and text in links
	kept, prose  int32   // text that is not excluded, and the part of it in probable paragraphs
	score        float32 // a higher score is more likely the main text
}

// rules say how much class names and ids count in the choice of the main text.
type rules uint8

const (
	anyHints    rules = iota // not at all
	weightHints              // they raise and lower the score
	dropHints                // unlikely elements are excluded too
)

// main returns the main text: that of the element with the best score and of similar siblings, without lists of links. The
// score depends on the length and the links of blocks. Each step is one pass over blocks or elements.
func (o *outline) main(text []byte) string {
	o.measure(text)
	best := ""
	for r := dropHints; ; r-- {
		o.begin(r)
		o.scoreBlocks(text)
		if s := o.take(text, o.best(), r); len(s) > len(best) {
			best = s
		}
		if len(best) >= enoughText {
			return best
		}
		if r == anyHints {
			break
		}
	}
	if len(best) < leastText || len(best) < int(o.nodes[0].text)/8 && o.nodes[0].text < shortElement {
		return o.join(text, func(b *block) bool { return o.nodes[b.node].hints&invisible == 0 })
	}
	return best
}

// measure adds up the text of each element. Elements come after their parents.
func (o *outline) measure(text []byte) {
	for i := range o.nodes {
		n := &o.nodes[i]
		n.last = int32(i)
		n.hints |= o.nodes[n.parent].hints & invisible
	}
	for i := range o.blocks {
		b := &o.blocks[i]
		if text[b.from] == ' ' {
			b.from++
		}
		n := &o.nodes[b.node]
		n.text += b.to - b.from
		n.linked += min(b.linked, b.to-b.from)
	}
	for i := len(o.nodes) - 1; i > 0; i-- {
		n := &o.nodes[i]
		up := &o.nodes[n.parent]
		up.text += n.text
		up.linked += n.linked
		up.last = max(up.last, n.last)
	}
}

// density is the share of link text, from 0 to 1.
func (n *node) density() float32 { return float32(n.linked) / float32(max(n.text, 1)) }

func (n *node) weight() (w float32) {
	if n.hints&favored != 0 {
		w += 25
	}
	if n.hints&disfavored != 0 {
		w -= 25
	}
	return w
}

// begin sets the initial scores of elements, from their tags and hints.
func (o *outline) begin(r rules) {
	for i := range o.nodes {
		n := &o.nodes[i]
		n.score, n.kept, n.prose = 0, 0, 0
		n.out = n.hints&invisible != 0 || o.nodes[n.parent].out && i > 0 || isBoilerplate(n.tag) ||
			r == dropHints && n.hints&(unlikely|likely) == unlikely && isContainer(n.tag)
		if !n.out {
			n.score = tagScore(n.tag)
			if r >= weightHints {
				n.score += n.weight()
			}
		}
	}
}

// scoreBlocks adds the score of each block to its ancestors: the outer ones get a smaller share.
func (o *outline) scoreBlocks(text []byte) {
	for i := range o.blocks {
		b := &o.blocks[i]
		n, size := &o.nodes[b.node], b.to-b.from
		if n.out {
			continue
		}
		n.kept += size
		if size >= proseBlock && 3*b.linked < size {
			n.prose += size
		}
		if size < scoredBlock {
			continue
		}
		score := 1 + float32(bytes.Count(text[b.from:b.to], []byte(","))) + float32(min(size/100, 3))
		at := b.node
		if n.last == at {
			at = n.parent // the paragraph itself is not a candidate
		}
		for _, share := range [...]float32{1, 1. / 2, 1. / 6, 1. / 9, 1. / 12} {
			o.nodes[at].score += score * share
			if at == 0 {
				break
			}
			at = o.nodes[at].parent
		}
	}
	for i := len(o.nodes) - 1; i > 0; i-- {
		n := &o.nodes[i]
		up := &o.nodes[n.parent]
		up.kept += n.kept
		up.prose += n.prose
		n.score *= 1 - n.density()
	}
	o.nodes[0].score *= 1 - o.nodes[0].density()
}

// best returns the element that holds the main text.
func (o *outline) best() int32 {
	top := int32(0)
	for i := range o.nodes {
		if n := &o.nodes[i]; !n.out && n.score > o.nodes[top].score {
			top = int32(i)
		}
	}
	// An ancestor that scores more than its child is better: it has the text in several children.
	least := o.nodes[top].score / 3
	below := o.nodes[top].score
	for at := o.nodes[top].parent; at > 0 && o.nodes[at].score >= least; at = o.nodes[at].parent {
		if o.nodes[at].score > below {
			top = at
			break
		}
		below = o.nodes[at].score
	}
	// So is one with 30% more paragraph text and little other text.
	for at := o.nodes[top].parent; at > 0; at = o.nodes[at].parent {
		if n := &o.nodes[at]; 10*int64(n.prose) > 13*int64(o.nodes[top].prose) && 4*int64(n.prose) > 3*int64(n.kept) {
			top = at
		}
	}
	return top
}

// take returns the text of an element and of similar siblings.
func (o *outline) take(text []byte, top int32, r rules) string {
	if r > anyHints {
		o.clean(top)
	}
	t := &o.nodes[top]
	least, up := max(10, t.score/5), t.parent
	return o.join(text, func(b *block) bool {
		at := b.node
		switch {
		case o.nodes[at].out:
			return false
		case at >= top && at <= t.last:
			return true
		case top == 0 || at <= up || at > o.nodes[up].last:
			return false
		}
		for o.nodes[at].parent != up {
			at = o.nodes[at].parent
		}
		n := &o.nodes[at]
		return n.score >= least || n.tag == atom.P && n.text > proseBlock && n.density() < 0.25
	})
}

// clean excludes descendants of an element that are mostly links, or whose hints say that they are not main text.
func (o *outline) clean(top int32) {
	for i := top + 1; i <= o.nodes[top].last; i++ {
		n := &o.nodes[i]
		if n.out = n.out || o.nodes[n.parent].out; n.out || !isContainer(n.tag) || n.tag == atom.P {
			continue
		}
		w, d := n.weight(), n.density()
		manyLinks := d > 0.5 || d > 0.2 && w < 25 && n.text < shortElement
		n.out = w < 0 || manyLinks && 10*int64(n.prose) < 3*int64(n.kept)
	}
}

// join returns the blocks for which keep is true, one per line.
func (o *outline) join(text []byte, keep func(*block) bool) string {
	out := make([]byte, 0, min(len(text), textLimit)/2)
	for i := range o.blocks {
		b := &o.blocks[i]
		if !keep(b) {
			continue
		}
		if len(out) > 0 {
			out = append(out, '\n')
		}
		if out = append(out, text[b.from:b.to]...); len(out) > textLimit {
			return string(bytes.TrimRight(trimPartial(out[:textLimit]), " \n"))
		}
	}
	return string(out)
}

// isContainer reports whether the class of an element usually describes its content.
func isContainer(tag atom.Atom) bool {
	switch tag {
	case 0, atom.Div, atom.Fieldset, atom.Form, atom.Header, atom.Ol, atom.P, atom.Section, atom.Table, atom.Ul:
		return true
	}
	return false
}

// isBoilerplate reports whether an element never contains main text.
func isBoilerplate(tag atom.Atom) bool {
	switch tag {
	case atom.Aside, atom.Button, atom.Dialog, atom.Footer, atom.Nav, atom.Option, atom.Select, atom.Textarea:
		return true
	}
	return false
}

func tagScore(tag atom.Atom) float32 {
	switch tag {
	case atom.Article, atom.Main:
		return 15
	case atom.Div:
		return 5
	case atom.Blockquote, atom.Pre, atom.Td:
		return 3
	case atom.Address, atom.Dd, atom.Dl, atom.Dt, atom.Form, atom.Li, atom.Ol, atom.Ul:
		return -3
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Th:
		return -5
	}
	return 0
}
