// Inverse questions: which value of a parameter still keeps a time or a loss. The answer is an interval between two
// simulated values, with what binds.

import * as api from "./api.js";
import { byId, element, button, failure, facts, table } from "./dom.js";
import { clear, figure, COLOURS, TIME_LABEL } from "./figures.js";
import { duration, interval, percent, written } from "./format.js";
import { controls, inWords, keysOf } from "./controls.js";
import { canonical, same } from "./link.js";
import { axisFields, axisOf, fillAxis, suggest, usable } from "./axes.js";

let page = null;
let form = null;
let current = null;

export function build(given) {
  page = given;
  form = element("form", { id: "inverse-form", "aria-label": "Inverse question" });
  const first = Math.max(0, usable().findIndex((control) => control.kind === "quantity"));
  const option = (value, text) => element("option", { value }, text);
  form.append(
    element(
      "div",
      { class: "form" },
      element(
        "fieldset",
        {},
        element("legend", {}, "Sought"),
        element("label", { for: "inverse-sense" }, "The"),
        element("select", { id: "inverse-sense", name: "sense" }, option("least", "least"), option("greatest", "greatest"), option("cheapest", "cheapest")),
        ...axisFields(form, "inverse", "a", first, usable(), ["low", "high", "n"]),
      ),
      element(
        "fieldset",
        {},
        element("legend", {}, "Kept"),
        element("label", { for: "inverse-goal" }, "Goal"),
        element(
          "select",
          { id: "inverse-goal", name: "goal" },
          option("loss", "at most so much slower than the pinned baseline [%]"),
          option("time", "at most this time [s]"),
        ),
        element("label", { for: "inverse-value" }, "Value"),
        element("input", { id: "inverse-value", name: "value", type: "number", step: "any", value: "5" }),
        element("label", { for: "inverse-most" }, "Simulated values at most"),
        element("input", { id: "inverse-most", name: "most", type: "number", min: "5", max: "60", value: "16" }),
      ),
    ),
    element(
      "div",
      { class: "actions" },
      element("button", { type: "submit", class: "strong", id: "inverse-start" }, "Search"),
      button("Cancel", cancel, { id: "inverse-cancel", disabled: true }),
    ),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const inverse = entered();
    const { q, b, inverse: before } = page.state();
    if (same(inverse, before)) start(inverse, q, b);
    page.write({ inverse });
  });
  byId("view-inverse").append(
    element("h2", {}, "Inverse question"),
    element("p", {}, "The question on the left, with one parameter sought: which value still keeps the goal?"),
    form,
    element("div", { id: "inverse-result", "aria-live": "polite" }),
    element("div", { id: "inverse-figure" }),
  );
  if (usable().length) suggest(form, "a");
}

const field = (name) => form.elements.namedItem(name);

function entered() {
  const value = Number(field("value").value);
  const goal = field("goal").value === "time" ? { time_s: value } : { loss: Number((value / 100).toPrecision(9)) };
  return { axis: axisOf(form, "a"), sense: field("sense").value, ...goal, most: Number(field("most").value) };
}

function restore(inverse) {
  fillAxis(form, "a", inverse.axis);
  field("sense").value = inverse.sense;
  field("goal").value = inverse.time_s === undefined ? "loss" : "time";
  field("value").value = inverse.time_s ?? Number((100 * inverse.loss).toPrecision(9));
  field("most").value = inverse.most;
}

export function show(state) {
  if (byId("view-inverse").hidden || state.inverse === null) return;
  if (current?.asked === canonical([state.inverse, state.q, state.b])) return;
  restore(state.inverse);
  start(state.inverse, state.q, state.b);
}

async function start(inverse, question, pinned) {
  const asked = canonical([inverse, question, pinned]);
  const same = current?.asked === asked;
  if (current?.state === "running" && !same) cancel();
  const mine = { asked, question, pinned, inverse, state: "running", content: same ? current.content : null };
  current = mine;
  render();
  try {
    const baseline = await page.baselineDigest(pinned);
    const got = await api.post("/api/inverse", { question, ...inverse, baseline, ...(inverse.sense === "cheapest" ? { prices: page.state().prices } : {}) });
    if (current !== mine) return;
    if (got.state === "refused") throw new api.Refused(got.error, 200);
    take(got);
  } catch (error) {
    if (current !== mine) return;
    Object.assign(mine, { state: "failed", error: api.facts(error) });
  }
  render();
}

