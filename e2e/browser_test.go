package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// chromium is the one browser of the package, started by the first test that
// needs it.
var chromium struct {
	once  sync.Once
	ctx   context.Context
	close func()
	err   error
}

// closeBrowser ends the browser, if there is one.
func closeBrowser() {
	if chromium.close != nil {
		chromium.close()
	}
}

func openBrowser() {
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, chromium.err = exec.LookPath(name); chromium.err == nil {
			break
		}
	}
	if chromium.err != nil {
		return
	}
	flag := chromedp.Flag
	alloc, closeAlloc := chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath(path),
		flag("headless", "new"), flag("no-sandbox", true), flag("disable-gpu", true), flag("disable-quic", true),
		flag("no-first-run", true), flag("no-default-browser-check", true), flag("disable-background-networking", true),
		flag("disable-component-update", true), flag("disable-sync", true), flag("disable-dev-shm-usage", true),
		flag("disable-background-timer-throttling", true), flag("disable-renderer-backgrounding", true),
		flag("disable-backgrounding-occluded-windows", true), flag("hide-scrollbars", true),
		flag("host-resolver-rules", "MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"), // this machine only
	)
	ctx, closeTab := chromedp.NewContext(alloc)
	chromium.ctx, chromium.close = ctx, func() { closeTab(); closeAlloc() }
	chromium.err = chromedp.Do(ctx)
}

// size is that of a window, in CSS pixels.
type size struct{ width, height int64 }

// The two windows that pages are made for.
var (
	wide   = size{1280, 900}
	narrow = size{360, 740}
)

// tab is a page in a browser session of its own: no cookies, cache or history
// of another test. Whatever goes wrong in it (exceptions, console errors,
// violations of the content policy, failed requests, a JavaScript dialog) fails
// the test at its end.
type tab struct {
	t   testing.TB
	ctx context.Context
	at  string // the server's URL

	mu      sync.Mutex
	faults  []string
	expects []string // parts of faults that are meant to happen
}

// browse opens a tab of the given size on a path of s.
func browse(t testing.TB, s *server, in size, path string) *tab {
	t.Helper()
	chromium.once.Do(openBrowser)
	if chromium.err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("no browser: ", chromium.err)
		}
		t.Skip("no Chromium here, so this is not tested: ", chromium.err)
	}
	ctx, closeTab := chromedp.NewContext(chromium.ctx, chromedp.WithNewBrowserContext())
	b := &tab{t: t, ctx: ctx, at: s.url}
	t.Cleanup(func() {
		closeTab()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, f := range b.faults {
			t.Error("in the browser: " + f)
		}
	})
	if err := chromedp.Listen(ctx, b.hear); err != nil { // opens the tab, which lives as long as ctx
		t.Fatal("opening a tab: ", err)
	}
	call(b, network.Enable, network.EnableParams{})
	b.resize(in)
	b.open(path)
	return b
}

// hear notes what goes wrong. The browser calls it, in order.
func (b *tab) hear(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		b.fault("exception: " + text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			args, _ := json.Marshal(e.Args) // for the message only
			b.fault("console." + string(e.Type) + ": " + string(args))
		}
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.EntryLevelError {
			b.fault(fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	case *network.EventLoadingFailed:
		if !e.Canceled { // a newer request or page took its place
			b.fault(fmt.Sprintf("request failed: %s %s", e.ErrorText, e.BlockedReason))
		}
	case *page.EventJavascriptDialogOpening:
		b.fault("a dialog of a script opened: " + e.Message)
	}
}

func (b *tab) fault(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, part := range b.expects {
		if strings.Contains(text, part) {
			return
		}
	}
	b.faults = append(b.faults, text)
}

// expect makes faults that contain part part of the plan. The browser logs
// every answer of 400 and above as an error, also those that a form shows.
func (b *tab) expect(part string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expects = append(b.expects, part)
}

// within runs one action for as long as the test's patience lasts.
func within[T any](b *tab, action chromedp.Action[T]) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, action)
}

// run does actions on the page.
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

// resize makes the window another size.
func (b *tab) resize(to size) {
	b.t.Helper()
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: to.width, Height: to.height, DeviceScaleFactor: 1, Mobile: to == narrow,
	})
}

