// The calculator: what uses of a mechanism guarantee one record, between the stored points of its curve.
const SMALL = .05; // below, curves end at 0 too steeply to be interpolated
function nextTo(grid, value) {
  const last = grid.length - 2;
  return Math.min(Math.max(grid.findLastIndex(at => at <= value * (1 + 1e-12)), 0), last);
}

// Lagrange's cubic through the logarithms of four neighbours, or a straight line where some are 0 or infinite.
function between(grid, values, at) {
  const start = nextTo(grid, at), logs = grid.map(Math.log), x = Math.log(at);
  const from = Math.min(Math.max(start - 1, 0), Math.max(grid.length - 4, 0)), places = [0, 1, 2, 3].map(i => from + i);
  const usable = place => place < grid.length && values[place] > 0 && values[place] < Infinity;
  if (Math.abs(at / grid[start] - 1) < 1e-9) return values[start];
  if (Math.abs(at / grid[start + 1] - 1) < 1e-9) return values[start + 1];
  const used = places.every(usable) ? places : [start, start + 1];
  if (!used.every(usable)) return NaN;
  return Math.exp(used.reduce((sum, i) => sum + Math.log(values[i]) * used.filter(j => j !== i)
    .reduce((product, j) => product * (x - logs[j]) / (logs[i] - logs[j]), 1), 0));
}

// epsilon at delta of `count` independent losses of step, 0 or -step, which are 0 with probability `zero`.
function composed(step, zero, count, delta) {
  const logs = new Float64Array(count + 1), law = new Float64Array(count + 1), up = 1 / (1 + Math.exp(-step));
  for (let n = 2; n <= count; n++) logs[n] = logs[n - 1] + Math.log(n);
  const likely = (n, p) => { // all but 1e-16 of a binomial law
    const away = 10 * Math.sqrt(n * p * (1 - p)) + 40;
    return [Math.max(0, Math.floor(n * p - away)), Math.min(n, Math.ceil(n * p + away))];
  };
  const binomial = (n, k, p) => logs[n] - logs[k] - logs[n - k] + (k && k * Math.log(p)) + (n - k && (n - k) * Math.log1p(-p));
  for (let [zeros, last] = likely(count, zero); zeros <= last; zeros++) {
    const others = count - zeros, there = binomial(count, zeros, zero);
    for (let [ups, most] = likely(others, up); ups <= most; ups++) {
      const sum = 2 * ups - others;
      if (sum > 0) law[sum] += Math.exp(there + binomial(others, ups, up));
    }
  }
  const exceeds = epsilon => law.reduce((all, p, sum) => sum * step > epsilon ? all - p * Math.expm1(epsilon - sum * step) : all, 0) > delta;
  let [low, high] = [0, count * step];
  for (let halves = 0; halves < 40; halves++) {
    const middle = (low + high) / 2;
    if (exceeds(middle)) low = middle; else high = middle;
  }
  return high;
}

// epsilon of `uses` uses at `delta`; {low, high} where the stored curve only bounds it.
function guaranteed(stored, mechanism, shape, epsilon, delta, uses) {
  const said = value => value < SMALL ? {low: 0, high: SMALL} : {value}, law = stored.laws[mechanism];
  if (law) {
    const parts = law.part ? Math.max(1, Math.floor(epsilon / law.part)) : 1, step = epsilon / parts;
    const zero = between(law.epsilons, law.zeros[shape], step) || 0; // NaN between zeros
    return said(delta === 0 ? uses * epsilon : composed(step, zero, parts * uses, delta));
  }
  const curve = stored.curves[mechanism][shape], epsilons = stored.epsilons, plain = value => value === null ? Infinity : value;
  const pure = between(epsilons, curve.pure.map(plain), epsilon) * uses;
  const pureAtAll = curve.pure[0] === null ? Infinity : pure;
  if (delta === 0) return {value: pureAtAll};
  const column = stored.deltas.indexOf(delta), deep = stored.deltas.length, grid = stored.uses, many = grid.length;
  const at = (i, j) => plain(curve.epsilon[(i * many + j) * deep + column]);
  const rows = epsilons.map((_, i) => between(grid, grid.map((_, j) => at(i, j)), uses));
  const value = between(epsilons, rows, epsilon);
  if (!Number.isNaN(value)) return said(Math.min(value, pureAtAll));
  const i = nextTo(epsilons, epsilon), j = nextTo(grid, uses);
  const corners = [at(i, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)];
  return {low: Math.min(...corners), high: Math.max(SMALL, Math.min(Math.max(...corners), pureAtAll))};
}

function calculator(stored, labels) {
  const box = key => byId(`calculate-${key}`), answer = byId("calculate-answer");
  fill(box("mechanism"), Object.entries(labels), "tldp-l");
  fill(box("shape"), Object.keys(Object.values(stored.curves)[0]).map(shape => [shape, shape.replaceAll("x", " × ")]), "28x28");
  fill(box("delta"), [0, ...stored.deltas].map(delta => [String(delta), text(delta)]), "0.00001");
  const low = stored.epsilons[0], high = stored.epsilons.at(-1), most = stored.uses.at(-1);

  function show() {
    const epsilon = Number(box("epsilon").value), uses = Number(box("uses").value);
    const wrong = !(epsilon >= low && epsilon <= high) ? `ε must be from ${low} to ${high}.`
      : !(Number.isInteger(uses) && uses >= 1 && uses <= most) ? `The number of uses must be a whole number from 1 to ${most}.` : "";
    answer.classList.toggle("wrong", Boolean(wrong));
    if (wrong) { answer.textContent = wrong; return; }
    const delta = Number(box("delta").value), name = labels[box("mechanism").value];
    const found = guaranteed(stored, box("mechanism").value, box("shape").value, epsilon, delta, uses);
    const size = found.high === SMALL ? `ε below ${SMALL}` : found.value === Infinity ? "no finite ε" : found.value !== undefined ? `ε = ${text(found.value)}`
      : found.high === Infinity ? `no ε under ${text(found.low)}, and perhaps none that is finite` : `ε of at most ${text(found.high)}`;
    answer.textContent = `${uses === 1 ? "One use" : `${uses} uses`} of ${name} at the nominal ε = ${text(epsilon)} on a record of ${box("shape").value.replaceAll("x", " × ")} elements in [0, 1] guarantee${uses === 1 ? "s" : ""} the whole record ${size} at δ = ${text(delta)}.`;
  }
  const form = byId("calculate");
  form.hidden = false;
  form.addEventListener("submit", event => event.preventDefault());
  for (const kind of ["input", "change"]) form.addEventListener(kind, show);
  show();
}
