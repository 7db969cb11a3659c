// The state of the page is its address: question, baseline, view, map, inverse question, prices. A link restores it, and
// going back in the browser's history is undo.
//
// q: the question; b: the question of the pinned baseline, or null for the base's own; view: the open view; map, inverse,
// prices: what was asked there, or null.

const VERSION = 1;

let fallback = null;
let position = 0;
let newest = 0;

export function begin(question, pinned) {
  fallback = { v: VERSION, q: question, b: pinned, view: "answer", map: null, inverse: null, prices: null };
  position = history.state?.position ?? 0;
  newest = Math.max(position, Number(sessionStorage.getItem("newest") ?? 0));
  history.replaceState({ position }, "", location.hash || "#");
}

const isQuestion = (value) =>
  value !== null &&
  typeof value === "object" &&
  typeof value.changes === "object" &&
  value.changes !== null &&
  Number.isInteger(value.nodes) &&
  typeof value.technique === "string";

// The state in the address; what is not one is the base's question.
export function read() {
  try {
    const state = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    if (state.v === VERSION && isQuestion(state.q) && (state.b === null || isQuestion(state.b)))
      return { ...fallback, ...state };
  } catch {
    // an address without a state, or a damaged one
  }
  return structuredClone(fallback);
}

export function write(change) {
  const state = { ...read(), ...change };
  const hash = `#${encodeURIComponent(JSON.stringify(state))}`;
  if (hash === location.hash) return false;
  position += 1;
  newest = position;
  sessionStorage.setItem("newest", String(newest));
  history.pushState({ position }, "", hash);
  return true;
}

export function watch(changed) {
  addEventListener("popstate", (event) => {
    position = event.state?.position ?? position;
    if (event.state === null) history.replaceState({ position }, "", location.hash || "#");
    changed();
  });
}

export const canUndo = () => position > 0;
export const canRedo = () => position < newest;

export const same = (one, other) => canonical(one) === canonical(other);

// JSON with sorted keys: equal questions have equal texts.
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value !== null && typeof value === "object")
    return `{${Object.keys(value)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`)
      .join(",")}}`;
  return JSON.stringify(value);
}
