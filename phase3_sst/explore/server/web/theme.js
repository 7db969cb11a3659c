// Light or dark: what the system prefers, until a person chooses. Runs before the page is drawn.
"use strict";
(() => {
  const root = document.documentElement;
  const prefers = matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => localStorage.getItem("theme");
  const show = () => {
    const dark = (chosen() ?? (prefers.matches ? "dark" : "light")) === "dark";
    root.dataset.theme = dark ? "dark" : "light";
    document.getElementById("theme")?.setAttribute("aria-pressed", String(dark));
  };
  show();
  prefers.addEventListener("change", show);
  document.addEventListener("DOMContentLoaded", () => {
    show();
    document.getElementById("theme").addEventListener("click", () => {
      localStorage.setItem("theme", root.dataset.theme === "dark" ? "light" : "dark");
      show();
    });
  });
})();
