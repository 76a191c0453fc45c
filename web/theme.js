// The colours that the viewer has chosen in this browser, before anything is shown.
try {
  const theme = localStorage.getItem("dropgate.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // A browser that keeps nothing shows the colours of the system.
}
