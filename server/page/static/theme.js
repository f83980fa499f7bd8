// Set the theme before anything is painted. It is "light", "dark", or nothing: as the system says.
(() => {
  try {
    const theme = localStorage.getItem("journeygraph.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // Storage is off: the system's theme is used.
  }
})();
