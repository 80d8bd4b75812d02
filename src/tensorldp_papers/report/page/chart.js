// The chart of a view, in plain SVG.
const MARKS = {
  o: "M4,0A4,4 0 1 1 -4,0A4,4 0 1 1 4,0Z", s: "M-3.6,-3.6H3.6V3.6H-3.6Z", "^": "M0,-4.6L4.4,3.4H-4.4Z",
  v: "M0,4.6L4.4,-3.4H-4.4Z", D: "M0,-4.8L4.8,0L0,4.8L-4.8,0Z",
  P: "M-1.6,-4.6H1.6V-1.6H4.6V1.6H1.6V4.6H-1.6V1.6H-4.6V-1.6H-1.6Z",
  X: "M-4.4,-2.4L-2.4,-4.4L0,-2L2.4,-4.4L4.4,-2.4L2,0L4.4,2.4L2.4,4.4L0,2L-2.4,4.4L-4.4,2.4L-2,0Z",
  "*": "M0,-5.5L1.4,-1.8L5.2,-1.7L2.2,.7L3.2,4.4L0,2.2L-3.2,4.4L-2.2,.7L-5.2,-1.7L-1.4,-1.8Z",
};
const WIDEST = 30; // times an epsilon: across more no line is drawn, as in figures
const markOf = look => MARKS[look.marker] || MARKS.o;

// A number on an axis: plain below 100,000, then a power of ten, as in figures.
function axisNumber(value) {
  const size = Math.abs(value), power = Math.floor(Math.log10(size) + 1e-9);
  if (value === 0 || (size >= 1e-3 && size < 1e5)) return Number(value.toPrecision(3)).toLocaleString("en", {maximumFractionDigits: 6});
  const ten = "10" + [...String(power)].map(digit => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit] ?? "⁻").join(""), lead = Number((value / 10 ** power).toPrecision(3));
  return lead === 1 ? ten : `${lead} × ${ten}`;
}

// Decades, with 2 and 5 where there are few; every second or third where there is no room for `most`.
function logTicks(low, high, most) {
  const ticks = [], steps = Math.log10(high / low) < 2 ? [1, 2, 5] : [1];
  const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high)), every = Math.ceil((last - first) / most);
  for (let power = first; power <= last; power++) {
    if (power % every) continue;
    for (const step of steps) if (step * 10 ** power >= low * .999 && step * 10 ** power <= high * 1.001) ticks.push(step * 10 ** power);
  }
  return ticks;
}

function linearTicks(low, high) {
  const rough = (high - low) / 5, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(factor => factor * power >= rough * .999), ticks = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-9; at += step) ticks.push(Number(at.toPrecision(12)));
  return ticks;
}

// The ends of both axes: scores between 0 and 1 fill that range, wide ranges are logarithmic, references stretch none.
function endsOf(points, references, marks) {
  const xs = [...points.flatMap(p => p.range), ...marks.map(m => m.epsilon)].filter(x => x > 0 && x < Infinity);
  const ys = [...(points.length ? points : references).flatMap(p => [p.low, p.high]), ...marks.map(m => m.value)];
  const left = xs.length ? Math.min(...xs) / 1.35 : .1, right = xs.length ? Math.max(...xs) * 1.35 : 10;
  let low = Math.min(...ys), high = Math.max(...ys);
  const log = low > 0 && high / low > 50 && high > 1;
  if (log) [low, high] = [low / 1.5, high * 1.5];
  if (!ys.length || (!log && low >= 0 && high <= 1)) [low, high] = [0, 1];
  else if (!log && low === high) [low, high] = [low - .5, high + .5];
  else if (!log && low >= 0) low = 0;
  return {left, right, low, high, log};
}

function scales(ends, size) {
  const {left, right, low, high, log} = ends, across = Math.log(right / left), up = log ? Math.log(high / low) : high - low;
  return {
    x: value => size.left + size.width * Math.log(value / left) / across,
    y: value => size.top + size.height * (1 - (log ? Math.log(value / low) : value - low) / up),
    xTicks: logTicks(left, right, size.width / 56), yTicks: log ? logTicks(low, high, size.height / 30) : linearTicks(low, high), left, right,
  };
}

function axesOf(scale, size, xLabel, yLabel) {
  const group = drawn("g", {class: "axes"});
  for (const at of scale.yTicks) group.append(
    drawn("line", {x1: size.left, x2: size.left + size.width, y1: scale.y(at), y2: scale.y(at)}),
    drawn("text", {x: size.left - 8, y: scale.y(at) + 4, "text-anchor": "end"}, axisNumber(at)));
  for (const at of scale.xTicks) group.append(
    drawn("line", {x1: scale.x(at), x2: scale.x(at), y1: size.top, y2: size.top + size.height}),
    drawn("text", {x: scale.x(at), y: size.top + size.height + 18, "text-anchor": "middle"}, axisNumber(at)));
  group.append(
    drawn("text", {x: size.left + size.width / 2, y: size.top + size.height + 40, "text-anchor": "middle"}, xLabel),
    drawn("text", {class: "head", x: 2, y: 14}, yLabel));
  return group;
}

