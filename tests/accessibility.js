// What WCAG 2.2 (A and AA) asks of a page and a script can see: problems() returns one sentence for each violation.
function problems() {
  const found = [], all = selector => [...document.querySelectorAll(selector)];
  const name = e => `<${e.tagName.toLowerCase()}${e.id ? "#" + e.id : ""}> ${e.textContent.trim().slice(0, 40)}`;
  const need = (holds, what, e) => { if (!holds) found.push(`${what}: ${e ? name(e) : "page"}`); };
  const visible = e => e.checkVisibility({visibilityProperty: true});
  const spoken = e => (e.getAttribute("aria-label") || e.textContent || e.alt || "").trim();

  need(document.documentElement.lang, "no language");
  need(document.title.trim(), "no title");
  for (const tag of ["main", "header", "nav", "footer"]) need(all(`body > ${tag}`).length === 1, `not one <${tag}>`);
  need(document.querySelector("a[href]").hash === "#main", "the first link does not skip to the content");
  for (const e of all("img")) need((e.alt || "").trim(), "no alternative text", e);
  for (const e of all("a[href], button")) need(spoken(e), "no name", e);
  for (const e of all("select, textarea, input")) need(e.labels.length || e.ariaLabel, "no label", e);
  for (const e of all("nav, [role=group]")) need(e.ariaLabel || e.getAttribute("aria-labelledby"), "no name", e);
  for (const key of ["aria-labelledby", "aria-describedby"])
    for (const e of all(`[${key}]`))
      for (const id of e.getAttribute(key).split(" ").filter(Boolean))
        need(document.getElementById(id), `${key} names no element`, e);
  for (const e of all("a[href^='#']")) need(document.getElementById(decodeURIComponent(e.hash.slice(1))), "leads nowhere", e);
  const ids = all("[id]").map(e => e.id);
  need(new Set(ids).size === ids.length, "an id twice");

  for (const e of all("table")) {
    need(e.caption && e.caption.textContent.trim(), "no caption", e);
    for (const head of e.querySelectorAll("th")) need(["col", "row"].includes(head.scope), "no scope", head);
    need(e.tHead && e.querySelector("tbody th[scope=row]"), "no heads", e);
  }
  let level = 0;
  for (const e of all("h1, h2, h3, h4, h5, h6")) {
    need(+e.tagName[1] <= level + 1, "a level of headings is skipped", e);
    level = +e.tagName[1];
  }
  need(all("h1").length === 1, "not one <h1>");
  for (const e of all("*"))
    if (visible(e) && /auto|scroll/.test(getComputedStyle(e).overflowX) && e !== document.scrollingElement)
      need(e.tabIndex >= 0 || e.scrollWidth <= e.clientWidth + 1, "scrolls, but not by keyboard", e);

  const parse = text => { const n = text.match(/[\d.]+/g).map(Number); return [...n.slice(0, 3), n[3] ?? 1]; };
  const light = rgb => rgb.slice(0, 3).map(v => v / 255)
    .map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3]));
  function background(e) {
    const layers = [];
    for (let at = e; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
    return layers.reduceRight((below, top) => over(top, below), [255, 255, 255]);
  }
  function contrast(e) {
    const back = background(e), front = over(parse(getComputedStyle(e).color), back);
    const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
    return (a + .05) / (b + .05);
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), seen = new Set();
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || seen.has(e) || !visible(e) || e.closest("script, style")) continue;
    seen.add(e);
    const style = getComputedStyle(e), size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && +style.fontWeight >= 700);
    need(contrast(e) >= (large ? 3 : 4.5), `contrast ${contrast(e).toFixed(2)}`, e);
    need(size >= 12, `text of ${size} px`, e);
  }
  return found;
}
