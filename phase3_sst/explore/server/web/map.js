// A map over two parameters. Simulated and interpolated cells never look the same: a simulated cell has a ring, an
// interpolated one is paler, and its time comes with its standard error.

import * as api from "./api.js";
import { byId, element, button, failure, facts, fold, table } from "./dom.js";
import { clear } from "./figures.js";
import { percent, written, known, count, quantity } from "./format.js";
import { axisFields, axisOf, fillAxis, suggest, usable } from "./axes.js";
import { inWords } from "./controls.js";
import { canonical, same } from "./link.js";
import { draw } from "./mapfigure.js";

let page = null;
let current = null; // {asked, search, content, state}
let form = null;

export function build(given) {
  page = given;
  form = element("form", { id: "map-form", "aria-label": "Map" });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const map = entered();
    if (same(map, page.state().map)) start(map, page.state().q);
    page.write({ map });
  });
  const axis = (name, index) =>
    element("fieldset", {}, element("legend", {}, name === "x" ? "Across" : "Up"), ...axisFields(form, "map", name, index));
  const plain = (name, label, value, attributes) => [
    element("label", { for: `map-${name}` }, label),
    element("input", { id: `map-${name}`, name, type: "number", value, ...attributes }),
  ];
  const preferred = usable().findIndex((control) => control.kind === "quantity");
  form.append(
    element(
      "div",
      { class: "form" },
      axis("x", Math.max(0, preferred)),
      axis("y", Math.max(0, preferred) + 1),
      element(
        "fieldset",
        {},
        element("legend", {}, "How much"),
        element(
          "div",
          { class: "pair" },
          element("div", {}, ...plain("most", "Simulated at most", "20", { min: "4", max: "100" })),
          element("div", {}, ...plain("target", "Error to reach [%]", "2", { min: "0.1", max: "100", step: "any" })),
        ),
      ),
    ),
    element(
      "div",
      { class: "actions" },
      element("button", { type: "submit", class: "strong", id: "map-start" }, "Fill the map"),
      button("Cancel", cancel, { id: "map-cancel", disabled: true }),
      button("Study file", study, { id: "map-export", disabled: true }),
    ),
  );
  byId("view-map").append(
    element("h2", {}, "Map"),
    element("p", {}, "The question on the left over two parameters. The map asks for the point that helps most next, until its error is small enough."),
    form,
    element("div", { id: "map-result", "aria-live": "polite" }),
    element("div", { id: "map-figure" }),
  );
  if (usable().length) ["x", "y"].forEach((name) => suggest(form, name));
}

const field = (name) => form.elements.namedItem(name);

const entered = () => ({
  x: axisOf(form, "x"),
  y: axisOf(form, "y"),
  most: Number(field("most").value),
  target: Number((Number(field("target").value) / 100).toPrecision(6)),
});

function restore(map) {
  for (const name of ["x", "y"]) fillAxis(form, name, map[name]);
  field("most").value = map.most;
  field("target").value = Number((100 * map.target).toPrecision(6));
}

export function show(state) {
  if (byId("view-map").hidden || state.map === null) return;
  const asked = canonical({ ...state.map, question: state.q });
  if (current?.asked === asked) return;
  restore(state.map);
  start(state.map, state.q);
}

async function start(map, question) {
  const asked = canonical({ ...map, question });
  const same = current?.asked === asked;
  if (current?.search && current.state === "running" && !same) cancel();
  const mine = { asked, question, map, search: null, state: "running", content: same ? current.content : null };
  current = mine;
  render();
  try {
    const got = await api.post("/api/map", { question, ...map });
    if (current !== mine) return;
    if (got.state === "refused") throw new api.Refused(got.error, 200);
    Object.assign(mine, got);
    mine.asked = asked;
  } catch (error) {
    if (current !== mine) return;
    Object.assign(mine, { state: "failed", error: api.facts(error) });
  }
  render();
}

