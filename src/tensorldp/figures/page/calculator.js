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

// epsilon of `uses` uses at `delta`; {low, high} where the stored curve only bounds it.
function guaranteed(stored, mechanism, shape, epsilon, delta, uses) {
  const curve = stored.curves[mechanism][shape], epsilons = stored.epsilons[mechanism], plain = value => value === null ? Infinity : value;
  const pure = between(epsilons, curve.pure.map(plain), epsilon) * uses;
  const pureAtAll = curve.pure[0] === null ? Infinity : pure;
  if (delta === 0) return {value: pureAtAll};
  const column = stored.deltas.indexOf(delta), deep = stored.deltas.length, grid = stored.uses[mechanism], many = grid.length;
  const at = (i, j) => plain(curve.epsilon[(i * many + j) * deep + column]);
  const rows = epsilons.map((_, i) => between(grid, grid.map((_, j) => at(i, j)), uses));
  const value = between(epsilons, rows, epsilon);
  if (value < SMALL) return {low: 0, high: SMALL};
  if (!Number.isNaN(value)) return {value: Math.min(value, pureAtAll)};
  const i = nextTo(epsilons, epsilon), j = nextTo(grid, uses);
  const corners = [at(i, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)];
  return {low: Math.min(...corners), high: Math.max(SMALL, Math.min(Math.max(...corners), pureAtAll))};
}

function calculator(stored, labels) {
  const box = key => byId(`calculate-${key}`), answer = byId("calculate-answer");
  fill(box("mechanism"), Object.keys(stored.curves).map(name => [name, labels[name]]), "laplace");
  fill(box("shape"), Object.keys(Object.values(stored.curves)[0]).map(shape => [shape, shape.replaceAll("x", " × ")]), "28x28");
  fill(box("delta"), [0, ...stored.deltas].map(delta => [String(delta), text(delta)]), "0.00001");
  const [range] = Object.values(stored.epsilons), low = range[0], high = range.at(-1), most = Object.values(stored.uses)[0].at(-1);

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
  form.addEventListener("input", show);
  show();
}
