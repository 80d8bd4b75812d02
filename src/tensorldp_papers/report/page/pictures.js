// Figures that are shown smaller than they are get a button that enlarges them.
function pictures() {
  for (const picture of document.querySelectorAll(".picture")) {
    const button = document.createElement("button"), image = picture.querySelector("img");
    button.type = "button";
    button.className = "enlarge";
    button.textContent = "Enlarge";
    button.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-label", "Enlarge the figure: " + image.alt.split(".")[0]);
    button.addEventListener("click", () => {
      const large = picture.classList.toggle("large");
      button.setAttribute("aria-pressed", String(large));
      picture.tabIndex = large ? 0 : -1;
    });
    new ResizeObserver(() => {
      button.hidden = !picture.classList.contains("large") && picture.clientWidth > .9 * image.getAttribute("width");
    }).observe(picture);
    picture.after(button);
  }
}
