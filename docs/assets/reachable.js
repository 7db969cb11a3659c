// What the theme leaves out for keyboards and screen readers: a name for the search, a name of its own for each landmark,
// and code and tables that the keyboard can scroll. The theme adds elements later and takes attributes away, hence the
// observer.
"use strict";
addEventListener("load", () => {
  const set = (element, name, value) => {
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  };
  const complete = () => {
    set(document.querySelector(".md-search"), "aria-label", "Search");
    document.querySelectorAll("pre > code, .md-typeset__scrollwrap").forEach((wide) => set(wide, "tabindex", "0"));
    document.querySelectorAll(".md-code__nav").forEach((nav, number) => set(nav, "aria-label", `Code ${number + 1}`));
    document.querySelectorAll(".md-nav .md-nav").forEach((nav, number) => {
      nav.removeAttribute("aria-labelledby");
      set(nav, "aria-label", `Section ${number + 1}`);
    });
  };
  new MutationObserver(complete).observe(document.body, {
    subtree: true,
    childList: true,
    attributeFilter: ["tabindex", "aria-label"],
  });
  complete();
});
