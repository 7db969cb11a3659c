// All questions that were asked, by anybody on this store, with their notes.

import * as api from "./api.js";
import { byId, element, button, table, say } from "./dom.js";
import { duration, interval } from "./format.js";
import { inWords } from "./controls.js";
import { same } from "./link.js";

const LATER_MS = 300;

let page = null;
let list = [];
let due = null;

export function build(given) {
  page = given;
  list = page.base().questions;
}

// Ask the server for the list; several reasons within a moment are one request.
export function refresh() {
  clearTimeout(due);
  due = setTimeout(async () => {
    try {
      list = (await api.get("/api/questions")).questions;
      show(page.state());
    } catch {
      // the banner says that the server is gone
    }
  }, LATER_MS);
}

export function show(state) {
  const place = byId("view-questions");
  if (place.hidden || place.contains(document.activeElement)) return;
  const rows = [...list].reverse();
  place.replaceChildren(
    element("h2", {}, "Questions"),
    element("p", {}, `${list.length} asked on this experiment, the newest first. Notes are kept with the results.`),
    table("All questions", [
      ["question", (row) => inWords(row.question)],
      ["time", (row) => (row.time_s === null || row.time_s === undefined ? "" : duration(row.time_s)), { class: "n" }],
      ["interval", (row) => interval(row.low_s, row.high_s) ?? ""],
      ["asked", (row) => new Date(1000 * row.time).toLocaleString()],
      ["note", (row) => note(row)],
      ["use", (row) => actions(row, state)],
    ], rows),
  );
}

function note(row) {
  const input = element("input", {
    class: "note",
    type: "text",
    maxlength: "2000",
    value: row.note ?? "",
    "aria-label": `Note on: ${inWords(row.question)}`,
  });
  input.addEventListener("change", async () => {
    try {
      await api.post("/api/note", { digest: row.digest, note: input.value });
      say("note kept");
    } catch (error) {
      say(api.facts(error).what);
    }
  });
  return input;
}

function actions(row, state) {
  const words = inWords(row.question);
  return element(
    "span",
    { class: "actions" },
    button("Show", () => page.ask(row.question, { view: "answer" }), { class: "small", "aria-label": `Show: ${words}` }),
    button("Pin", () => page.pin(row.question), {
      class: "small",
      disabled: state.b !== null && same(state.b, row.question),
      "aria-label": `Pin as baseline: ${words}`,
    }),
  );
}