// Chance of the best classifier on records of classes of one size: (e^ε + (K - 1) δ) / (e^ε + K - 1).
function ceilingPath(scale, classes, delta) {
  const steps = Array.from({length: 121}, (_, i) => scale.left * (scale.right / scale.left) ** (i / 120));
  const highest = epsilon => (1 + (classes - 1) * delta * Math.exp(-epsilon)) / (1 + (classes - 1) * Math.exp(-epsilon));
  return "M" + steps.map(at => `${scale.x(at).toFixed(1)},${scale.y(Math.min(1, highest(at))).toFixed(1)}`).join("L");
}

// What the chosen lines of a view show, and between which ends.
function sceneOf(data, view, points) {
  const shown = points.filter(p => view.lines.includes(p.line)), reference = p => data.lines[p.line].reference;
  const printed = view.axis === "mu" ? [] : data.printed.filter(
    p => p.study === view.study && p.dataset === view.dataset && p.metric === view.metric);
  const classes = view.metric === "accuracy_perturbed_test" && view.axis !== "mu" ? data.classes[view.dataset] : 0;
  return {
    placed: shown.filter(p => p.x > 0 && !reference(p)), references: shown.filter(reference), printed, classes,
    left: shown.filter(p => !(p.x > 0) && !reference(p)).length, delta: view.axis === "guaranteed" ? Number(view.delta) : 0,
    ends: endsOf(shown.filter(p => !reference(p)), shown.filter(reference), printed),
  };
}

// The scene between two others: points and ends on their way, on logarithmic axes; what has no place in both is left out.
function onTheWay(from, to, share) {
  const mix = (a, b) => Math.exp(Math.log(a) * (1 - share) + Math.log(b) * share);
  const old = new Map(from.placed.map(p => [p.cell, p.x])), {left, right} = from.ends;
  return {
    ...to, placed: to.placed.filter(p => old.has(p.cell)).map(p => ({...p, x: mix(old.get(p.cell), p.x)})),
    ends: {...to.ends, left: mix(left, to.ends.left), right: mix(right, to.ends.right)},
  };
}

// Draws a scene and returns the drawing and its marks, in the order of the arrow keys.
function drawChart(looks, scene, width, labels) {
  const height = width < 520 ? 320 : 400, size = {left: 52, top: 28, width: width - 76, height: height - 78};
  const scale = scales(scene.ends, size);
  const svg = drawn("svg", {
    viewBox: `0 0 ${width} ${height}`, width, height, role: "img", tabindex: 0, "aria-label": labels.title,
    "aria-describedby": "explore-keys",
  });
  svg.append(axesOf(scale, size, labels.x, labels.y));
  const marks = [], lineOf = line => drawn("g", {
    class: "line", style: `--light: ${looks[line].light}; --dark: ${looks[line].dark}`, "data-line": line});
  for (const line of new Set(scene.references.map(p => p.line))) {
    const own = scene.references.filter(p => p.line === line), mean = own.reduce((sum, p) => sum + p.y, 0) / own.length, group = lineOf(line);
    if (!(mean >= scene.ends.low && mean <= scene.ends.high)) continue;
    group.append(drawn("line", {class: "reference", x1: size.left, x2: size.left + size.width, y1: scale.y(mean), y2: scale.y(mean)}));
    svg.append(group);
  }
  for (const line of new Set(scene.placed.map(p => p.line))) {
    const look = looks[line], here = scene.placed.filter(p => p.line === line).sort((a, b) => a.x - b.x), group = lineOf(line);
    if (here.length > 1) group.append(drawn("path", {
      class: "trace", d: here.map((p, i) => `${i && p.x < WIDEST * here[i - 1].x ? "L" : "M"}${scale.x(p.x).toFixed(1)},${scale.y(p.y).toFixed(1)}`).join(""),
    }));
    for (const p of here) {
      const mark = drawn("g", {class: "mark" + (p.cell[AUDITS].length ? "" : " untried"), transform: `translate(${scale.x(p.x).toFixed(1)},${scale.y(p.y).toFixed(1)})`});
      if (p.seeds > 1) group.append(drawn("line", {class: "seeds", x1: scale.x(p.x), x2: scale.x(p.x), y1: scale.y(p.low), y2: scale.y(p.high)}));
      mark.append(drawn("path", {d: markOf(look)}));
      group.append(mark);
      marks.push({...p, mark, group, px: scale.x(p.x), py: scale.y(p.y)});
    }
    svg.append(group);
  }
  if (scene.classes) svg.append(drawn("path", {class: "ceiling", d: ceilingPath(scale, scene.classes, scene.delta)}));
  for (const point of scene.printed) {
    const mark = drawn("g", {class: "mark printed", transform: `translate(${scale.x(point.epsilon)},${scale.y(point.value)})`});
    mark.append(drawn("path", {d: MARKS["*"]}));
    svg.append(mark);
    marks.push({printed: point, mark, px: scale.x(point.epsilon), py: scale.y(point.value)});
  }
  return {svg, marks};
}
