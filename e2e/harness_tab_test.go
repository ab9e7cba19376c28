//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"linkwatch/models/modelstest"
)

// within runs one action, with patience as its limit.
func within[T any](b *tab, action chromedp.Action[T]) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, action)
}

// run runs actions on the page.
func (b *tab) run(what string, actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if _, err := within(b, chromedp.Steps(actions...)); err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
}

// call sends one command of the browser's protocol.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	r, err := within(b, func(ctx context.Context, t *chromedp.Target) (R, error) { return cdp.Call(ctx, t, command, params) })
	if err != nil {
		b.t.Fatalf("%s: %v", command.Method, err)
	}
	return r
}

// open goes to a path of the server and waits until the page is loaded.
func (b *tab) open(path string) {
	b.t.Helper()
	b.run("opening "+path, chromedp.Navigate(b.at+path))
}

// resize changes the size of the window.
func (b *tab) resize(to size) {
	b.t.Helper()
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: to.width, Height: to.height, DeviceScaleFactor: 1, Mobile: to == narrow,
	})
}

// scheme sets the preferred color scheme, "light" or "dark".
func (b *tab) scheme(wish string) {
	b.t.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: wish}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// try returns the value of a JavaScript expression on the page, or an error, as between two pages.
func try[T any](b *tab, expression string) (T, error) {
	return within(b, chromedp.Evaluate[T](expression))
}

// eval returns the value of a JavaScript expression on the page.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := try[T](b, expression)
	if err != nil {
		b.t.Fatalf("evaluate %s: %v", expression, err)
	}
	return v
}

// wait waits until a JavaScript expression is true.
func (b *tab) wait(expression string) {
	b.t.Helper()
	var last error
	if !modelstest.Within(patience, func() bool {
		is, err := try[bool](b, "Boolean("+expression+")")
		last = err
		return err == nil && is
	}) {
		text, _ := try[string](b, `location.href + "\n" + document.body.innerText`) // for the message only
		b.t.Fatalf("timed out waiting for %s (%v) on %s", expression, last, text)
	}
}

// see waits until the page shows a text.
func (b *tab) see(text string) {
	b.t.Helper()
	b.wait("document.body && document.body.innerText.includes(" + quote(text) + ")")
}

// has waits until an element that matches a selector is visible.
func (b *tab) has(selector string) {
	b.t.Helper()
	b.wait(visible(selector))
}

