// What the machines of all finished answers cost: time against cost, with the front. Every new answer appears by itself.

import * as api from "./api.js";
import { byId, element, failure, table, button, fold } from "./dom.js";
import { clear, figure, COLOURS, TIME_LABEL } from "./figures.js";
import { duration, interval, number } from "./format.js";
import { inWords } from "./controls.js";
import { canonical } from "./link.js";

const LATER_MS = 400;

let page = null;
let files = [];
let asked = null; // the prices of the newest request
let known = null; // the prices that the server answered with
let due = null;
let turn = 0;

export function build(given, catalogue) {
  page = given;
  files = catalogue.prices ?? [];
  const choose = element(
    "select",
    { id: "price-file" },
    ...files.map(({ name, description }) => element("option", { value: name, title: description ?? "" }, name)),
  );
  choose.addEventListener("change", () => page.write({ prices: choose.value }));
  const together = element("input", { type: "checkbox", id: "price-together" });
  together.addEventListener("change", () => load());
  byId("view-cost").append(
    element("h2", {}, "Cost"),
    element("p", {}, "Every finished answer with the bill of its machine. On the front, no other answer is as fast and as cheap."),
    element(
      "div",
      { class: "actions" },
      element("label", { for: "price-file" }, "Price file"),
      choose,
      element("label", { for: "price-together" }, together, " all node counts do the same work: one front"),
    ),
    element("div", { id: "price-editor" }),
    element("div", { id: "cost-result", "aria-live": "polite" }),
    element("div", { id: "cost-figure" }),
  );
}

export function show(state) {
  if (byId("view-cost").hidden) return;
  if (asked === null || asked !== canonical(state.prices)) load();
}

// A new answer: the list is asked for again, once for several within a moment.
export function refresh() {
  if (byId("view-cost").hidden) {
    asked = null;
    return;
  }
  clearTimeout(due);
  due = setTimeout(load, LATER_MS);
}

async function load() {
  const { prices } = page.state();
  asked = canonical(prices);
  const mine = (turn += 1);
  try {
    const got = await api.post("/api/costs", { prices, together: byId("price-together").checked });
    if (mine !== turn) return;
    if (got.state === "refused") throw new api.Refused(got.error, 200);
    byId("cost-result").replaceChildren();
    if (typeof prices === "string") byId("price-file").value = prices;
    editor(got.prices);
    render(got);
  } catch (error) {
    if (mine === turn) byId("cost-result").replaceChildren(failure(api.facts(error)));
  }
}

// The prices as fields: names and bounds are those of the price file, whatever it has.
function editor(prices) {
  if (known !== null && canonical(known) === canonical(prices)) return;
  known = prices;
  const leaves = (value, path) =>
    typeof value === "number"
      ? [{ path, value }]
      : value !== null && typeof value === "object"
        ? Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key]))
        : [];
  const fields = leaves(prices, []).map(({ path, value }) => {
    const id = `price-${path.join("-").replaceAll(" ", "-")}`;
    const input = element("input", { id, type: "number", min: "0", step: "any", value });
    input.addEventListener("change", () => {
      const changed = structuredClone(known);
      const place = path.slice(0, -1).reduce((inner, key) => inner[key], changed);
      place[path.at(-1)] = Number(input.value);
      page.write({ prices: changed });
    });
    return element("div", {}, element("label", { for: id }, path.join(" ").replaceAll("_", " ")), input);
  });
  const open = byId("price-editor").querySelector("details")?.open;
  const made = fold(`Prices: ${prices.name}, ${prices.currency}`, element("div", { class: "form" }, ...fields));
  made.open = Boolean(open);
  byId("price-editor").replaceChildren(made);
}

function render({ rows, currency, refused }) {
  clear(byId("cost-figure"));
  const shown = rows.map((row) => ({
    ...row,
    words: inWords(row.question),
    place: row.front ? "on the front" : row.maybe_front ? "perhaps on the front" : "behind the front",
  }));
  const kinds = ["on the front", "perhaps on the front", "behind the front"];
  const x = { field: "cost", type: "quantitative", title: `cost of the machine [${currency}]`, scale: { zero: false }, axis: { format: "~s" } };
  const y = { field: "time_s", type: "quantitative", title: "time", scale: { zero: false }, axis: { labelExpr: TIME_LABEL } };
  const spec = {
    height: 300,
    data: { name: "table" },
    layer: [
      {
        transform: [{ filter: "datum.front" }],
        mark: { type: "line", color: COLOURS[2], strokeDash: [4, 3], interpolate: "step-after" },
        encoding: { x, y, detail: { field: "group", type: "nominal" }, order: { field: "cost", type: "quantitative" } },
      },
      { mark: { type: "rule", color: "#8a94a0" }, encoding: { x, y: { ...y, field: "low_s" }, y2: { field: "high_s" } } },
      {
        mark: { type: "point", filled: true, size: 90, opacity: 1, cursor: "pointer" },
        encoding: {
          x,
          y,
          shape: { field: "place", type: "nominal", scale: { domain: kinds, range: ["circle", "diamond", "cross"] }, legend: { title: null } },
          color: { field: "place", type: "nominal", scale: { domain: kinds, range: [COLOURS[2], COLOURS[1], "#8a94a0"] }, legend: { title: null } },
          tooltip: [
            { field: "words", type: "nominal", title: "question" },
            { field: "group", type: "nominal", title: "compared among" },
            { field: "cost", type: "quantitative", format: ",.0f" },
            { field: "power_w", type: "quantitative", title: "power [W]", format: ",.0f" },
          ],
        },
      },
    ],
  };
  if (shown.length)
    byId("cost-figure").append(
      figure("cost", "Time against cost of every finished answer, with the intervals of the draws. Choose a point to show its answer.", spec, shown, [
        ["question", (row) => row.words],
        ["compared among", (row) => row.group],
        ["time", (row) => duration(row.time_s), { class: "n" }],
        ["interval", (row) => interval(row.low_s, row.high_s)],
        [`cost [${currency}]`, (row) => number(row.cost), { class: "n" }],
        [`over its life [${currency}]`, (row) => number(row.life_cost), { class: "n" }],
        ["power [W]", (row) => number(row.power_w), { class: "n" }],
        ["energy [kWh]", (row) => number(row.energy_kwh), { class: "n" }],
        [`energy [${currency}]`, (row) => number(row.energy_cost), { class: "n" }],
        ["front", (row) => row.place],
        ["", (row) => button("Show", () => page.ask(row.question, { view: "answer" }), { class: "small", "aria-label": `Show: ${row.words}` })],
      ], (row) => row.question && page.ask(row.question, { view: "answer" })),
    );
  for (const text of new Set(rows.map((row) => row.warning).filter(Boolean)))
    byId("cost-figure").append(element("p", { class: "warning" }, text));
  byId("cost-figure").dataset.rows = String(rows.length);
  if (refused.length)
    byId("cost-figure").append(
      table("Answers without a price", [
        ["question", (row) => inWords(row.question)],
        ["why", (row) => row.words],
      ], refused),
    );
}
