//go:build e2e

package e2e

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// A channel is added and tested, a rule uses it, and maintenance holds its alerts.
func TestSetUpAlerts(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), Start(t)
		hook := web.set("/hook", status(204))
		target := s.addTarget(web.URL + "/shop")
		b := browse(t, s, in, "/alerts")
		b.see("No alerts yet")
		b.fits(in, "/alerts, empty")
		b.click(`.empty a.primary`)
		b.see("Choose the service")
		b.fits(in, "/alerts/channels/new")
		b.click(`.services a[href$="=webhook"]`)
		b.expect("status of 400")
		b.fill("input[name=name]", "My program")
		b.fill("input[name=url]", "ftp://example.com")
		b.press(enter)
		b.has("#url-error")
		b.wait(`document.querySelector("input[name=name]").value === "My program"`)
		b.fits(in, "/alerts/channels/new, with an error")
		b.fill("input[name=url]", hook)
		b.press(enter)
		b.see("Channel added.")
		b.fits(in, "/alerts/channels")
		eval[bool](b, `window.stays = true`) // lost on a reload
		b.press("jc")
		b.wait(`window.stays && document.querySelector(".test .state.ok") && document.querySelector("td .health.working")`)
		b.wait(`document.activeElement.closest("[data-row]") !== null`) // for the next key press
		sent := web.requests("/hook")
		busy := eval[bool](b, `(() => {
			const form = document.querySelector('form[action$="/test"]');
			form.requestSubmit();
			form.requestSubmit();
			return form.innerText.trim() === "Testing…";
		})()`)
		b.wait(`!document.querySelector("form[aria-busy]")`)
		if got := web.requests("/hook"); !busy || got != sent+1 {
			t.Errorf("after two clicks on Test: got busy %v and %d messages", busy, got-sent)
		}
		web.set("/hook", status(500))
		b.press("c")
		b.wait(`window.stays && document.querySelector(".test .state.dead") && document.querySelector("td .health.failing")`)
		b.fits(in, "/alerts/channels, with a test")

		b.click(`.nudge button`)
		b.see("Rule added. All enabled channels get important alerts.")
		b.fits(in, "/alerts/rules")
		b.press("jo")
		b.fill("input[name=find]", "shop")
		b.wait(`document.querySelector("#choices h2").textContent === "Found"`)
		b.click(`#choices input[name=targets]`)
		b.click(`input[name=channels]`)
		b.see("sends to 0 channels")
		b.click(`input[name=channels]`)
		b.see("Matches 1 of 1 target; sends to 1 channel.")
		b.fits(in, "/alerts/rules/{id}")
		b.click(`button[name=save]`)
		b.see("Saved.")
		b.open("/watch/" + target.ID)
		b.see("Rules:")
		b.fits(in, "/watch/{id}, with a rule")

		b.open("/alerts/maintenance")
		b.fits(in, "/alerts/maintenance, empty")
		b.click(`.page-head a.primary`)
		b.fill("input[name=name]", "Upgrade")
		eval[string](b, `document.querySelector("input[name=starts_at]").value = "2026-01-01T22:00"`)
		eval[string](b, `document.querySelector("input[name=ends_at]").value = "2026-01-01T21:00"`)
		b.fits(in, "/alerts/maintenance/new")
		b.click(`button[name=save]`)
		b.see("Ends must be after Starts.")
		eval[string](b, `document.querySelector("input[name=ends_at]").value = "2026-01-01T23:00"`)
		b.choose("select[name=repeat]", "weekly")
		b.click(`button[name=save]`)
		b.see("Every Thursday at 22:00")
		b.fits(in, "/alerts/maintenance")
		b.click(`form[action$="/delete"] button`)
		b.see("Maintenance window deleted.")
		b.press("u")
		b.see("Maintenance window restored.")
	})
}

