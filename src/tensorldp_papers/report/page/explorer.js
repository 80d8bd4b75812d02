// The explorer: selects, chart, legend, the words about one point, and the table of the same numbers.
function explorer(data) {
  const selects = Object.fromEntries(["study", "dataset", "metric", "setting", "axis", "delta"].map(key => [key, byId(`explore-${key}`)]));
  const chart = byId("explore-chart"), tip = byId("explore-tip"), legend = byId("explore-legend");
  const table = liveTable(byId("explore-table"), byId("explore-rows"));
  const first = Object.keys(data.studies)[0];
  let view = {study: first, dataset: "", metric: "", setting: "", axis: "guaranteed", delta: "1e-05", lines: null};
  let marks = [], at = -1;

  const deltaText = delta => delta === 0 ? "0 (pure, atoms counted)" : text(delta);
  function axisLabel() {
    if (view.axis === "guaranteed") return `guaranteed ε at δ = ${text(Number(view.delta))} (nats)`;
    if (view.axis === "mu") return `μ of the Gaussian release with the same ε at δ = ${text(Number(view.delta))}`;
    return AXES[view.axis];
  }

  // Makes the choices fit each other and the lists of the selects fit the choices.
  function settle() {
    const words = {
      study: name => `${data.studies[name].paper}: ${[data.studies[name].figure, name].filter(Boolean).join(", ")}`,
      dataset: name => name, metric: name => data.metrics[name].label, setting: name => data.settings[name],
    };
    const preferred = {metric: ["weighted_f1", "accuracy", "accuracy_perturbed_test", "rss_noisy", "relative_error"]};
    for (const key of ["study", "dataset", "metric", "setting"]) {
      let options = offered(data, view)[key];
      if (!options.includes(view[key])) view[key] = (preferred[key] || []).find(name => options.includes(name)) ?? options[0];
      fill(selects[key], options.map(name => [name, words[key](name)]), view[key]);
    }
    if (!(view.axis in AXES)) view.axis = "guaranteed";
    if (view.axis === "mu" && Number(view.delta) === 0) view.delta = "1e-05";
    const deltas = data.deltas.filter(delta => view.axis !== "mu" || delta > 0);
    if (!deltas.includes(Number(view.delta))) view.delta = String(deltas.includes(1e-5) ? 1e-5 : deltas[0]);
    view.delta = String(Number(view.delta));
    selects.axis.value = view.axis;
    fill(selects.delta, deltas.map(delta => [String(delta), deltaText(delta)]), view.delta);
    selects.delta.disabled = !["guaranteed", "mu"].includes(view.axis);
  }

  function say(index) {
    at = index;
    for (const other of marks) other.mark.classList.remove("chosen");
    tip.hidden = index < 0;
    if (index < 0) return;
    const point = marks[index];
    point.mark.classList.add("chosen");
    tip.replaceChildren(...(point.printed ? printedWords(point.printed) : pointWords(point)));
    const left = Math.min(Math.max(point.px - tip.offsetWidth / 2, 0), chart.clientWidth - tip.offsetWidth);
    tip.style.left = `${Math.max(0, left)}px`;
    tip.style.top = `${point.py + 14}px`;
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
      [data.metrics[view.metric].label, point.seeds > 1 ? `${text(point.y)}, mean of ${point.seeds} seeds from ${text(point.low)} to ${text(point.high)}` : `${text(point.y)}, one seed`],
      ["printed ε", text(point.cell[PRINTED])],
      ["guaranteed", guaranteeWords(point.cell, view, data.deltas)],
      ["audit", auditWords(point.cell)],
      ["claims", claims],
      ["made by", [element("a", {href: `notebooks/${view.study}.html`}, `notebook ${view.study}`)]],
    ]);
  }

  function fillTable(points) {
    const delta = Number(view.delta), column = data.deltas.indexOf(delta), own = points.filter(p => !view.lines || view.lines.includes(p.line));
    const number = value => ({value: value === INFINITE ? Infinity : value, text: text(value)});
    const words = value => ({value, text: value});
    const heads = ["mechanism", "printed ε", `guaranteed ε at δ = ${text(delta)}`, "is", "pure ε, atoms removed", `μ at δ = ${text(delta)}`, "mean", "lowest seed", "highest seed", "seeds", "audit"];
    const numeric = [0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0];
    table.show(heads.map((head, i) => ({text: head, numeric: Boolean(numeric[i])})), own.map(p => [
      words(data.lines[p.line].label), number(p.cell[PRINTED]), number(p.cell[PROFILE][column]), words(p.cell[EXACT] ? "exact" : "a bound"),
      number(p.cell[PURE]), delta > 0 ? number(p.cell[MUS][column]) : words("–"), number(p.y), number(p.low), number(p.high), number(p.seeds), words(auditWords(p.cell)),
    ]));
  }

  function draw() {
    const points = pointsOf(data, view), lines = Object.keys(data.lines).filter(line => points.some(p => p.line === line));
    if (view.lines) view.lines = view.lines.filter(line => lines.includes(line));
    if (view.lines && !view.lines.length && lines.length) view.lines = view.emptied ? [] : null;
    const metric = data.metrics[view.metric], study = data.studies[view.study];
    const shows = [study.paper, study.figure].filter(Boolean).join(", ");
    const title = `${study.own.includes(view.dataset) ? `Your data, as in ${shows}` : shows}: ${metric.label} against ${axisLabel()}, ${view.dataset}, ${data.settings[view.setting]}`;
    const made = drawChart(data, view, points, Math.max(300, chart.clientWidth), {x: axisLabel(), y: metric.label, title});
    chart.querySelector("svg")?.remove();
    chart.prepend(made.svg);
    marks = made.marks;
    say(-1);
    byId("explore-title").textContent = `${study.title}. ${view.dataset}${study.own.includes(view.dataset) ? " (your data)" : ""}, ${data.settings[view.setting]}.`;
    byId("explore-note").textContent = [
      "Marks are means over seeds, bars reach from the lowest to the highest seed. A hollow mark: no audit tried this cell.",
      made.left ? `${counted(made.left, "cell")} without a place on this axis, as ε is infinite or 0. The table has them all.` : "",
      made.ceiling ? "Dotted: what no classifier can exceed at this ε, for classes of one size." : "",
      made.printed ? "An open star: what the paper prints." : "",
    ].filter(Boolean).join(" ");
    byId("explore-link").href = location.href.split("#")[0] + writeAddress(view);
    drawLegend(legend, data, lines, view.lines, (next, back) => {
      view.lines = next;
      view.emptied = Boolean(next && !next.length);
      update();
      legend.querySelector(back)?.focus();
    });
    fillTable(points);
  }

  function update() {
    settle();
    draw();
    history.replaceState(null, "", writeAddress(view));
  }

  function open(wanted, move) {
    view = {...view, lines: null, ...wanted};
    settle();
    draw();
    if (move) byId("explore").scrollIntoView();
  }

  for (const [key, select] of Object.entries(selects)) select.addEventListener("change", () => {
    view = {...view, [key]: select.value, lines: ["study", "dataset"].includes(key) ? null : view.lines};
    update();
  });
  const nearest = event => {
    const box = chart.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    const far = marks.map(mark => Math.hypot(mark.px - x, mark.py - y)), best = far.indexOf(Math.min(...far));
    return far[best] < 26 ? best : -1;
  };
  let pinned = false;
  chart.addEventListener("pointermove", event => {
    if (pinned || tip.contains(event.target)) return;
    const found = nearest(event);
    if (found !== at) say(found);
  });
  chart.addEventListener("click", event => {
    if (tip.contains(event.target)) return;
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
    view = {...view, study: link.dataset.study, dataset: "", metric: "", setting: "", lines: null};
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
  return {csv: () => table.csv(), view: () => view};
}
