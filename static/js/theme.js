// Runs before the first paint, so that a chosen theme never flashes. Not a module: modules wait.
(() => {
  const ORDER = ["system", "light", "dark"];
  const root = document.documentElement;

  const read = () => {
    try {
      const kept = localStorage.getItem("theme");
      return ORDER.includes(kept) ? kept : "system";
    } catch {
      return "system"; // Storage is refused in some private windows.
    }
  };

  const apply = (theme) => {
    if (theme === "system") delete root.dataset.theme;
    else root.dataset.theme = theme;
    // The bar of the browser follows the theme that was chosen, else that of the system.
    for (const meta of document.querySelectorAll("meta[name=theme-color]")) {
      const { scheme } = meta.dataset;
      if (theme === "system") meta.media = `(prefers-color-scheme: ${scheme})`;
      else meta.media = theme === scheme ? "all" : "not all";
    }
  };

  const describe = (button, theme) => {
    button.title = `Colour theme: ${theme}`;
    button.setAttribute("aria-label", button.title);
    const name = button.querySelector("[data-theme-name]");
    if (name) name.textContent = button.title;
  };

  const advance = (button) => {
    const next = ORDER[(ORDER.indexOf(read()) + 1) % ORDER.length];
    try {
      localStorage.setItem("theme", next);
    } catch {
      // Without storage the choice lasts for this page only.
    }
    apply(next);
    describe(button, next);
  };

  apply(read());
  document.addEventListener("DOMContentLoaded", () => {
    for (const button of document.querySelectorAll("[data-theme-toggle]")) {
      describe(button, read());
      button.addEventListener("click", () => advance(button));
    }
  });
})();