const take = ({ search, state, content, error }) => Object.assign(current, { search, state, content, error });

export function told(content) {
  if (content.kind !== "inverse" || content.search !== current?.search) return;
  take(content);
  render();
}

// Events may have been missed: ask again; the server knows the search, or takes its points from the store.
export function resumed() {
  if (current?.search && current.state === "running") start(current.inverse, current.question, current.pinned);
}

const cancel = () => current?.search && api.post("/api/search/cancel", { search: current.search }).catch(() => {});

function render() {
  const { state, content, error, question } = current;
  const place = byId("inverse-result");
  byId("inverse-cancel").disabled = state !== "running";
  place.dataset.state = state;
  clear(byId("inverse-figure"));
  if (state === "failed") {
    place.replaceChildren(failure(error));
    return;
  }
  if (!content) {
    place.replaceChildren(element("p", { class: "pending" }, state === "running" ? "Looking at the ends." : state));
    return;
  }
  const side = (step, kept) =>
    step
      ? `${written(step.value)}: ${duration(step.time_s)}, ${kept ? "kept" : "missed"} by ${duration(Math.abs(step.verdict.over_s), 3)}, ${step.verdict.settled ? "settled" : "not settled"}`
      : null;
  const parts = [element("p", {}, `Of: ${inWords(question)}; ${content.goal}`)];
  if (content.words)
    parts.push(
      element("p", { class: "difference", id: "inverse-answer" }, content.words),
      facts([
        ["missed at", side(content.fails, false)],
        ["kept at", side(content.holds, true)],
        ["what binds", content.binding?.part],
        ["simulated for it", content.asked === undefined ? null : String(content.asked)],
        ["dearer, not simulated", content.left?.join(", ")],
        ["without a price", content.unpriced?.join("; ")],
      ]),
    );
  else parts.push(element("p", { class: "pending" }, `${content.steps.length} values so far.`));
  place.replaceChildren(...parts);
  byId("inverse-figure").append(steps(content, question));
}

function steps(content, question) {
  const { keys } = current.inverse.axis;
  const name = controls().find((control) => same(keysOf(control), keys))?.label ?? keys[0];
  const rows = [...content.steps]
    .sort((one, other) => one.number - other.number)
    .map((step) => ({
      ...step,
      shown: written(step.value),
      goal: step.verdict.holds ? "kept" : "missed",
      sure: step.verdict.settled ? "settled" : "not settled",
    }));
  const y = { field: "shown", type: "nominal", sort: null, title: name };
  const spec = {
    height: { step: 24 },
    data: { name: "table" },
    layer: [
      { mark: { type: "rule" }, encoding: { y, x: { field: "low_s", type: "quantitative", title: "time", scale: { zero: false }, axis: { labelExpr: TIME_LABEL, tickCount: 5 } }, x2: { field: "high_s" } } },
      {
        mark: { type: "point", filled: true, size: 90, opacity: 1 },
        encoding: {
          y,
          x: { field: "time_s", type: "quantitative" },
          shape: { field: "goal", type: "nominal", scale: { domain: ["kept", "missed"], range: ["circle", "cross"] }, legend: { title: null } },
          color: { field: "goal", type: "nominal", scale: { domain: ["kept", "missed"], range: [COLOURS[2], COLOURS[5]] }, legend: { title: null } },
        },
      },
      { mark: { type: "rule", strokeDash: [5, 3] }, encoding: { x: { datum: content.allowed_s } } },
    ],
  };
  const ask = (row) => {
    const asked = structuredClone(question);
    for (const key of keys)
      if (key === "nodes") asked.nodes = row.value;
      else asked.changes[key] = row.value;
    return button("Show", () => page.ask(asked, { view: "answer" }), { class: "small", "aria-label": `Show ${name} ${row.shown}` });
  };
  return figure("inverse", "Simulated values with the intervals of their draws; dashed: the time to keep.", spec, rows, [
    [name, (row) => row.shown],
    ["time", (row) => duration(row.time_s), { class: "n" }],
    ["interval", (row) => interval(row.low_s, row.high_s)],
    ["goal", (row) => row.goal],
    ["sure", (row) => row.sure],
    ["probability of keeping it", (row) => percent(row.verdict.probability), { class: "n" }],
    ["", ask],
  ]);
}
