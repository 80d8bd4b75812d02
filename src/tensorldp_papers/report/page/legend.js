// The legend: a box to show or hide each line, a name that singles it out.
function swatch(look) {
  const svg = drawn("svg", {viewBox: "0 0 34 14", width: 34, height: 14, "aria-hidden": "true"});
  const group = drawn("g", {class: "line", style: `--light: ${look.light}; --dark: ${look.dark}`});
  if (look.reference) group.append(drawn("line", {class: "reference", x1: 1, x2: 33, y1: 7, y2: 7}));
  else {
    group.append(drawn("path", {class: "trace", d: "M1,7H33"}));
    const mark = drawn("g", {class: "mark", transform: "translate(17,7)"});
    mark.append(drawn("path", {d: markOf(look)}));
    group.append(mark);
  }
  svg.append(group);
  return svg;
}

// `change` gets the lines that are shown from now on, null for those that the view opens with.
function drawLegend(place, looks, shown, few, change) {
  const lines = Object.keys(looks);
  place.replaceChildren(...lines.map(line => {
    const look = looks[line], only = shown.length === 1 && shown[0] === line;
    const box = element("input", {type: "checkbox", "aria-label": `show ${look.label}`, "data-line": line});
    box.checked = shown.includes(line);
    box.addEventListener("change", () => change(
      lines.filter(other => other === line ? box.checked : shown.includes(other)), `input[data-line="${CSS.escape(line)}"]`));
    const name = element("button", {type: "button", "data-line": line, "aria-pressed": String(only), title: only ? "show several again" : "show only this one"}, swatch(look), look.label);
    name.addEventListener("click", () => change(only ? null : [line], `button[data-line="${CSS.escape(line)}"]`));
    return element("div", shown.includes(line) ? {} : {class: "off"}, box, name);
  }));
  const all = shown.length === lines.length, more = element("button", {type: "button", class: "every"}, all ? "Show fewer" : `Show all ${lines.length}`);
  more.addEventListener("click", () => change(all ? null : lines, ".every"));
  if (lines.length > few) place.append(more);
}
