// What the page does once it is read.
function openTo(hash) {
  const target = hash.length > 1 && !hash.startsWith(ADDRESS) && byId(decodeURIComponent(hash.slice(1)));
  if (!target) return;
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  const inside = target.querySelector("details") || target.parentElement.querySelector(":scope > details");
  if (target.matches("h2, h3") && inside && target.dataset.opens !== undefined) inside.open = true;
  target.scrollIntoView();
}

const contents = JSON.parse(byId("data").textContent);
claimsTable();
pictures();
allFigures();
explorer(contents.explorer);
calculator(contents.calculator, contents.labels);
window.addEventListener("hashchange", () => openTo(location.hash));
for (const link of document.querySelectorAll("a[href^='#']")) link.addEventListener("click", () => setTimeout(() => openTo(link.hash)));
openTo(location.hash);
