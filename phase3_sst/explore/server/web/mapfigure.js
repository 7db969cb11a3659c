// Draws a map: cells by their place in the grid, so that any values of an axis have room; lines and knees in between.

import { element } from "./dom.js";
import { figure, COLOURS } from "./figures.js";
import { duration, interval, percent, written } from "./format.js";

const CELL = 34; // pixels

let what = "time_s";

// The place of a number on an axis, in steps of the grid; null outside it.
export function place(axis, number) {
  const to = axis.scale === "log" ? Math.log : (value) => value;
  const at = to(number);
  const marks = axis.numbers.map(to);
  const after = marks.findIndex((mark) => at <= mark + 1e-12 * Math.abs(mark));
  if (after < 0 || number === null) return null;
  if (after === 0) return at < marks[0] - 1e-9 * Math.abs(marks[0]) ? null : 0;
  return after - 1 + (at - marks[after - 1]) / (marks[after] - marks[after - 1]);
}

const axisOf = (axis, title) => ({
  title,
  scale: { domain: [-0.5, axis.values.length - 0.5], nice: false, zero: false },
  axis: {
    values: axis.values.map((_, index) => index),
    labelExpr: `${JSON.stringify(axis.values.map(written))}[datum.value]`,
    grid: false,
    labelAngle: axis.values.some((value) => written(value).length > 6) ? -35 : 0,
    labelOverlap: false,
  },
});

const words = {
  simulated: (cell) => `simulated: ${duration(cell.time_s)}, draws ${interval(cell.low_s, cell.high_s)}`,
  interpolated: (cell) => `interpolated: ${duration(cell.time_s)}, standard error ${percent(cell.error, 2)}`,
  unknown: () => "no time yet",
  refused: () => "not possible",
  failed: () => "failed",
};

export function draw(content, onclick) {
  const { x, y } = content;
  const rows = content.cells.map((cell) => ({
    ...cell,
    i: cell.column,
    left: cell.column - 0.5,
    right: cell.column + 0.5,
    j: cell.row,
    low: cell.row - 0.5,
    high: cell.row + 0.5,
    shown: what === "time_s" ? cell.time_s : cell.state === "interpolated" ? cell.error : null,
    xs: written(cell.x),
    ys: written(cell.y),
    said: words[cell.state](cell) + (cell.pending ? ", being simulated" : ""),
  }));
  const lines = lineRows(content);
  const knees = kneeRows(content);
  const caption = `${what === "time_s" ? "Time" : "Standard error of the interpolation"} over ${x.label} and ${y.label}. `;
  const drawn = figure("map", caption + legend(content), spec(content, rows, lines, knees), rows, [
    [x.label, (cell) => cell.xs],
    [y.label, (cell) => cell.ys],
    ["cell", (cell) => cell.state],
    ["time", (cell) => (cell.time_s === null ? "" : duration(cell.time_s)), { class: "n" }],
    ["interval of the draws", (cell) => interval(cell.low_s, cell.high_s) ?? ""],
    ["standard error", (cell) => (cell.error === null ? "" : percent(cell.error, 2)), { class: "n" }],
  ], (datum) => "xs" in datum && onclick(datum));
  return element("div", {}, choice(content, onclick, () => drawn), drawn);
}

function choice(content, onclick, drawn) {
  const select = element(
    "select",
    { id: "map-what" },
    element("option", { value: "time_s", selected: what === "time_s" }, "time"),
    element("option", { value: "error", selected: what === "error" }, "standard error"),
  );
  select.addEventListener("change", () => {
    what = select.value;
    drawn().view?.finalize();
    drawn().parentElement.replaceWith(draw(content, onclick));
  });
  return element("p", {}, element("label", { for: "map-what" }, "Show "), select);
}

const legend = (content) =>
  [
    "Ring: simulated. Paler, without a ring: interpolated.",
    content.cells.some((cell) => ["refused", "failed"].includes(cell.state)) ? "Cross: no time." : "",
    content.lines?.length ? "Lines: equal time, interpolated." : "",
    content.knees?.length ? "Triangles: knees, with their intervals." : "",
    "Choose a cell to ask its question.",
  ]
    .filter(Boolean)
    .join(" ");

// Lines of nearly equal times need more digits to be told apart.
const digitsOf = (times) => {
  const shown = times.filter((time) => time > 0);
  const spread = Math.max(...shown) / Math.min(...shown) - 1;
  return shown.length && spread > 0 ? Math.min(6, Math.max(3, Math.ceil(-Math.log10(spread)) + 2)) : 3;
};

function lineRows({ x, y, lines, cells }) {
  const digits = digitsOf(cells.map((cell) => cell.time_s));
  return (lines ?? []).flatMap((line, at) =>
    line.parts.flatMap((part, index) =>
      part.map(([one, other], order) => ({
        line: `${at} ${index}`,
        order,
        time: duration(line.time_s, digits),
        time_s: line.time_s,
        lx: place(x, one),
        ly: place(y, other),
        last: order === Math.floor(part.length * [0.5, 0.25, 0.75, 0.4, 0.1, 0.6, 0.9][at % 7]),
      })),
    ),
  );
}