// Alerts are opened, acknowledged and silenced with the keyboard.
func TestAcknowledgeAndSilenceAlerts(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		b := browse(t, Start(t, demoIn(t)), in, "/alerts")
		b.has(".alerts [data-row]")
		b.fits(in, "/alerts")
		b.click(`.alerts form[action$="/acknowledge"] button`)
		b.see("Acknowledged.")
		b.press("u")
		b.see("Acknowledgement removed.")
		b.click(".silence summary")
		b.fits(in, "/alerts, with the menu to silence")
		b.click(".alerts li:nth-child(2) .silence summary")
		b.wait(`document.querySelectorAll(".silence[open]").length === 1 && document.querySelector(".alerts li:nth-child(2) .silence[open]")`)
		b.press("j" + escape) // the focus may be anywhere
		b.wait(`!document.querySelector(".silence[open]") && document.activeElement.matches(".alerts li:nth-child(2) summary")`)
		b.click(".silence summary")
		b.click(`.silence[open] button[value="60"]`)
		b.see("Silenced.")
		b.open("/alerts")
		b.press("jxj")
		b.see("1 selected")
		b.wait(`(() => {
			const [selected, focused] = [...document.querySelectorAll(".alerts > li")].map((li) => getComputedStyle(li).backgroundColor);
			return selected !== focused;
		})()`)
		b.press("x")
		b.see("2 selected")
		b.fits(in, "/alerts, with selected alerts")
		eval[string](b, `document.querySelector("#alerts .count").textContent = "before"`)
		b.wait(`document.querySelector("#alerts .count").textContent !== "before"`) // the list has refreshed
		b.see("2 selected")
		b.click(`#bulk button[value="480"]`)
		b.see("2 alerts silenced.")
		b.press("u")
		b.see("Undone.")
		b.open("/alerts")
		b.press("jo")
		b.see("Timeline")
		b.fits(in, "/alerts/{id}")
		b.press(palette)
		b.fill("#palette-q", "shipping labels")
		b.has("#palette [aria-label=Alerts] .health.critical + .health")
		if room := eval[float64](b, `(() => {
			const title = document.querySelector("#palette [aria-label=Alerts] .title");
			title.textContent = title.textContent.repeat(9);
			return title.clientWidth / title.parentElement.clientWidth;
		})()`); room < 0.65 {
			t.Errorf("a long title uses %.0f%% of the palette", 100*room)
		}
		b.fits(in, "the palette with alerts")
		b.press(escape)
		b.open("/alerts?state=resolved")
		b.press("jo")
		b.see("Timeline")
		b.open("/")
		b.fits(in, "/, with alerts")
		b.open("/alerts/rules")
		b.fits(in, "/alerts/rules, of the demo")
	})
}

func TestAlertsWithoutJavaScript(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, in size) {
		web, s := site(t), Start(t, demoIn(t))
		b := browse(t, s, in, "/")
		b.expect("status of 4")
		call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		b.open("/alerts")
		b.click(".silence summary")
		b.click(`.silence[open] button[value="60"]`)
		b.see("Silenced.")
		b.click("[data-undo]")
		b.see("Silence ended.")
		b.click(`.alerts form[action$="/acknowledge"] button`)
		b.see("Acknowledged.")

		b.open("/alerts/channels/new?service=webhook")
		b.fill("input[name=url]", web.set("/hook", status(204)))
		b.click("form.panel button.primary")
		b.see("Channel added.")
		b.click(`tbody tr:last-child form[action$="/test"] button`)
		b.see("Test message delivered.")
		b.click(`tbody tr:last-child form[action$="/delete"] button`)
		b.see("Channel deleted.")
		b.click("[data-undo]")
		b.see("Channel restored.")

		b.open("/alerts/rules/new")
		b.fill("input[name=name]", "Kept words")
		b.fill("input[name=find]", "checkout")
		b.click("button[name=look]")
		b.see("Found")
		b.wait(`document.querySelector("input[name=name]").value === "Kept words"`)
		b.click("#choices input[name=targets]")
		b.click("input[name=channels]")
		b.click("button[name=save]")
		b.see("Rule added.")
		b.see("For Checkout")
	})
}

func TestAccessibleAlerts(t *testing.T) {
	t.Parallel()
	s := Start(t, demoIn(t))
	b := browse(t, s, wide, "/alerts")
	paths := []string{"/alerts", "/alerts?state=resolved", "/alerts?state=unacknowledged", "/alerts/v_none/manage", "/alerts/channels/new", "/alerts/channels/new?service=smtp", "/alerts/channels/new?service=webhook"}
	for _, list := range []string{"/alerts", "/alerts/channels", "/alerts/rules", "/alerts/maintenance"} {
		b.open(list)
		paths = append(paths, list, eval[string](b, `document.querySelector("[data-row] [data-main]").getAttribute("href")`))
	}
	accessiblePages(t, s, paths, nil)
}
