// What the explorer shows: the choices, kept in the page's address, and the points that they single out.
const AXES = {
  printed: "printed ε, as the paper writes it (nats)",
  guaranteed: "true ε of one whole",
  pure: "true pure ε, atoms removed, of one whole",
  mu: "μ of the Gaussian release with the same ε",
};
const ADDRESS = "#explore?";
const MOST = 5; // lines that a view opens with
const [STUDY, DATASET, SETTING, LINE, PRINTED, UNIT, EXACT, PURE, PROFILE, MUS, AUDITS] = Array(11).keys();

function readAddress(hash) {
  if (!hash.startsWith(ADDRESS)) return null;
  const found = Object.fromEntries(new URLSearchParams(hash.slice(ADDRESS.length)));
  if (found.lines !== undefined) found.lines = found.lines.split("|").filter(Boolean);
  return found;
}

function writeAddress(view) {
  const kept = new URLSearchParams();
  for (const key of ["study", "dataset", "metric", "setting", "axis", "delta"]) kept.set(key, view[key]);
  if (view.lines) kept.set("lines", view.lines.join("|"));
  return ADDRESS + kept;
}

function position(cell, view, deltas) {
  const at = deltas.indexOf(Number(view.delta));
  if (view.axis === "printed") return cell[PRINTED];
  if (view.axis === "pure") return cell[PURE];
  return (view.axis === "mu" ? cell[MUS] : cell[PROFILE])[at];
}

// Every value of the chosen study, data set, metric and setting, one point a cell; `range` has all that the axis shows.
function pointsOf(data, view) {
  const points = [];
  for (const [index, ...values] of data.values[view.metric] || []) {
    const cell = data.cells[index];
    if (cell[STUDY] !== view.study || cell[DATASET] !== view.dataset || cell[SETTING] !== view.setting) continue;
    const seen = values.filter(value => value !== INFINITE);
    if (!seen.length) continue;
    const compared = ["printed", "guaranteed"].includes(view.axis); // on one range, so that what moves is seen to move
    points.push({
      cell, line: cell[LINE], x: position(cell, view, data.deltas),
      range: (compared ? ["printed", "guaranteed"] : [view.axis]).map(axis => position(cell, {...view, axis}, data.deltas)),
      y: seen.reduce((sum, value) => sum + value, 0) / seen.length,
      low: Math.min(...seen), high: Math.max(...seen), seeds: seen.length, values: seen,
    });
  }
  return points.sort((a, b) => (a.x ?? Infinity) - (b.x ?? Infinity));
}

// The lines that a view opens with: the first of its study that it has, and one reference.
function openingLines(data, view, lines) {
  const ranked = data.studies[view.study].opening.lines.filter(line => lines.includes(line));
  const references = ranked.filter(line => data.lines[line].reference), plain = references.find(line => !line.includes(" "));
  const own = ranked.filter(line => !data.lines[line].reference).slice(0, MOST);
  return lines.filter(line => own.includes(line) || line === (plain ?? references[0]));
}

// The looks of a view's lines; those of one colour have markers of their own, the first their mechanism's.
function looksOf(data, lines) {
  const looks = {}, taken = {};
  for (const line of lines) {
    const look = data.lines[line], used = taken[look.light] ??= [];
    const marker = [look.marker, ...data.markers].find(marker => !used.includes(marker)) ?? look.marker;
    used.push(marker);
    looks[line] = {...look, marker};
  }
  return looks;
}

// What the selects may offer, each list given the choices before it.
function offered(data, view) {
  const of = test => data.cells.filter(test);
  const unique = values => [...new Set(values)];
  const places = Object.keys(data.datasets);
  return {
    study: Object.keys(data.studies),
    dataset: unique(of(cell => cell[STUDY] === view.study).map(cell => cell[DATASET])).sort((a, b) => places.indexOf(a) - places.indexOf(b)),
    metric: Object.keys(data.metrics).filter(metric => data.values[metric].some(
      ([index]) => data.cells[index][STUDY] === view.study && data.cells[index][DATASET] === view.dataset)),
    setting: unique((data.values[view.metric] || []).map(([index]) => data.cells[index])
      .filter(cell => cell[STUDY] === view.study && cell[DATASET] === view.dataset).map(cell => cell[SETTING])),
  };
}

function auditWords(cell) {
  if (!cell[AUDITS].length) return "none tried";
  return cell[AUDITS].map(([epsilon, delta, kind, samples, confidence]) => epsilon === 0
    ? `found nothing at δ = ${text(delta)} (${kind}, ${samples.toLocaleString("en")} samples)`
    : `ε ≥ ${text(epsilon)} at δ = ${text(delta)} (${kind}, ${samples.toLocaleString("en")} samples, ${100 * confidence} %)`
  ).join("; ");
}

function guaranteeWords(cell, view, deltas) {
  const at = deltas.indexOf(Number(view.delta)), exact = cell[EXACT] ? "exact" : "a bound";
  return `ε = ${text(cell[PROFILE][at])} at δ = ${text(Number(view.delta))} for one ${cell[UNIT]} (${exact})`;
}
