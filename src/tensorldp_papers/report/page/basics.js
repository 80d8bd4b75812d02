// What the other files share: numbers as text, elements, files to keep.
const byId = id => document.getElementById(id);
const INFINITE = null; // how the data write a number that is not finite

function text(value) {
  if (value === INFINITE || value === Infinity) return "∞";
  if (value === undefined || Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(2).replace(/\.?0+e/, "e").replace("e+", "e");
  return String(Number(value.toPrecision(4)));
}

const counted = (number, what) => `${number} ${number === 1 ? what : `${what}s`}`;

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const holder = element("template");
holder.innerHTML = "<svg></svg>";
const SVG = holder.content.firstChild.namespaceURI;

function drawn(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function fill(select, options, chosen) {
  select.replaceChildren(...options.map(([value, words]) => new Option(words, value)));
  const known = options.some(([value]) => value === chosen);
  select.value = known ? chosen : options[0][0];
  return select.value;
}

function keep(name, type, content) {
  const link = element("a", {download: name, href: URL.createObjectURL(new Blob([content], {type}))});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
