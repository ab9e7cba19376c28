package outbound

import (
	"bytes"

	"golang.org/x/net/html/atom"
)

// nodeFacts are what is known of an element once the page has been read.
type nodeFacts struct {
	out          bool  // its text is not part of the main text
	last         int32 // the last element in it
	text, linked int32 // bytes
	score        float32
}

// enough is how many bytes of main text are enough. With fewer, rules are dropped.
const enough = 500

// main returns the main text of the page.
func (o *outline) main(text []byte) string {
	o.measure(text)
	best := ""
	for strictness := 2; strictness >= 0; strictness-- {
		s := o.choose(text, strictness)
		if len(s) >= enough {
			return s
		}
		if len(s) > len(best) {
			best = s
		}
	}
	if len(best) < 150 {
		return o.join(text, func(b *block) bool { return o.nodes[b.node].hints&invisible == 0 })
	}
	return best
}

// measure adds up the text in each element.
func (o *outline) measure(text []byte) {
	for i := range o.blocks {
		b := &o.blocks[i]
		if text[b.from] == ' ' {
			b.from++
		}
		n := &o.nodes[b.node]
		n.text += b.to - b.from
		n.linked += min(b.linked, b.to-b.from)
	}
	for i := range o.nodes {
		o.nodes[i].last = int32(i)
	}
	for i := len(o.nodes) - 1; i > 0; i-- {
		n := &o.nodes[i]
		up := &o.nodes[n.parent]
		up.text += n.text
		up.linked += n.linked
		up.last = max(up.last, n.last)
	}
	for i := 1; i < len(o.nodes); i++ {
		n := &o.nodes[i]
		n.hints |= o.nodes[n.parent].hints & invisible
	}
}

func (n *node) density() float32 {
	if n.text == 0 {
		return 0
	}
	return float32(n.linked) / float32(n.text)
}

func (n *node) weight() (w float32) {
	if n.hints&favoured != 0 {
		w += 25
	}
	if n.hints&disfavoured != 0 {
		w -= 25
	}
	return w
}

func (o *outline) choose(text []byte, strictness int) string {
	for i := range o.nodes {
		n := &o.nodes[i]
		n.score = 0
		n.out = n.hints&invisible != 0
		if i > 0 && o.nodes[n.parent].out {
			n.out = true
		}
		switch n.tag {
		case atom.Nav, atom.Footer, atom.Aside, atom.Button, atom.Select, atom.Option, atom.Textarea, atom.Dialog:
			n.out = true
		case atom.Div, atom.P, atom.Section, 0, atom.Ul, atom.Ol, atom.Header, atom.Form, atom.Fieldset, atom.Table:
			if strictness == 2 && n.hints&(unlikely|likely) == unlikely {
				n.out = true
			}
		}
		if n.out {
			continue
		}
		switch n.tag {
		case atom.Div:
			n.score = 5
		case atom.Article, atom.Main:
			n.score = 15
		case atom.Pre, atom.Td, atom.Blockquote:
			n.score = 3
		case atom.Ol, atom.Ul, atom.Dl, atom.Form, atom.Address, atom.Dd, atom.Dt, atom.Li:
			n.score = -3
		case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Th:
			n.score = -5
		}
		if strictness >= 1 {
			n.score += n.weight()
		}
	}
	for i := range o.blocks {
		b := &o.blocks[i]
		n := b.to - b.from
		if n < 25 || o.nodes[b.node].out {
			continue
		}
		t := text[b.from:b.to]
		score := 1 + float32(bytes.Count(t, []byte(","))) + float32(min(n/100, 3))
		at := b.node
		if o.nodes[at].last == at && at > 0 {
			at = o.nodes[at].parent
		}
		for level := 0; level < 5; level++ {
			by := float32(1)
			if level == 1 {
				by = 2
			} else if level > 1 {
				by = float32(3 * level)
			}
			o.nodes[at].score += score / by
			if at == 0 {
				break
			}
			at = o.nodes[at].parent
		}
	}
	top := 0
	for i := range o.nodes {
		n := &o.nodes[i]
		n.score *= 1 - n.density()
		if !n.out && (n.score > o.nodes[top].score || top == 0) {
			top = i
		}
	}
	// climb
	top = o.climb(top)
	o.clean(top, strictness)
	threshold := max(10, o.nodes[top].score*0.2)
	up := o.nodes[top].parent
	return o.join(text, func(b *block) bool {
		n := b.node
		if o.nodes[n].out {
			return false
		}
		if int(n) >= top && n <= o.nodes[top].last {
			return true
		}
		// sibling
		if top == 0 || n <= up || n > o.nodes[up].last {
			return false
		}
		for o.nodes[n].parent != up {
			n = o.nodes[n].parent
		}
		s := &o.nodes[n]
		if s.score >= threshold {
			return true
		}
		return s.tag == atom.P && s.text > 80 && s.density() < 0.25
	})
}

func (o *outline) climb(top int) int {
	score := o.nodes[top].score
	last := score
	for at := o.nodes[top].parent; at > 0; at = o.nodes[at].parent {
		s := o.nodes[at].score
		if s < score/3 {
			break
		}
		if s > last {
			return int(at)
		}
		last = s
	}
	return top
}

func (o *outline) clean(top, strictness int) {
	if strictness == 0 {
		return
	}
	for i := top + 1; i <= int(o.nodes[top].last); i++ {
		n := &o.nodes[i]
		if n.out = n.out || o.nodes[n.parent].out; n.out {
			continue
		}
		switch n.tag {
		case atom.Form, atom.Fieldset, atom.Table, atom.Ul, atom.Ol, atom.Div, atom.Section, atom.Header, 0:
			w := n.weight()
			d := n.density()
			if w < 0 || w < 25 && d > 0.2 && n.text < 2000 || w >= 25 && d > 0.5 {
				n.out = true
			}
		}
	}
}

// join returns the blocks that are kept, one a line.
func (o *outline) join(text []byte, keep func(*block) bool) string {
	var out []byte
	for i := range o.blocks {
		if b := &o.blocks[i]; keep(b) {
			if len(out) > 0 {
				out = append(out, '\n')
			}
			out = append(out, text[b.from:b.to]...)
			if len(out) > textLimit {
				out = trimPartial(out[:textLimit])
				break
			}
		}
	}
	return string(out)
}
