// The command palette: the global search as a dialog, opened with Ctrl+K. Without JavaScript, the
// link in the header opens /search.
"use strict";
(() => {
  const box = document.getElementById("palette"), field = document.getElementById("palette-q");
  const found = document.getElementById("palette-found"), count = document.getElementById("palette-count");
  const options = () => [...found.querySelectorAll("[role=option]")];
  const chosen = () => found.querySelector("[aria-selected=true]");

  function open() {
    if (!box.open) {
      if (document.querySelector("dialog[open]")) return;
      box.showModal();
      htmx.trigger(field.form, "palette");
    }
    field.focus();
    field.select();
  }

  // The field keeps the focus; the selected option is its aria-activedescendant.
  function choose(option) {
    if (chosen()) chosen().setAttribute("aria-selected", "false");
    field.removeAttribute("aria-activedescendant");
    if (!option) return;
    option.setAttribute("aria-selected", "true");
    field.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  }

  document.addEventListener("keydown", (e) => {
    if (!(e.ctrlKey || e.metaKey) || e.altKey || e.shiftKey || e.isComposing || e.key.toLowerCase() !== "k") return;
    e.preventDefault();
    open();
  });
  document.addEventListener("click", (e) => {
    if (!e.target.closest("[data-palette]") || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
    e.preventDefault();
    open();
  });

  field.addEventListener("keydown", (e) => {
    if (e.isComposing || e.ctrlKey || e.metaKey || e.altKey) return;
    const all = options(), at = all.indexOf(chosen()), last = all.length - 1;
    const to = { ArrowDown: at < last ? at + 1 : 0, ArrowUp: at > 0 ? at - 1 : last, Home: 0, End: last }[e.key];
    if (to !== undefined && all.length > 0) {
      e.preventDefault();
      choose(all[to]);
    } else if (e.key === "Enter" && chosen()) { // without a selected option, Enter submits the form
      e.preventDefault();
      chosen().click();
    }
  });
  field.addEventListener("input", () => choose(null)); // the listed results belong to the previous text
  found.addEventListener("click", (e) => { if (e.target.closest("[role=option]")) box.close(); }); // the link may point to the current page

  document.addEventListener("htmx:after:swap", (e) => {
    if (e.detail.ctx.target !== found) return;
    options().forEach((option, i) => { option.id = `palette-${i}`; });
    choose(options()[0]);
    const n = options().length;
    count.textContent = n === 1 ? "1 result" : `${n} results`;
  });
})();
