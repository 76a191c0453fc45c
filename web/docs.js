// The page of the interface in the colours that the viewer has chosen for the console, or that the system has.

const system = matchMedia("(prefers-color-scheme: dark)");

function showTheme() {
  const theme = document.documentElement.dataset.theme;
  const isDark = theme === "dark" || (theme !== "light" && system.matches);
  document.documentElement.classList.toggle("dark-mode", isDark);
}

showTheme();
system.addEventListener("change", showTheme);

// What is shown is made by a library, which forgets the names of some fields and ways for keys.

function nameFields(place) {
  const { serverLabel, bodyLabel, choiceLabel } = place.dataset;
  for (const field of place.querySelectorAll("select:not([aria-label]), textarea:not([aria-label])")) {
    const ofField = field.localName === "textarea" ? bodyLabel : choiceLabel;
    field.setAttribute("aria-label", field.closest(".servers") === null ? ofField : serverLabel);
  }
}

function mend(place) {
  nameFields(place);
  for (const sample of place.querySelectorAll("pre:not([tabindex])")) sample.tabIndex = 0;
  for (const region of place.querySelectorAll(".opblock-body:not([tabindex])")) region.tabIndex = 0;
  // A link within a button, which does what the button does.
  for (const link of place.querySelectorAll("button a[href]")) link.removeAttribute("href");
}

document.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("api");
  new MutationObserver(() => mend(place)).observe(place, { childList: true, subtree: true });
});
