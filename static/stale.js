// While a page cannot update itself, a banner says so and how old its data is, and the page loses its colors: a
// green mark would not tell the current state.
"use strict";
(() => {
  const banner = document.getElementById("stale");
  let at = new Date(); // of the data
  const refreshes = (e) => e.target instanceof Element && e.target.matches("[hx-trigger^=every]");

  function show(cause) {
    const today = at.toDateString() === new Date().toDateString();
    const text = `${cause} Data from ${today ? "" : at.toLocaleDateString() + ", "}${at.toTimeString().slice(0, 8)}.`;
    if (banner.textContent !== text) banner.textContent = text; // screen readers read it once
    banner.hidden = false;
    document.body.classList.add("stale");
  }
  const unreachable = () => show("The server cannot be reached.");
  document.addEventListener("htmx:error", (e) => { if (refreshes(e) && !e.detail.ctx?.text) unreachable(); });
  document.addEventListener("htmx:response:error", (e) => {
    const { status } = e.detail.ctx.response;
    if (!refreshes(e) || status < 500) return;
    if (status >= 502 && status <= 504) unreachable(); else show("This page cannot be updated.");
  });
  document.addEventListener("htmx:after:request", (e) => {
    if (e.detail.ctx.response.status >= 500) return;
    if (refreshes(e)) at = new Date();
    banner.hidden = true;
    document.body.classList.remove("stale");
  });
})();