export function told(content) {
  if (content.kind !== "map" || content.search !== current?.search) return;
  const { asked } = current;
  Object.assign(current, content, { asked });
  render();
}

// Events may have been missed: ask again; the server knows the search, or takes its points from the store.
export function resumed() {
  if (current?.search && current.state === "running") start(current.map, current.question);
}

const cancel = () => current?.search && api.post("/api/search/cancel", { search: current.search }).catch(() => {});

function study() {
  const { x, y } = current.map;
  api.save("/api/export/study", "study.yaml", { question: current.question, x, y }).catch((error) => {
    byId("map-result").append(failure(api.facts(error)));
  });
}

function render() {
  const { state, content, error, map, question } = current;
  const place = byId("map-result");
  byId("map-cancel").disabled = state !== "running";
  byId("map-export").disabled = !map;
  place.dataset.state = state;
  for (const key of ["simulated", "asked", "error"]) delete place.dataset[key];
  if (error && state === "failed") {
    place.replaceChildren(failure(error));
    clear(byId("map-figure"));
    return;
  }
  if (!content) {
    place.replaceChildren(element("p", { class: "pending" }, state === "running" ? "Looking at the cells." : state));
    return;
  }
  place.dataset.simulated = String(content.simulated);
  place.dataset.asked = String(content.asked);
  place.dataset.error = String(content.error);
  place.replaceChildren(
    element("p", {}, `Of: ${inWords(question)}`),
    facts([
      ["simulated", `${count(content.simulated, "cell")}; asked for by this map: ${content.asked}`],
      ["interpolated", count(content.cells.filter((cell) => cell.state === "interpolated").length, "cell")],
      ["cross-validated error", known(content.error) ? `${percent(content.error, 2)} (asked for: ${percent(content.target, 2)})` : "not known yet"],
      ["largest error of a point left out", known(content.worst) ? percent(content.worst, 2) : null],
      ["standard error in between", known(content.spread) ? percent(content.spread, 2) : null],
    ]),
    element("p", {}, state === "running" ? "The map is being filled." : content.words || state),
    knees(content),
  );
  clear(byId("map-figure"));
  byId("map-figure").append(
    draw(content, (cell) => page.ask(questionOf(cell), { view: "answer" })),
    refusals(content),
  );
}

// The question of a cell: that of the map with the cell's two values.
function questionOf(cell) {
  const question = structuredClone(current.question);
  for (const [name, value] of [["x", cell.x], ["y", cell.y]])
    for (const key of current.map[name].keys)
      if (key === "nodes") question.nodes = value;
      else question.changes[key] = value;
  return question;
}

// Where a doubling stops paying, row by row and column by column.
function knees(content) {
  if (!content.knees?.length) return "";
  const sides = { below: "below the range", above: "above the range" };
  const own = (knee) => (knee.along === "x" ? content.x : content.y);
  const other = (knee) => (knee.along === "x" ? content.y : content.x);
  return fold(
    "Knees: where doubling or halving saves less than 5 % of the time",
    table("Knees, from interpolated curves", [
      ["of", (knee) => own(knee).label],
      ["where", (knee) => `${other(knee).label} ${written(knee.other)}`],
      ["knee", (knee) => (knee.state === "inside" ? quantity(knee.at, own(knee).kind) : sides[knee.state])],
      ["from", (knee) => (knee.low === null ? "" : quantity(knee.low, own(knee).kind))],
      ["to", (knee) => (knee.high === null ? "" : quantity(knee.high, own(knee).kind))],
    ], content.knees),
  );
}

function refusals(content) {
  const rows = content.cells.filter((cell) => ["refused", "failed"].includes(cell.state));
  return rows.length
    ? table("Cells without a time", [
        [content.x.label, (row) => written(row.x)],
        [content.y.label, (row) => written(row.y)],
        ["why", (row) => row.words],
      ], rows)
    : "";
}

