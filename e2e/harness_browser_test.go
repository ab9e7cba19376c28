//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/browser"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/security"
	"github.com/chromedp/chromedp"
)

// chromium is the only browser of the package. The first test that needs it starts it.
var chromium struct {
	once  sync.Once
	ctx   context.Context
	close func()
	err   error
}

// closeBrowser closes the browser, if a test opened it.
func closeBrowser() {
	if chromium.close != nil {
		chromium.close()
	}
}

func openBrowser() {
	var path string
	// The first one is the same engine without windows, which needs half of the CPU time.
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
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
		flag("allow-pre-commit-input", true), // else a click on a new page before its first frame is lost
		// A page of a test lives for a second: its scripts would be optimized for longer than they run.
		flag("js-flags", "--no-maglev --no-turbofan --min-semi-space-size=16"),                          // MiB
		flag("host-resolver-rules", "MAP "+pictures+" 127.0.0.1 , MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"), // this machine only
	)
	ctx, closeTab := chromedp.NewContext(alloc)
	chromium.ctx = ctx //nolint:fatcontext // the browser outlives the test that needs it first
	chromium.close = func() { closeTab(); closeAlloc() }
	chromium.err = chromedp.Do(ctx)
}

// size is the size of a window, in CSS pixels.
type size struct{ width, height int64 }

// The two windows that pages are designed for.
var (
	wide   = size{1280, 900}
	narrow = size{360, 740}
)

// tab is a page in a separate browser session, without cookies, cache or history of other tests. Exceptions, console
// errors, violations of the content policy, failed requests and JavaScript dialogs fail the test when it ends.
type tab struct {
	t   testing.TB
	ctx context.Context
	at  string // the server's URL

	mu      sync.Mutex
	faults  []string
	expects []string // parts of expected faults
}

// browse opens a tab of the given size on a path of s.
func browse(t testing.TB, s *Server, in size, path string) *tab {
	t.Helper()
	chromium.once.Do(openBrowser)
	if chromium.err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("no browser: ", chromium.err)
		}
		t.Skip("no Chromium here, so this is not tested: ", chromium.err)
	}
	ctx, closeTab := chromedp.NewContext(chromium.ctx, chromedp.WithNewBrowserContext())
	b := &tab{t: t, ctx: ctx, at: s.URL}
	t.Cleanup(func() {
		closeTab()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, f := range b.faults {
			t.Error("in the browser: " + f)
		}
	})
	if err := chromedp.Listen(ctx, b.hear); err != nil { // opens the tab, which lives as long as ctx
		t.Fatal("open tab: ", err)
	}
	call(b, network.Enable, network.EnableParams{})
	call(b, security.SetIgnoreCertificateErrors, security.SetIgnoreCertificateErrorsParams{Ignore: true}) // of proxies on this machine
	call(b, browser.SetPermission, browser.SetPermissionParams{                                           // a window has it when its user clicks
		Permission: &browser.PermissionDescriptor{Name: "clipboard-write"}, Setting: browser.PermissionSettingGranted,
		BrowserContextID: chromedp.FromContext(ctx).BrowserContextID,
	})
	b.resize(in)
	b.open(path)
	return b
}

// hear records faults. The browser calls it, in order.
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
		if !e.Canceled { // replaced by a newer request or page
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

// expect allows faults that contain part. The browser logs every response of 400 and above as an error, also those
// that a form shows.
func (b *tab) expect(part string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expects = append(b.expects, part)
}

// inBoth runs a journey in a wide window and in a narrow one.
func inBoth(t *testing.T, journey func(t *testing.T, in size)) {
	t.Helper()
	for name, in := range map[string]size{"wide": wide, "narrow": narrow} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			journey(t, in)
		})
	}
}
