// The controls, as the server describes them: each with unit, bounds and the help of its key. In: a question. Out: the
// question that a person makes of it.

import { byId, element, button, failure } from "./dom.js";
import { written } from "./format.js";
import { same } from "./link.js";

// Members of a question that are no change of a key.
const MEMBERS = ["nodes", "technique", "losses"];
// Groups in this order, others after them; some are open at first. Structures are folded within their group.
const ORDER = ["question", "network", "link", "topology", "host", "intranode", "placement", "slow_node", "collectives", "run"];
const OPEN = ["question", "network", "link"];

let described = [];
let changed = () => {};
let current = null;
let first = null; // the base's own question
let said = { error: null, last: null }; // the problem that is shown
const places = new Map(); // key -> {control, input, row, reset, problem}

export const controls = () => described;
export const label = (key) => described.find((control) => control.key === key)?.label ?? key;

export function build(list, base, onchange) {
  first = base;
  changed = onchange;
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  fillIn(list);
}

// The part of a question that decides which controls there are: what stands for a whole, such as another network.
export function frame(question) {
  const owns = (key) => described.some((control) => control.key.startsWith(`${key}.`));
  const changes = Object.entries(question.changes).filter(([key, value]) => typeof value === "object" || owns(key) || key === "machine");
  return { ...question, losses: false, changes: Object.fromEntries(changes) };
}

// Other controls, in the same order of groups; what is open stays open, what has the focus keeps it.
export function fillIn(list) {
  const focus = document.activeElement?.id;
  const open = new Set([...document.querySelectorAll("details.group[open]")].map((group) => group.dataset.group));
  const begun = places.size > 0;
  described = list;
  places.clear();
  const place = (name) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
  const groups = [...grouped(list)].sort(([one], [other]) => place(one) - place(other));
  const structure = (control) => control.kind === "structure";
  byId("control-groups").replaceChildren(
    ...groups.map(([name, own]) => {
      const folded = own.filter(structure);
      return element(
        "details",
        { class: "group", "data-group": name, open: begun ? open.has(name) : OPEN.includes(name) },
        element("summary", {}, title(name)),
        ...own.filter((control) => !structure(control)).map(row),
        folded.length ? element("details", { class: "folded" }, element("summary", {}, "Lists and mappings"), ...folded.map(row)) : null,
      );
    }),
  );
  if (focus?.startsWith("control-")) byId(focus)?.focus();
  problem(said.error, said.last);
}

// The keys that a control changes: its own, or several that take the same value.
export const keysOf = (control) => (control.keys?.length ? control.keys : [control.key]);

const title = (name) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");

function grouped(list) {
  const groups = new Map();
  for (const control of list) groups.set(control.group, [...(groups.get(control.group) ?? []), control]);
  return groups;
}

function row(control) {
  const id = `control-${control.key.replaceAll(".", "-")}`;
  const input = inputOf(control, id);
  const problem = element("div", { class: "problem", id: `${id}-problem`, role: "alert" });
  const reset = button("as the base", () => put(control, undefined), {
    class: "small",
    hidden: true,
    "aria-label": `${control.label}: as the base`,
  });
  const line = element(
    "div",
    { class: "control", "data-key": control.key },
    element("label", { for: id }, control.label),
    element("div", { class: "entry" }, input, ...steps(control, input), reset),
    element("p", { class: "bounds", id: `${id}-bounds` }, bounds(control)),
    control.help
      ? element(
          "details",
          { class: "help" },
          element("summary", { "aria-label": `Help: ${control.label}` }, "?"),
          element("p", { id: `${id}-help` }, control.help, " ", element("code", {}, control.key)),
        )
      : null,
    problem,
  );
  input.setAttribute("aria-describedby", `${id}-bounds ${id}-problem`);
  input.addEventListener("change", () => put(control, entered(control, input)));
  places.set(control.key, { control, input, row: line, reset, problem });
  return line;
}

function inputOf(control, id) {
  const common = { id, name: control.key };
  if (control.kind === "choice")
    return element(
      "select",
      common,
      ...control.choices.map((choice, index) => element("option", { value: String(index) }, choiceName(control, choice))),
    );
  if (control.kind === "bool") return element("input", { ...common, type: "checkbox" });
  if (control.kind === "number")
    return element("input", {
      ...common,
      type: "number",
      min: control.least ?? undefined,
      max: control.most ?? undefined,
      step: control.whole ? "1" : "any",
    });
  if (control.kind === "structure") return element("textarea", { ...common, rows: "4", spellcheck: "false" });
  return element("input", { ...common, type: "text", spellcheck: "false" });
}

const choiceName = (control, choice) => control.titles?.[String(choice)] ?? written(choice);

const isNumber = (text) => /^-?[0-9.]+(e[+-]?[0-9]+)?/i.exec(text);

