// The table of claims: filters, sorting, and counts that lead to their claims.
function claimsTable() {
  const table = document.getElementById("claims-table"), body = table.tBodies[0];
  const rows = [...body.rows], form = document.getElementById("filters"), status = document.getElementById("shown");
  const box = name => document.getElementById("by-" + name);
  const verdicts = [...box("verdict").options].map(option => option.value);
  const text = new Map(rows.map(row => [row, row.textContent.toLowerCase()]));

  function filter() {
    const words = box("text").value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const fits = ["source", "kind", "verdict"].every(key => !box(key).value || row.dataset[key] === box(key).value)
        && words.every(word => text.get(row).includes(word));
      row.hidden = !fits;
      count += fits;
    }
    status.textContent = count === rows.length ? `${counted(count, "claim")}.` : `${count} of ${counted(rows.length, "claim")}.`;
  }

  function sort(head) {
    const down = head.getAttribute("aria-sort") === "ascending", column = head.cellIndex;
    const rank = row => head.dataset.key === "verdict" ? verdicts.indexOf(row.dataset.verdict)
      : row.cells[column].textContent;
    const compare = (a, b) => head.dataset.key === "verdict" ? rank(a) - rank(b)
      : rank(a).localeCompare(rank(b), "en", {numeric: true});
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...[...body.rows].sort((a, b) => down ? compare(b, a) : compare(a, b)));
  }

  form.hidden = false;
  form.addEventListener("submit", event => event.preventDefault());
  form.addEventListener("input", filter);
  form.addEventListener("reset", () => setTimeout(filter));
  for (const head of table.querySelectorAll("th[data-key]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => sort(head));
    head.replaceChildren(button);
  }
  for (const link of document.querySelectorAll("a[data-verdict]")) {
    link.addEventListener("click", () => {
      form.reset();
      box("source").value = link.dataset.source;
      box("kind").value = link.dataset.kind || "";
      box("verdict").value = link.dataset.verdict;
      filter();
    });
  }
}
