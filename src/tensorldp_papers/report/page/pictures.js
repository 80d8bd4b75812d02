// Figures are packed, a sheet for pages and one for phones; unpacked, they follow the reader's theme by themselves.
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return "data:image/svg+xml," + encodeURIComponent(await new Response(stream).text());
}

function pictures() {
  for (const sheet of document.querySelectorAll("[data-packed]")) unpacked(sheet.dataset.packed).then(address => {
    sheet[sheet.localName === "img" ? "src" : "srcset"] = address;
    delete sheet.dataset.packed;
  });
}
