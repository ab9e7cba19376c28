// Progressive enhancement: keyboard shortcuts, relative times, selection, copy buttons. Every page
// works without it. htmx sends the requests.
"use strict";
(() => {
  const $ = (sel, root = document) => root.querySelector(sel);
  const $$ = (sel, root = document) => [...root.querySelectorAll(sel)];

  // Relative times, in the same format as ui.Ago in views/ui/time.go.
  const steps = [[10, 1, ""], [60, 1, "s"], [3600, 60, "min"], [86400, 3600, "h"], [86400 * 14, 86400, "day"],
    [86400 * 60, 86400 * 7, "week"], [86400 * 730, 86400 * 30, "month"], [Infinity, 86400 * 365, "year"]];
  function ago(seconds) {
    const future = seconds < 0, s = Math.abs(seconds);
    const [, unit, word] = steps.find(([below]) => s < below);
    if (future && s < 60) return "in a moment";
    if (word === "") return "just now";
    const n = Math.floor(s / unit), plural = n > 1 && unit >= 86400 ? "s" : "";
    return future ? `in ${n} ${word}${plural}` : `${n} ${word}${plural} ago`;
  }
  function refreshTimes() {
    if (document.hidden) return;
    for (const t of $$("time[data-ago]")) {
      const text = ago((Date.now() - Date.parse(t.dateTime)) / 1000);
      if (t.textContent !== text) t.textContent = text;
    }
  }
  setInterval(refreshTimes, 5000);
  document.addEventListener("visibilitychange", refreshTimes);

  // Rows: keys move the focus between the main links of rows.
  const rows = () => $$("[data-row]").filter((r) => r.offsetParent !== null);
  const currentRow = () => document.activeElement.closest("[data-row]");
  function move(by) {
    const all = rows(), i = all.indexOf(currentRow());
    const next = all[i < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, i + by))];
    if (!next) return;
    $("[data-main]", next).focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  }
  const go = (sel) => { const a = $(sel); if (a) a.click(); return Boolean(a); };
  function inRow(sel) {
    const el = currentRow() && $(sel, currentRow());
    if (el) el.click();
  }

  const act = (sel) => { if (currentRow()) inRow(sel); else if (!$("[data-row] " + sel)) go(sel); };

  const keys = {
    "/": () => { const q = $("[data-search]"); if (q) { q.focus(); q.select(); } else go("[data-palette]"); },
    n: () => { const url = $("[data-new]"); if (url) { url.focus(); } else { go("[data-new-link]"); } },
    "?": () => $("#keys").showModal(),
    j: () => move(1),
    k: () => move(-1),
    o: () => { if (currentRow()) inRow("[data-main]"); else go("[data-open-here]"); },
    x: () => inRow("input[type=checkbox]"),
    e: () => { if (currentRow()) inRow("[data-edit]"); else go("[data-edit-here]"); },
    p: () => act("[data-pause]"),
    c: () => act("[data-check]"),
    y: () => act("[data-copy]"),
    u: () => go("[data-undo]"),
    "[": () => go("[rel=prev]"),
    "]": () => go("[rel=next]"),
  };
  const section = (key) => $$("[data-key]").find((a) => a.dataset.key === key); // link of the main navigation
  let pendingG = 0;

  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
    const at = e.target;
    if (e.key === "Escape") {
      const menu = !$("dialog[open]") && $("details[data-menu][open]");
      if (menu) {
        menu.open = false;
        $("summary", menu).focus();
      } else if (at.matches("input, textarea, select")) at.blur();
      else for (const box of $$("[data-row] input:checked")) box.click();
      return;
    }
    const typing = at.isContentEditable || at.matches("textarea, select, input:not([type=checkbox])");
    if (typing || $("dialog[open]")) return;
    if (e.key === "g") { pendingG = Date.now(); return; }
    const to = Date.now() - pendingG < 1200 && section(e.key);
    if (to) {
      pendingG = 0;
      location.href = to.href;
      return;
    }
    const press = keys[e.key];
    if (press) { e.preventDefault(); press(); }
  });

  document.addEventListener("click", (e) => {
    const at = e.target;
    if (at.closest("[data-open-keys]")) $("#keys").showModal();
    if (at.matches("dialog")) at.close(); // a click on the backdrop
    const copy = at.closest("[data-copy]");
    if (copy) copyText(copy.dataset.copy).then((done) => say(done ? "Copied." : "Could not copy. Select the text and copy it yourself."));
    if (at.closest("[data-bookmarklet]")) { e.preventDefault(); say("Drag this button to your bookmarks bar."); }
  });

  // Without HTTPS, browsers do not provide the clipboard API. Copying a selection still works.
  async function copyText(text) {
    if (navigator.clipboard) return navigator.clipboard.writeText(text).then(() => true, () => false);
    const field = document.createElement("textarea"), before = document.activeElement;
    field.value = text;
    field.className = "visually-hidden";
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    before.focus({ preventScroll: true });
    return done;
  }

  // Selection: select all, Shift for a range, and the number of selected rows.
  let lastBox = null;
  document.addEventListener("click", (e) => {
    const box = e.target;
    if (!box.matches("[data-row] input[type=checkbox]")) return;
    const boxes = $$("[data-row] input[type=checkbox]");
    const from = boxes.indexOf(lastBox);
    if (e.shiftKey && from >= 0) {
      const [a, b] = [from, boxes.indexOf(box)].sort((x, y) => x - y);
      for (const other of boxes.slice(a, b + 1)) other.checked = box.checked;
    }
    lastBox = box;
  });
  document.addEventListener("change", (e) => {
    if (e.target.matches("[data-all]")) {
      for (const box of $$("[data-row] input[type=checkbox]")) box.checked = e.target.checked;
    }
    countSelected();
  });
  function countSelected() {
    const all = $$("[data-row] input[type=checkbox]"), n = all.filter((b) => b.checked).length;
    for (const out of $$("[data-selected]")) out.textContent = n;
    const box = $("[data-all]");
    if (box) { box.checked = n > 0 && n === all.length; box.indeterminate = n > 0 && n < all.length; }
  }

  // Short messages in the corner, also for screen readers.
  let sayTimer;
  function say(text) {
    const out = $("#say");
    out.textContent = text;
    clearTimeout(sayTimer);
    sayTimer = setTimeout(() => { out.textContent = ""; }, 5000);
  }
  document.addEventListener("say", (e) => say(e.detail.text)); // from the header HX-Trigger
  // Refreshes in the background are no action of the user: stale.js reports their failures.
  const failed = (e) => { if (!e.target.matches?.("[hx-trigger^=every]")) say("Something went wrong. Try again."); };
  document.addEventListener("htmx:error", failed);
  document.addEventListener("htmx:response:error", (e) => { if (e.detail.ctx.response.status >= 500) failed(e); });

  // Without a session, a background request would leave the page for the login and lose what was typed. The form keeps it:
  // saving it shows the login page, and then the form again.
  const isChanged = (field) => field.matches("select")
    ? field.selectedIndex !== Math.max(0, [...field.options].findIndex((option) => option.defaultSelected))
    : field.checked !== field.defaultChecked || field.value !== field.defaultValue;
  const isTyped = (field) => field.type !== "hidden" && field.closest("form[method=post]") && isChanged(field);
  document.addEventListener("htmx:before:response", (e) => {
    if (e.detail.ctx.response.status !== 401 || !$("[data-errors]") && !$$("input, textarea, select").some(isTyped)) return;
    e.preventDefault();
    say("You have been signed out. Save the form to sign in: your text is kept.");
  });

  // Opening a form focuses its first field.
  document.addEventListener("toggle", (e) => {
    const field = e.target.matches("details[open]") && $(":is(input:not([type=hidden]), textarea, select)", e.target);
    if (field && !$(":is(input, textarea, select):focus, [data-errors]", e.target)) field.focus(); // the event is late: the user may already have focused another field
  }, true);

  // A notice is shown once: a reload does not show it again.
  const flash = $("[data-flash]");
  if (flash) {
    const url = new URL(location.href);
    for (const name of flash.dataset.flash.split(" ")) url.searchParams.delete(name);
    if (url.search !== location.search) history.replaceState(history.state, "", url);
  }

  // An action on rows returns to its page at the same position, where its notice stays in view. Fields have paths without
  // that of PUBLIC_URL.
  const root = document.body.dataset.root.replace(/\/$/, "");
  document.addEventListener("submit", (e) => {
    const back = e.target.elements.namedItem("back");
    if (back && !e.defaultPrevented && back.value) {
      sessionStorage.setItem("position", JSON.stringify({ path: root + new URL(back.value, location.href).pathname, top: scrollY, at: Date.now() }));
    }
  });
  const position = JSON.parse(sessionStorage.getItem("position"));
  sessionStorage.removeItem("position");
  if (position && position.path === location.pathname && Date.now() - position.at < 60000 && !location.hash && !$("[data-errors]")) {
    scrollTo(0, position.top);
    if (flash && position.top > 0) flash.classList.add("pinned");
  }

  // After a failed form, the focus is on its errors. Browsers do this themselves (autofocus), but not after a swap, and old
  // ones only for fields.
  function focusErrors() {
    const errors = $("[data-errors]");
    if (errors) errors.focus();
  }
  document.addEventListener("htmx:after:swap", (e) => { if (e.detail.ctx.request.method !== "GET") focusErrors(); });
  focusErrors();

  // Polling stops while the tab is hidden, and resumes with an update.
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) for (const el of $$("[hx-trigger^=every]")) htmx.trigger(el, "every", {}, false);
  });
  document.addEventListener("htmx:before:request", (e) => {
    if (document.hidden && e.target.matches("[hx-trigger^=every]")) e.preventDefault();
  });

  // A check and a request for a page can take seconds: the button shows progress and ignores clicks until the response.
  const clearBusy = (root) => { for (const f of $$("form[aria-busy]", root)) f.removeAttribute("aria-busy"); };
  document.addEventListener("submit", (e) => {
    if (!$("[data-check], [data-busy]", e.target)) return;
    if (e.target.hasAttribute("aria-busy")) {
      e.preventDefault();
      e.stopPropagation(); // htmx listens on the form
    }
    e.target.setAttribute("aria-busy", "true");
  }, true);
  document.addEventListener("htmx:finally:request", (e) => clearBusy(e.target.parentNode || document));
  window.addEventListener("pageshow", () => clearBusy(document));

  // Pictures that fail to load are hidden.
  document.addEventListener("error", (e) => {
    if (e.target.matches && e.target.matches("img[data-picture]")) e.target.closest("[data-frame]").hidden = true;
  }, true);

  // The log of a crawl is an event stream. The view scrolls with it unless the user has scrolled up, and
  // shows the last maxLines lines.
  const maxLines = 1000;
  let stream = null, lines = [];
  function followLog() {
    const log = $("#log"), head = $("#log-head");
    if (!log || !head.dataset.stream) return;
    const changed = log.dataset.run !== head.dataset.run;
    if (changed) {
      if (stream) stream.close();
      stream = null;
      lines = [];
      log.replaceChildren();
      log.dataset.run = head.dataset.run;
      log.dataset.at = "";
    }
    if (stream || !changed && !("live" in head.dataset)) return;
    stream = new EventSource(`${head.dataset.stream}&last_event_id=${log.dataset.at}`);
    stream.addEventListener("log:line", (e) => {
      if (lines.push(JSON.parse(e.data)) === 1) setTimeout(showLines);
      log.dataset.at = e.lastEventId;
    });
    stream.addEventListener("end", (e) => { if (!JSON.parse(e.data).stopping) { stream.close(); stream = null; } });
    stream.addEventListener("error", () => { if (stream && stream.readyState === EventSource.CLOSED) stream = null; }); // the next swap reconnects
  }
  function showLines() {
    const log = $("#log"), atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
    log.append(...lines.slice(-maxLines).map(({ at, level, message }) => {
      const line = document.createElement("div");
      line.className = level;
      for (const [tag, text] of [["time", at.slice(11, 19)], ["b", level], ["span", message]]) {
        const part = document.createElement(tag);
        part.textContent = text;
        line.append(part, " ");
      }
      return line;
    }));
    lines = [];
    while (log.childElementCount > maxLines) log.firstElementChild.remove();
    if (atEnd) log.scrollTop = log.scrollHeight;
  }

  function enhance() {
    for (const img of $$("img[data-picture]")) if (img.complete && img.naturalWidth === 0) img.closest("[data-frame]").hidden = true;
    countSelected();
    refreshTimes();
    followLog();
  }
  document.addEventListener("htmx:after:swap", enhance);
  enhance();
  if ($("#log")) $("#log").scrollTop = $("#log").scrollHeight;
})();