// scheme sets the colours that the reader's system wishes, "light" or "dark".
func (b *tab) scheme(wish string) {
	b.t.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: wish}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// try is the value of a JavaScript expression on the page, or an error while
// one page makes place for another.
func try[T any](b *tab, expression string) (T, error) {
	return within(b, chromedp.Evaluate[T](expression))
}

// eval is the value of a JavaScript expression on the page.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := try[T](b, expression)
	if err != nil {
		b.t.Fatalf("evaluating %s: %v", expression, err)
	}
	return v
}

// wait returns as soon as a JavaScript expression is true.
func (b *tab) wait(expression string) {
	b.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		is, err := try[bool](b, "Boolean("+expression+")")
		if err == nil && is {
			return
		}
		if time.Now().After(deadline) {
			text, _ := try[string](b, `location.href + "\n" + document.body.innerText`) // for the message only
			b.t.Fatalf("waited in vain for %s (%v) on %s", expression, err, text)
		}
		time.Sleep(10 * time.Millisecond) // only spares the processor: the condition decides
	}
}

// see waits until the page shows a text.
func (b *tab) see(text string) {
	b.t.Helper()
	b.wait("document.body && document.body.innerText.includes(" + quote(text) + ")")
}

// has waits until an element that matches a selector is there to be seen.
func (b *tab) has(selector string) {
	b.t.Helper()
	b.wait(visible(selector))
}

// visible is an expression: whether something that matches is displayed.
func visible(selector string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(%s)].some(e => e.getClientRects().length > 0)`, quote(selector))
}

// lacks waits until nothing that matches a selector is displayed.
func (b *tab) lacks(selector string) {
	b.t.Helper()
	b.wait("!" + visible(selector))
}

// click presses the mouse on the first element that matches and can be reached:
// displayed, still, and covered by nothing else.
func (b *tab) click(selector string) {
	b.t.Helper()
	find := fmt.Sprintf(`(() => {
		const e = [...document.querySelectorAll(%s)].find(e => e.getClientRects().length > 0);
		if (!e || document.readyState !== "complete") return null;
		e.scrollIntoView({block: "center", inline: "nearest", behavior: "instant"});
		const r = e.getClientRects()[0], x = r.x + r.width / 2, y = r.y + r.height / 2;
		const hit = document.elementFromPoint(x, y);
		if (!hit || !(e.contains(hit) || hit.contains(e))) return null;
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
	}
}

// fill replaces the content of a field as if it was pasted.
func (b *tab) fill(selector, text string) {
	b.t.Helper()
	b.click(selector)
	b.wait(fmt.Sprintf("document.activeElement.matches(%s)", quote(selector)))
	eval[chromedp.Void](b, "document.activeElement.select()")
	call(b, input.InsertText, input.InsertTextParams{Text: text})
}

// press presses keys one after the other, as a keyboard does: a page that
// handles a key itself and prevents its default gets no letter typed.
func (b *tab) press(keys string) {
	b.t.Helper()
	for _, r := range keys {
		key := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: string(r), Text: string(r)}
		switch r {
		case '\r':
			key.Key, key.Code, key.WindowsVirtualKeyCode = "Enter", "Enter", 13
		case '\x1b':
			key.Key, key.Code, key.WindowsVirtualKeyCode, key.Text = "Escape", "Escape", 27, ""
		}
		call(b, input.DispatchKeyEvent, key)
		key.Type, key.Text = input.DispatchKeyEventTypeKeyUp, ""
		call(b, input.DispatchKeyEvent, key)
	}
}

// history moves through the pages seen: -1 is the back button, 1 forward.
func (b *tab) history(by int) {
	b.t.Helper()
	eval[chromedp.Void](b, fmt.Sprintf("history.go(%d)", by))
}

// quote is a text as a JavaScript literal.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always has a JSON form
	}
	return string(b)
}

// inBoth runs a journey in a wide window and in a narrow one.
func inBoth(t *testing.T, journey func(t *testing.T, in size)) {
	t.Helper()
	t.Run("wide", func(t *testing.T) { journey(t, wide) })
	t.Run("narrow", func(t *testing.T) { journey(t, narrow) })
}
