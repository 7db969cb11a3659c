// Vega-Lite figures in the page's colours, each with the same numbers as a table.

import { element, fold, table } from "./dom.js";

export const COLOURS = ["#1f7fc4", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6bb1", "#b3a000"];
export const TIME_LABEL = "replace(format(datum.value, '~s'), regexp('([a-zµ]?)$'), ' $1') + 's'";

const CONFIG = {
  background: "transparent",
  font: "system-ui, sans-serif",
  view: { stroke: null },
  axis: { labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", gridOpacity: 0.5, domain: false, labelLimit: 200 },
  legend: { labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", orient: "top", columns: 3, labelLimit: 180 },
  text: { fontSize: 12 },
};

// Draws `spec` over `rows` into a figure with a caption; `onclick` gets the row of the mark that was chosen.
export function figure(name, caption, spec, rows, columns, onclick) {
  const place = element("div", { class: "chart", role: "img", "aria-label": `${caption} The table below has the numbers.` });
  const made = element(
    "figure",
    { class: "figure", id: `figure-${name}`, "data-drawn": "no" },
    place,
    element("figcaption", {}, caption),
    fold("Numbers", table(caption, columns, rows)),
  );
  const whole = {
    width: "container",
    autosize: { type: "fit-x", contains: "padding" },
    config: CONFIG,
    datasets: { table: rows },
    ...spec,
  };
  // The figure knows its width once it is in the page. The numbers are painted first: drawing keeps the page busy.
  requestAnimationFrame(() => setTimeout(async () => {
    if (!made.isConnected) return;
    try {
      const { view } = await window.vegaEmbed(place, whole, {
        mode: "vega-lite",
        renderer: "svg",
        actions: false,
        ast: true,
        defaultStyle: false,
        tooltip: { disableDefaultStyle: true },
      });
      if (!made.isConnected) {
        view.finalize();
        return;
      }
      if (onclick) view.addEventListener("click", (_event, item) => item?.datum && onclick(item.datum));
      made.view = view;
      made.dataset.drawn = "yes";
    } catch (error) {
      place.replaceChildren(element("p", { class: "failure" }, `This figure could not be drawn: ${error.message}`));
      console.error(error);
    }
  }));
  return made;
}

// Frees what figures hold before their place is filled again.
export function clear(place) {
  for (const each of place.querySelectorAll(".figure")) each.view?.finalize();
  place.replaceChildren();
}
