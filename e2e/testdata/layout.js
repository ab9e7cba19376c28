// Returns what is wrong with the layout of the current page at the current width: parts that are wider than the
// window, and visible texts that overlap.
(() => {
  const faults = [];
  const page = document.scrollingElement, width = document.documentElement.clientWidth;
  const name = (e) => e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") + [...e.classList].map((c) => "." + c).join("");
  const place = (e) => (e.parentElement ? name(e.parentElement) + " > " : "") + name(e);
  if (page.scrollWidth > width) {
    const over = [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > width + 0.5);
    faults.push(`the page is ${page.scrollWidth} px wide: ` + over.slice(0, 4).map(place).join(", "));
  }

  // The part of an element that its ancestors do not clip. null = hidden.
  const boxes = new Map();
  const everything = { left: -1e6, top: -1e6, right: 1e6, bottom: 1e6 };
  function visible(e) {
    if (!e) return everything;
    if (boxes.has(e)) return boxes.get(e);
    const style = getComputedStyle(e);
    let box = visible(style.position === "fixed" ? null : e.parentElement);
    if (style.visibility !== "visible" || style.display === "none" || style.clipPath === "inset(50%)") box = null;
    else if (box && style.display !== "inline" && style.overflowX !== "visible") {
      const r = e.getBoundingClientRect();
      box = {
        left: Math.max(box.left, r.left), top: Math.max(box.top, r.top), right: Math.min(box.right, r.right), bottom: Math.min(box.bottom, r.bottom),
      };
    }
    boxes.set(e, box);
    return box;
  }

  // The visible lines of all texts. The height of a line is reduced to that of lowercase letters.
  const lines = [], range = document.createRange();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    if (!node.data.trim() || node.parentElement.closest("script, style, noscript, option, textarea, svg") || !node.parentElement.checkVisibility()) continue;
    const box = visible(node.parentElement);
    if (!box) continue;
    range.selectNodeContents(node);
    for (const r of range.getClientRects()) {
      const line = {
        node, left: Math.max(r.left, box.left) + 1, right: Math.min(r.right, box.right) - 1,
        top: Math.max(r.top + r.height * 0.3, box.top), bottom: Math.min(r.bottom - r.height * 0.25, box.bottom),
      };
      if (line.right - line.left < 1 || line.bottom - line.top < 1) continue;
      if (line.right > width + 1 && box.right > width + 1) faults.push(`"${node.data.trim().slice(0, 30)}" is outside of the window, in ` + place(node.parentElement));
      lines.push(line);
    }
  }
  lines.sort((a, b) => a.top - b.top);
  const found = new Set();
  for (let i = 0; i < lines.length; i++) {
    for (let j = i + 1; j < lines.length && lines[j].top < lines[i].bottom; j++) {
      const a = lines[i], b = lines[j];
      if (a.node === b.node || a.left >= b.right || b.left >= a.right) continue;
      found.add([a, b].map((l) => `"${l.node.data.trim().slice(0, 30)}" in ` + place(l.node.parentElement)).join(" overlaps "));
    }
  }
  return faults.concat([...found]);
})()