// visible is an expression: whether an element that matches a selector is visible.
func visible(selector string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(%s)].some(e => e.getClientRects().length > 0)`, quote(selector))
}

// lacks waits until no element that matches a selector is visible.
func (b *tab) lacks(selector string) {
	b.t.Helper()
	b.wait("!" + visible(selector))
}

// click clicks on the first element that matches a selector, once it is visible, still and not covered.
func (b *tab) click(selector string) {
	b.t.Helper()
	find := fmt.Sprintf(`(() => {
		const e = [...document.querySelectorAll(%s)].find(e => e.getClientRects().length > 0);
		const moving = document.getAnimations().some(a => a.playState === "running" && a.effect?.getComputedTiming().endTime < Infinity);
		if (!e || moving || document.readyState !== "complete") return null;
		e.scrollIntoView({block: "center", inline: "nearest", behavior: "instant"});
		const r = e.getClientRects()[0], x = r.x + r.width / 2, y = r.y + r.height / 2;
		const hit = document.elementFromPoint(x, y);
		if (!hit || !(e.contains(hit) || hit.closest("label")?.control === e)) return null;
		return [x, y];
	})()`, quote(selector))
	var before []float64
	for deadline := time.Now().Add(patience); ; {
		at, err := try[[]float64](b, find)
		if err == nil && len(at) == 2 && slices.Equal(at, before) {
			b.run("clicking "+selector, chromedp.MouseClickXY(at[0], at[1]))
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("%s cannot be clicked: not there, hidden, moving or covered (%v)", selector, err)
		}
		before = at
		time.Sleep(20 * time.Millisecond) // one frame, to detect a moving element
	}
}

// fill replaces the content of a field, as pasting does.
func (b *tab) fill(selector, text string) {
	b.t.Helper()
	b.click(selector)
	b.wait(fmt.Sprintf("document.activeElement.matches(%s)", quote(selector)))
	eval[chromedp.Void](b, "document.activeElement.select()")
	call(b, input.InsertText, input.InsertTextParams{Text: text})
}

// Keys for press.
const (
	enter    = "\r"
	escape   = "\x1b"
	up, down = "↑", "↓"
	home     = "⇱"
	end      = "⇲"
	palette  = "⌘" // Ctrl+K
)

// named are the keys without a letter, by their name for press.
var named = map[rune]input.DispatchKeyEventParams{
	'\r':   {Key: "Enter", Code: "Enter", WindowsVirtualKeyCode: 13, Text: "\r"},
	'\x1b': {Key: "Escape", Code: "Escape", WindowsVirtualKeyCode: 27},
	'↑':    {Key: "ArrowUp", Code: "ArrowUp", WindowsVirtualKeyCode: 38},
	'↓':    {Key: "ArrowDown", Code: "ArrowDown", WindowsVirtualKeyCode: 40},
	'⇱':    {Key: "Home", Code: "Home", WindowsVirtualKeyCode: 36},
	'⇲':    {Key: "End", Code: "End", WindowsVirtualKeyCode: 35},
	'⌘':    {Key: "k", Code: "KeyK", WindowsVirtualKeyCode: 75, Modifiers: 2},
}

// press presses keys one after the other, as a keyboard does: no letter is typed if the page handles the key and
// prevents its default.
func (b *tab) press(keys string) {
	b.t.Helper()
	b.wait(`document.readyState === "complete"`) // its scripts listen
	for _, r := range keys {
		key, ok := named[r]
		if !ok {
			key = input.DispatchKeyEventParams{Key: string(r), Text: string(r)}
		}
		key.Type = input.DispatchKeyEventTypeKeyDown
		call(b, input.DispatchKeyEvent, key)
		key.Type, key.Text = input.DispatchKeyEventTypeKeyUp, ""
		call(b, input.DispatchKeyEvent, key)
	}
}

// history moves through the history of the tab: -1 is back, 1 is forward.
func (b *tab) history(by int) {
	b.t.Helper()
	eval[bool](b, fmt.Sprintf("Boolean(setTimeout(() => history.go(%d)))", by)) // returns before the page changes
}

// quote is a text, or a list of texts, as a JavaScript literal.
func quote[T string | []string](v T) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts always have a JSON form
	}
	return string(b)
}

// choose selects an option of a list.
func (b *tab) choose(selector, value string) {
	b.t.Helper()
	b.has(selector)
	eval[bool](b, `(() => {
		const list = document.querySelector(`+quote(selector)+`);
		list.value = `+quote(value)+`;
		return list.dispatchEvent(new Event("change", {bubbles: true}));
	})()`)
}

// clipboard is held by the test that uses the clipboard, of which the browser has one.
var clipboard sync.Mutex

// copies clicks a button that copies a text, and pastes it into a field.
func (b *tab) copies(button, text, field string) {
	b.t.Helper()
	clipboard.Lock()
	defer clipboard.Unlock()
	b.click(button)
	b.see("Copied.")
	b.click(field)
	call(b, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeRawKeyDown, Key: "v", Code: "KeyV", Commands: []string{"paste"}})
	b.wait("document.querySelector(" + quote(field) + ").value === " + quote(text))
}

// fits fails the test if the page is wider than the window, and names the elements that are.
func (b *tab) fits(in size, path string) {
	b.t.Helper()
	wide := eval[[]string](b, fmt.Sprintf(`(() => {
		const width = %d;
		if (document.scrollingElement.scrollWidth <= width) return [];
		const over = [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > width + 0.5);
		return ["the page is " + document.scrollingElement.scrollWidth + " px wide",
			...over.slice(0, 4).map(e => e.tagName + "." + e.className + ": " + e.textContent.trim().slice(0, 40))];
	})()`, in.width))
	if len(wide) > 0 {
		b.t.Errorf("%s scrolls sideways at %d px: %q", path, in.width, wide)
	}
}

// inEveryLook runs a check with the page wide and narrow, light and dark.
func (b *tab) inEveryLook(where string, check func(where string)) {
	b.t.Helper()
	for _, look := range []struct {
		size
		scheme string
	}{{narrow, "light"}, {narrow, "dark"}, {wide, "light"}, {wide, "dark"}} {
		b.resize(look.size)
		b.scheme(look.scheme)
		check(fmt.Sprintf("%s (%d px, %s)", where, look.width, look.scheme))
	}
}