// Half and double, for numbers and quantities on a logarithmic scale.
function steps(control, input) {
  if (control.scale !== "log" || !["number", "quantity"].includes(control.kind)) return [];
  const by = (factor) => {
    const found = isNumber(input.value);
    if (!found) return;
    const value = Number((Number(found[0]) * factor).toPrecision(12));
    put(control, control.kind === "number" ? value : `${value}${input.value.slice(found[0].length)}`);
  };
  return [
    button("½", () => by(0.5), { class: "small step", "aria-label": `½: halve ${control.label}` }),
    button("×2", () => by(2), { class: "small step", "aria-label": `×2: double ${control.label}` }),
  ];
}

function bounds(control) {
  const between = [
    control.at_least === null ? "" : `at least ${control.at_least}`,
    control.at_most === null ? "" : `at most ${control.at_most}`,
  ].filter(Boolean);
  const own = MEMBERS.includes(control.key) ? first[control.key] : control.value;
  return [control.dimension ?? "", between.join(", "), `base: ${written(own)}`].filter(Boolean).join(" · ");
}

function entered(control, input) {
  if (control.kind === "choice") return control.choices[Number(input.value)];
  if (control.kind === "bool") return input.checked;
  const text = input.value.trim();
  if (text === "") return undefined;
  if (control.kind === "number") return Number.isFinite(Number(text)) ? Number(text) : text;
  if (control.kind === "structure") {
    try {
      return JSON.parse(text);
    } catch {
      return text; // the server says what is wrong with it
    }
  }
  return text;
}

// What a question that is not the base's own begins with, where the server says so.
const starts = () =>
  Object.fromEntries(
    described
      .filter((control) => control.start !== null && !same(control.start, control.value) && !MEMBERS.includes(control.key))
      .map((control) => [control.key, control.start]),
  );

// Change one control; undefined and the base's own value are the same.
function put(control, value) {
  const keys = keysOf(control);
  const asBase = value === undefined || keys.every((key) => same(value, places.get(key)?.control.value));
  if (MEMBERS.includes(control.key)) {
    const changes = same(current, first) && !asBase ? starts() : current.changes;
    changed({ ...current, changes, [control.key]: asBase ? first[control.key] : value }, control.key);
    return;
  }
  const changes = { ...(same(current, first) ? starts() : {}), ...current.changes };
  for (const key of keys) {
    delete changes[key];
    // Another network, another whole: what was edited of the former one goes.
    for (const inner of Object.keys(changes)) if (inner.startsWith(`${key}.`)) delete changes[inner];
    if (!asBase) changes[key] = value;
  }
  changed({ ...current, changes }, control.key);
}

// Show a question; `values` are the values of the keys in it, where the server has said so.
export function show(question, values = {}) {
  current = question;
  for (const { control, input, row: line, reset } of places.values()) {
    const member = MEMBERS.includes(control.key);
    const keys = keysOf(control);
    const together = keys.every((key) => same(question.changes[key] ?? null, question.changes[keys[0]] ?? null));
    const own = member ? question[control.key] : together ? question.changes[keys[0]] : undefined;
    const differs = member ? !same(own, first[control.key]) : own !== undefined;
    const value = own !== undefined ? own : values[keys[0]] !== undefined ? values[keys[0]] : control.value;
    fill(control, input, value);
    reset.hidden = !differs;
    line.classList.toggle("changed", differs);
  }
  byId("reset").disabled = ![...places.values()].some(({ reset }) => !reset.hidden);
}

function fill(control, input, value) {
  if (control.kind === "choice") {
    let index = control.choices.findIndex((choice) => same(choice, value));
    if (index < 0) {
      index = control.choices.push(value) - 1;
      input.append(element("option", { value: String(index) }, choiceName(control, value)));
    }
    input.value = String(index);
  } else if (control.kind === "bool") input.checked = Boolean(value);
  else if (control.kind === "structure") input.value = value === null || value === undefined ? "" : JSON.stringify(value, null, 1);
  else input.value = value ?? "";
}

// Show an error at the control that it is about, or at the last that was changed.
export function problem(error, last) {
  said = { error, last };
  for (const { problem: place, input } of places.values()) {
    place.replaceChildren();
    input.removeAttribute("aria-invalid");
  }
  if (!error) return false;
  const words = ["where", "what", "details"].map((name) => error[name] ?? "").join(" ").replaceAll(": ", ".");
  // A key with a dot is no word of a sentence; "nodes" and "network" are.
  const named = [...places.keys()].filter((key) => words.includes(key)).sort((a, b) => b.length - a.length)[0];
  const place = places.get(named?.includes(".") ? named : last) ?? places.get(named);
  if (!place) return false;
  place.problem.append(failure(error));
  place.input.setAttribute("aria-invalid", "true");
  for (let fold = place.row.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  return true;
}

// The words for what a question changes.
export function inWords(question) {
  const parts = Object.entries(question.changes).map(([key, value]) => `${label(key)}: ${written(value)}`);
  const technique = question.technique === first?.technique ? "" : `, ${question.technique}`;
  return `${question.nodes} node${question.nodes === 1 ? "" : "s"}${technique}${parts.length ? `; ${parts.join("; ")}` : "; as the base"}`;
}
