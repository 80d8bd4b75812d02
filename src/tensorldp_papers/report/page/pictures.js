// Figures are packed, a sheet for pages and one for phones; unpacked, they follow the reader's theme by themselves.
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return "data:image/svg+xml," + encodeURIComponent(await new Response(stream).text());
}

function allFigures() {
  const button = byId("all-figures");
  button.hidden = false;
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-pressed") === "false";
    for (const drawer of document.querySelectorAll("details.drawer")) drawer.open = open;
    button.setAttribute("aria-pressed", open);
    button.textContent = open ? "Close all figures" : "Open all figures";
  });
}

function pictures() {
  for (const sheet of document.querySelectorAll("[data-packed]")) unpacked(sheet.dataset.packed).then(address => {
    sheet[sheet.localName === "img" ? "src" : "srcset"] = address;
    delete sheet.dataset.packed;
  });
}