function kneeRows({ x, y, knees }) {
  return (knees ?? [])
    .filter((knee) => knee.state === "inside")
    .map((knee) => {
      const [own, other] = knee.along === "x" ? [x, y] : [y, x];
      const across = place(own, knee.at);
      const rest = other.values.findIndex((value) => value === knee.other);
      const low = knee.low === null ? 0 : place(own, knee.low);
      const high = knee.high === null ? own.values.length - 1 : place(own, knee.high);
      return knee.along === "x"
        ? { kx: across, ky: rest, kx1: low, kx2: high, ky1: rest, ky2: rest }
        : { kx: rest, ky: across, kx1: rest, kx2: rest, ky1: low, ky2: high };
    });
}

function spec(content, rows, lines, knees) {
  const { x, y } = content;
  const xAxis = axisOf(x, x.label);
  const yAxis = axisOf(y, y.label);
  const tooltip = [
    { field: "xs", type: "nominal", title: x.label },
    { field: "ys", type: "nominal", title: y.label },
    { field: "said", type: "nominal", title: "cell" },
  ];
  const at = { x: { field: "i", type: "quantitative", ...xAxis }, y: { field: "j", type: "quantitative", ...yAxis } };
  const log = what === "time_s" && rows.some((row) => row.shown > 0);
  return {
    height: Math.max(160, CELL * y.values.length),
    view: { fill: "#ffffff" }, // paler is paler in the dark, too
    datasets: { table: rows, lines, knees },
    data: { name: "table" },
    layer: [
      {
        mark: { type: "rect", cursor: "pointer" },
        encoding: {
          x: { field: "left", type: "quantitative", ...xAxis },
          x2: { field: "right" },
          y: { field: "low", type: "quantitative", ...yAxis },
          y2: { field: "high" },
          color: {
            condition: { test: "datum.shown === null", value: "#9aa4ad" },
            field: "shown",
            type: "quantitative",
            scale: { type: log ? "log" : "linear", scheme: "viridis", reverse: true, nice: false },
            legend: { title: what === "time_s" ? "time [s]" : "standard error", format: what === "time_s" ? `.${digitsOf(rows.map((row) => row.time_s))}~s` : ".1%", gradientLength: 160, orient: "right" },
          },
          opacity: { condition: { test: "datum.state === 'simulated'", value: 1 }, value: 0.5 },
          tooltip,
        },
      },
      {
        transform: [{ filter: "datum.state === 'simulated'" }],
        mark: { type: "point", shape: "circle", filled: false, size: 110, stroke: "#ffffff", strokeWidth: 4, cursor: "pointer" },
        encoding: { ...at, tooltip },
      },
      {
        transform: [{ filter: "datum.state === 'simulated'" }],
        mark: { type: "point", shape: "circle", filled: false, size: 110, stroke: "#111111", strokeWidth: 2, cursor: "pointer" },
        encoding: { ...at, tooltip },
      },
      {
        transform: [{ filter: "datum.state === 'refused' || datum.state === 'failed'" }],
        mark: { type: "point", shape: "cross", angle: 45, filled: true, size: 90, color: "#111111" },
        encoding: { ...at, tooltip },
      },
      {
        transform: [{ filter: "datum.pending" }],
        mark: { type: "point", shape: "diamond", filled: false, size: 90, stroke: "#111111", strokeWidth: 2 },
        encoding: { ...at, tooltip },
      },
      {
        data: { name: "lines" },
        mark: { type: "line", color: "#111111", strokeWidth: 1.3, strokeDash: [5, 3] },
        encoding: {
          x: { field: "lx", type: "quantitative", ...xAxis },
          y: { field: "ly", type: "quantitative", ...yAxis },
          detail: { field: "line", type: "nominal" },
          order: { field: "order", type: "quantitative" },
        },
      },
      {
        data: { name: "lines" },
        transform: [{ filter: "datum.last" }],
        mark: { type: "text", fontSize: 11, fontWeight: 600, dy: -7, color: "#111111" },
        encoding: {
          x: { field: "lx", type: "quantitative", ...xAxis },
          y: { field: "ly", type: "quantitative", ...yAxis },
          text: { field: "time", type: "nominal" },
        },
      },
      {
        data: { name: "knees" },
        mark: { type: "rule", color: COLOURS[5], strokeWidth: 2 },
        encoding: {
          x: { field: "kx1", type: "quantitative", ...xAxis },
          x2: { field: "kx2" },
          y: { field: "ky1", type: "quantitative", ...yAxis },
          y2: { field: "ky2" },
        },
      },
      {
        data: { name: "knees" },
        mark: { type: "point", shape: "triangle-up", filled: true, size: 110, color: COLOURS[5], stroke: "#ffffff", strokeWidth: 1, opacity: 1 },
        encoding: {
          x: { field: "kx", type: "quantitative", ...xAxis },
          y: { field: "ky", type: "quantitative", ...yAxis },
        },
      },
    ],
  };
}
