// Submits each form of the current page with invalid texts, and returns what is wrong with the error summaries.
(async () => {
  const faults = [], bad = "no good <" + "x".repeat(9000);
  const forms = [...document.querySelectorAll("main form")].filter((f) => f.getAttribute("method") === "post" && f.querySelector("textarea, input:is([type=text], [type=password], [type=number], :not([type]))"));
  for (const form of forms) {
    const button = form.querySelector("button.primary[name]") || form.querySelector("button[name][value]");
    const data = new URLSearchParams();
    for (const [name, value] of new FormData(form, null)) data.append(name, value);
    for (const field of form.querySelectorAll("textarea, input:is([type=text], [type=password], [type=number], :not([type]))")) if (field.name) data.set(field.name, bad);
    if (button && button.name) data.set(button.name, button.value);
    const row = [...form.elements].find((e) => e.type === "checkbox" && e.name === "id");
    if (row) data.append(row.name, row.value);
    const at = new URL(form.getAttribute("action"), location.href), res = await fetch(at, { method: "POST", body: data });
    const page = new DOMParser().parseFromString(await res.text(), "text/html"), summary = page.querySelector(".error-summary");
    const where = at.pathname + " (" + res.status + ")";
    if (!summary) {
      faults.push(where + ": no error summary: " + (page.querySelector("main h1") || page.body).textContent.trim().slice(0, 60));
      continue;
    }
    if (!summary.closest("form")) faults.push(where + ": the error summary is in no form");
    if (!summary.autofocus || summary.tabIndex !== -1) faults.push(where + ": the error summary gets no focus");
    const links = [...summary.querySelectorAll("a")], messages = page.querySelectorAll(".field-error[id]:not(:empty)");
    if (links.length !== messages.length) faults.push(`${where}: ${messages.length} errors, and ${links.length} in the summary`);
    for (const link of links) {
      const field = page.getElementById(link.hash.slice(1));
      if (!field || !field.matches("input, select, textarea")) faults.push(`${where}: "${link.textContent.trim()}" links to no field`);
    }
    const ids = [...page.querySelectorAll("[id]")].map((e) => e.id), twice = ids.filter((id, i) => ids.indexOf(id) !== i);
    if (twice.length > 0) faults.push(`${where}: IDs that are not unique: ${[...new Set(twice)].join(", ")}`);
    faults.push("ok " + where + ": " + links.map((l) => l.textContent.trim()).join(" | "));
  }
  return faults;
})()
