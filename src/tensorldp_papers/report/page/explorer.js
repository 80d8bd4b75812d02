// The explorer: selects, the switch of axes, chart, legend, the words about one point, and the table of the same numbers.
const MOVE = 500; // milliseconds from one axis to another

function explorer(data) {
  if (!data.first) return;
  const selects = Object.fromEntries(["study", "dataset", "metric", "setting", "axis", "delta"].map(key => [key, byId(`explore-${key}`)]));
  const chart = byId("explore-chart"), tip = byId("explore-tip"), legend = byId("explore-legend");
  const sides = document.querySelectorAll("button[data-axis]"), calm = matchMedia("(prefers-reduced-motion: reduce)");
  const table = liveTable(byId("explore-table"), byId("explore-rows"));
  const blank = {dataset: "", metric: "", setting: "", axis: "", lines: null};
  let view = {...blank, study: data.first, delta: "1e-05"};
  let marks = [], at = -1, scene = null, frame = 0, pinned = false, note = "";

  const deltaText = delta => delta === 0 ? "0 (pure, atoms counted)" : text(delta);
  function axisLabel(points) {
    const unit = [...new Set(points.map(p => p.cell[UNIT]))].join(" or ") || "record", delta = `at δ = ${text(Number(view.delta))}`;
    if (view.axis === "guaranteed") return `${AXES.guaranteed} ${unit} ${delta} (nats)`;
    if (view.axis === "pure") return `${AXES.pure} ${unit} (nats)`;
    return view.axis === "mu" ? `${AXES.mu} ${delta}` : AXES.printed;
  }

  // Makes the choices fit each other and the lists of the selects fit the choices.
  function settle() {
    const words = {
      study: name => data.studies[name].name, dataset: name => data.datasets[name],
      metric: name => data.metrics[name].label, setting: name => data.settings[name],
    };
    for (const key of ["study", "dataset", "metric", "setting"]) {
      const options = offered(data, view)[key], opening = (data.studies[view.study] || {}).opening || {};
      if (!options.includes(view[key])) view[key] = key === "study" ? data.first : options.includes(opening[key]) ? opening[key] : options[0];
      fill(selects[key], options.map(name => [name, words[key](name)]), view[key]);
    }
    if (!(view.axis in AXES)) view.axis = data.studies[view.study].opening.axis;
    if (view.axis === "mu" && Number(view.delta) === 0) view.delta = "1e-05";
    const deltas = data.deltas.filter(delta => view.axis !== "mu" || delta > 0);
    if (!deltas.includes(Number(view.delta))) view.delta = String(deltas.includes(1e-5) ? 1e-5 : deltas[0]);
    view.delta = String(Number(view.delta));
    selects.axis.value = view.axis;
    for (const side of sides) side.setAttribute("aria-pressed", String(side.dataset.axis === view.axis));
    fill(selects.delta, deltas.map(delta => [String(delta), deltaText(delta)]), view.delta);
    selects.delta.disabled = !["guaranteed", "mu"].includes(view.axis);
  }

  // The words about a mark, above the chart, and its line before the others; without one, how to get them.
  function say(index) {
    at = index;
    for (const other of marks) other.mark.classList.remove("chosen");
    near(index < 0 ? null : marks[index].group);
    if (index < 0) { tip.replaceChildren(note); return; }
    const point = marks[index];
    point.mark.classList.add("chosen");
    tip.replaceChildren(...(point.printed ? printedWords(point.printed) : pointWords(point)));
  }

  function near(group) {
    chart.classList.toggle("hushed", Boolean(group));
    for (const mark of marks) mark.group?.classList.toggle("near", mark.group === group);
  }

  function facts(title, pairs) {
    return [element("strong", {}, title), element("dl", {}, ...pairs.map(
      ([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, ...[].concat(value)))))];
  }

  function printedWords(point) {
    return facts(`${point.paper}, as printed`, [["value", text(point.value)], ["printed ε", text(point.epsilon)],
      ["where", point.place], ["it says", `“${point.sentence}”`]]);
  }

  function pointWords(point) {
    const study = data.studies[view.study];
    const claims = study.claims.length ? study.claims.slice(0, 6).flatMap(id => [element("a", {href: `#claim-${id}`}, id), " "])
      : [element("a", {href: `#paper-${study.source}`}, `claims of ${study.paper}`)];
    return facts(data.lines[point.line].label, [
      [data.metrics[view.metric].axis, point.seeds > 1 ? `${text(point.y)}, mean of ${point.seeds} seeds from ${text(point.low)} to ${text(point.high)}` : `${text(point.y)}, one seed`],
      ["printed ε", text(point.cell[PRINTED])],
      ["guaranteed", guaranteeWords(point.cell, view, data.deltas)],
      ["audit", auditWords(point.cell)],
      ["claims", claims],
      ["made by", [element("a", {href: `notebooks/${view.study}.html`, "aria-label": `notebook of ${study.name}`}, "notebook")]],
    ]);
  }

  function fillTable(own) {
    const delta = Number(view.delta), column = data.deltas.indexOf(delta);
    const number = value => ({value: value === INFINITE ? Infinity : value, text: text(value)});
    const words = value => ({value, text: value});
    const heads = ["mechanism", "printed ε", `guaranteed ε at δ = ${text(delta)}`, "is", "pure ε, atoms removed", `μ at δ = ${text(delta)}`, "mean", "lowest seed", "highest seed", "seeds", "audit"];
    const numeric = [0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0];
    table.show(heads.map((head, i) => ({text: head, numeric: Boolean(numeric[i])})), own.map(p => [
      words(data.lines[p.line].label), number(p.cell[PRINTED]), number(p.cell[PROFILE][column]), words(p.cell[EXACT] ? "exact" : "a bound"),
      number(p.cell[PURE]), delta > 0 ? number(p.cell[MUS][column]) : words("–"), number(p.y), number(p.low), number(p.high), number(p.seeds), words(auditWords(p.cell)),
    ]));
  }

  function put(next, looks, labels) {
    scene = next;
    const made = drawChart(looks, scene, Math.max(300, chart.clientWidth), labels);
    chart.replaceChildren(made.svg);
    marks = made.marks;
  }

  function show(next, looks, labels, moving) {
    cancelAnimationFrame(frame);
    const from = scene, start = performance.now();
    const step = now => {
      const time = Math.max(0, now - start) / MOVE;
      if (time >= 1) { put(next, looks, labels); return; }
      put(onTheWay(from, next, time * time * (3 - 2 * time)), looks, labels);
      frame = requestAnimationFrame(step);
    };
    if (moving && from && !calm.matches) step(start); else put(next, looks, labels);
  }

  function draw(moving = false) {
    const points = pointsOf(data, view), lines = Object.keys(data.lines).filter(line => points.some(p => p.line === line));
    if (view.lines) view.lines = view.lines.filter(line => lines.includes(line));
    if (view.lines && !view.lines.length && !view.emptied) view.lines = null;
    const opening = openingLines(data, view, lines), ordered = [...new Set([...opening, ...lines])], looks = looksOf(data, ordered);
    const chosen = view.lines ?? opening, shown = points.filter(p => chosen.includes(p.line));
    const metric = data.metrics[view.metric], study = data.studies[view.study], dataset = data.datasets[view.dataset];
    const shows = [study.paper, study.figure].filter(Boolean).join(", "), own = study.own.includes(view.dataset);
    const x = axisLabel(shown), next = sceneOf(data, {...view, lines: chosen}, points);
    const title = `${own ? `Your data, as in ${shows}` : shows}: ${metric.label} against ${x}, ${dataset}, ${data.settings[view.setting]}`;
    show(next, looks, {x, y: metric.axis, title}, moving);
    note = [
      "Point at a mark to read it. Marks: means over seeds; bars: lowest to highest seed. Hollow: no audit tried it.",
      next.left ? `${counted(next.left, "cell")} without a place on this axis, as ε is infinite or 0; the table has them.` : "",
      next.classes ? "Dashed curve: what no classifier can exceed at this ε." : "",
      next.printed.length ? "Open star: what the paper prints." : "",
    ].filter(Boolean).join(" ");
    pinned = false;
    say(-1);
    byId("explore-title").textContent = `${study.title} · ${dataset}${own ? " (your data)" : ""} · ${data.settings[view.setting]}`;
    byId("explore-link").href = location.href.split("#")[0] + writeAddress(view);
    drawLegend(legend, looks, chosen, opening.length, (lines, back) => {
      view.lines = lines;
      view.emptied = Boolean(lines && !lines.length);
      update();
      legend.querySelector(back)?.focus();
    });
    fillTable(shown);
  }

  function update(moving) {
    settle();
    draw(moving);
    history.replaceState(null, "", writeAddress(view));
  }

  function open(wanted, move) {
    view = {...view, ...blank, ...wanted};
    settle();
    draw();
    if (move) byId("explore").scrollIntoView();
  }

  for (const [key, select] of Object.entries(selects)) select.addEventListener("change", () => {
    view = {...view, ...(key === "study" ? blank : {}), [key]: select.value};
    if (key === "dataset") view.lines = null;
    update(["axis", "delta"].includes(key));
  });
  for (const side of sides) side.addEventListener("click", () => {
    view.axis = side.dataset.axis;
    update(true);
  });
  const nearest = event => {
    const box = chart.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    const far = marks.map(mark => Math.hypot(mark.px - x, mark.py - y)), best = far.indexOf(Math.min(...far));
    return far[best] < 26 ? best : -1;
  };
  chart.addEventListener("pointermove", event => {
    if (pinned) return;
    const found = nearest(event);
    if (found >= 0 && found !== at) say(found);
  });
  chart.addEventListener("pointerleave", () => { if (!pinned) near(null); });
  chart.addEventListener("click", event => {
    const found = nearest(event);
    pinned = found >= 0;
    say(found);
  });
  chart.addEventListener("keydown", event => {
    const steps = {ArrowRight: 1, ArrowLeft: -1}, turn = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (event.key === "Escape") { pinned = false; say(-1); return; }
    if (!marks.length || (!steps[event.key] && !turn)) return;
    event.preventDefault();
    pinned = true;
    let next = at < 0 ? 0 : (at + (steps[event.key] || 0) + marks.length) % marks.length;
    if (turn && at >= 0) {
      const name = mark => mark.printed ? "printed" : mark.line, names = [...new Set(marks.map(name))];
      const wanted = names[(names.indexOf(name(marks[at])) + turn + names.length) % names.length];
      next = marks.findIndex(mark => name(mark) === wanted);
    }
    say(next);
  });
  for (const link of document.querySelectorAll("a[data-study]")) link.addEventListener("click", event => {
    event.preventDefault();
    view = {...view, ...blank, study: link.dataset.study};
    update();
    byId("explore").scrollIntoView();
  });
  byId("explore-form").addEventListener("submit", event => event.preventDefault());
  byId("explore-filter").addEventListener("input", event => table.filter(event.target.value));
  byId("explore-csv").addEventListener("click", () => keep(`${view.study}_${view.metric}.csv`, "text/csv", table.csv()));
  window.addEventListener("hashchange", () => {
    const wanted = readAddress(location.hash);
    if (wanted) open(wanted, true);
  });
  byId("explore-form").hidden = false;
  byId("explore-shown").hidden = false;
  const wanted = readAddress(location.hash);
  open(wanted || {}, Boolean(wanted));
  let width = chart.clientWidth;
  new ResizeObserver(() => { if (chart.clientWidth !== width) { width = chart.clientWidth; draw(); } }).observe(chart);
}
