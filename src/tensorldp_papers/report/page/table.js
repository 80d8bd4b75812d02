// A table that sorts by its heads, filters by words and can be kept as CSV.
function liveTable(table, status) {
  let heads = [], rows = [], order = null, words = "";

  function shownRows() {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    const found = rows.filter(row => wanted.every(word => row.some(cell => cell.text.toLowerCase().includes(word))));
    if (!order) return found;
    const rank = row => row[order.column].value, sign = order.down ? -1 : 1;
    return [...found].sort((a, b) => sign * (typeof rank(a) === "number" ? rank(a) - rank(b)
      : String(rank(a)).localeCompare(String(rank(b)), "en", {numeric: true})) || 0);
  }

  function draw() {
    const found = shownRows();
    status.textContent = found.length === rows.length ? `${counted(rows.length, "row")}.` : `${found.length} of ${counted(rows.length, "row")}.`;
    table.tHead.replaceChildren(element("tr", {}, ...heads.map((head, column) => {
      const button = element("button", {type: "button"}, head.text), cell = element("th", {scope: "col"}, button);
      if (head.numeric) cell.className = "n";
      if (order && order.column === column) cell.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      button.addEventListener("click", () => {
        order = {column, down: Boolean(order && order.column === column && !order.down)};
        draw();
        table.tHead.rows[0].cells[column].firstChild.focus();
      });
      return cell;
    })));
    table.tBodies[0].replaceChildren(...found.map(row => element("tr", {}, ...row.map((cell, column) => {
      const made = column ? element("td", {}, cell.text) : element("th", {scope: "row"}, cell.text);
      if (heads[column].numeric) made.className = "n";
      return made;
    }))));
  }

  return {
    show(newHeads, newRows) {
      if (order && (!newHeads[order.column] || newHeads[order.column].text !== (heads[order.column] || {}).text)) order = null;
      [heads, rows] = [newHeads, newRows];
      draw();
    },
    filter(text) { words = text; draw(); },
    csv() {
      const quote = cell => /[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
      const lines = [heads.map(head => head.text), ...shownRows().map(row => row.map(
        cell => typeof cell.value === "number" && Number.isFinite(cell.value) ? String(cell.value) : cell.text))];
      return lines.map(line => line.map(quote).join(",")).join("\r\n") + "\r\n";
    },
  };
}
