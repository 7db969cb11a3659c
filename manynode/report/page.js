// Draws each figure from the JSON block beside it in place of its still picture, and offers its data as CSV and the
// picture as SVG. document.documentElement.dataset.figures says when all are drawn.
"use strict";
(() => {
  const NARROW = 520; // pixels: a phone

  const field = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };

  const offer = (link, type, text) => {
    link.href = URL.createObjectURL(new Blob([text], { type }));
  };

  const csv = (rows) => {
    const columns = Object.keys(rows[0] ?? {});
    return [columns, ...rows.map((row) => columns.map((name) => row[name]))]
      .map((row) => row.map(field).join(",") + "\n")
      .join("");
  };

  // On a phone, titles of axes are broken into lines, names below a chart are slanted, and names beside it are short.
  const narrow = (part) => {
    for (const [name, value] of Object.entries(part)) {
      if (name === "datasets" || value === null || typeof value !== "object") continue;
      if ((name === "x" || name === "y") && typeof value.title === "string")
        value.title = value.title.match(/.{1,30}(?= |$)/g)?.map((line) => line.trim()) ?? value.title;
      if (name === "x" && value.type !== "quantitative" && value.axis) value.axis.labelAngle = -40;
      if (value.labelLimit > 120) value.labelLimit = 120;
      narrow(value);
    }
  };

  const draw = async (figure) => {
    const spec = JSON.parse(figure.querySelector(".spec").textContent);
    const rows = spec.datasets.table;
    offer(figure.querySelector("a.csv"), "text/csv", csv(rows));
    if (figure.clientWidth < NARROW) {
      spec.config.legend.columns = 2;
      spec.config.axis.labelLimit = 120;
      narrow(spec);
    }
    figure.querySelector(".links").hidden = false;
    try {
      const result = await window.vegaEmbed(figure.querySelector(".chart"), spec, {
        mode: "vega-lite",
        renderer: "svg",
        actions: false,
        ast: true,
        defaultStyle: false,
        tooltip: { disableDefaultStyle: true },
      });
      const link = figure.querySelector("a.svg");
      link.addEventListener("click", async (event) => {
        if (link.href.startsWith("blob:")) return;
        event.preventDefault();
        offer(link, "image/svg+xml", await result.view.toSVG());
        link.click();
        link.href = `#${figure.id}`;
      });
    } catch (error) {
      const place = figure.querySelector(".failure");
      place.hidden = false;
      place.textContent = `This figure could not be drawn: ${error.message}`;
      console.error(error);
    }
  };

  // A heading of a sortable table sorts by its column: by data-value where cells have one, else by their text.
  const sortable = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    const key = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const order = (a, b) => (isNaN(a) || isNaN(b) || a === "" || b === "" ? a.localeCompare(b) : a - b);
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
        const rows = [...table.tBodies[0].rows];
        table.tBodies[0].append(...rows.sort((a, b) => sign * order(key(a, column), key(b, column))));
      });
    });
  };
  document.querySelectorAll("table.sortable").forEach(sortable);

  const figures = [...document.querySelectorAll(".figure")];
  Promise.all(figures.map(draw)).then(() => {
    document.documentElement.dataset.figures = String(figures.length);
  });
})();
