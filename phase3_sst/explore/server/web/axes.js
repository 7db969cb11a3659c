// The fields for an axis: a parameter with its range, as the server suggests it.

import { element } from "./dom.js";
import { controls, keysOf } from "./controls.js";
import { same } from "./link.js";

const PARTS = { low: "From", high: "To", n: "Steps" };

export const usable = () => controls().filter((control) => control.axis);

const described = (form, name) => usable().find((control) => control.key === field(form, `${name}-key`).value);

const field = (form, name) => form.elements.namedItem(name);

// Labels alone may be equal: the key tells them apart.
const options = (list) => list.map((control) => element("option", { value: control.key }, `${control.label} (${control.key})`));

const selects = [];

// After other controls have come: the same choices, if they are still there.
export function refill() {
  for (const { choose, form, name } of selects) {
    const before = choose.value;
    choose.replaceChildren(...options(usable()));
    if (usable().some((control) => control.key === before)) choose.value = before;
    else suggest(form, name);
  }
}

export function axisFields(form, prefix, name, index, list = usable(), parts = ["low", "high", "n"]) {
  const choose = element(
    "select",
    { name: `${name}-key`, id: `${prefix}-${name}-key` },
    ...options(list),
  );
  selects.push({ choose, form, name });
  choose.selectedIndex = Math.min(index, list.length - 1);
  choose.addEventListener("change", () => suggest(form, name));
  return [
    element("label", { for: choose.id }, "Parameter"),
    choose,
    element(
      "div",
      { class: "range" },
      ...parts.map((part) =>
        element(
          "div",
          {},
          element("label", { for: `${prefix}-${name}-${part}` }, PARTS[part]),
          element("input", {
            id: `${prefix}-${name}-${part}`,
            name: `${name}-${part}`,
            ...(part === "n" ? { type: "number", min: "2", max: "24" } : { type: "text" }),
          }),
        ),
      ),
    ),
  ];
}

// Fill in which range is worth a look.
export function suggest(form, name) {
  const { axis } = described(form, name);
  for (const part of Object.keys(PARTS)) {
    const input = field(form, `${name}-${part}`);
    if (!input) continue;
    input.value = axis[part] ?? "";
    input.disabled = Boolean(axis.values?.length);
  }
}

const typed = (text, kind) => (["count", "number"].includes(kind) && text !== "" ? Number(text) : text);

export function axisOf(form, name) {
  const control = described(form, name);
  const keys = keysOf(control);
  const { kind, scale, values } = control.axis;
  if (values?.length) return { keys, kind, scale, values };
  const end = (part) => typed(field(form, `${name}-${part}`).value.trim(), kind);
  const steps = field(form, `${name}-n`);
  return { keys, kind, scale, low: end("low"), high: end("high"), ...(steps ? { n: Number(steps.value) } : {}) };
}

export function fillAxis(form, name, axis) {
  field(form, `${name}-key`).value = usable().find((control) => same(keysOf(control), axis.keys))?.key ?? axis.keys[0];
  suggest(form, name);
  for (const part of Object.keys(PARTS)) {
    const input = field(form, `${name}-${part}`);
    if (input && axis[part] !== undefined) input.value = axis[part];
  }
}
