// Elements from names, attributes and children. Text only ever becomes a text node.

export const byId = (id) => document.getElementById(id);

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key in made && ["value", "checked", "disabled", "hidden", "selected"].includes(key)) made[key] = value;
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export const button = (label, onclick, attributes = {}) =>
  element("button", { type: "button", onclick, ...attributes }, label);

// A table: columns are [heading, of a row (text or node), attributes of the cell].
export function table(caption, columns, rows) {
  const number = (attributes) => (attributes?.class?.includes("n") ? { class: "n", scope: "col" } : { scope: "col" });
  const head = element("tr", {}, ...columns.map(([heading, , attributes]) => element("th", number(attributes), heading)));
  const lines = rows.map((row) =>
    element("tr", {}, ...columns.map(([, of, attributes]) => element("td", attributes ?? {}, of(row) ?? ""))),
  );
  return element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    element("table", {}, element("caption", {}, caption), element("thead", {}, head), element("tbody", {}, ...lines)),
  );
}

export const fold = (summary, ...children) => element("details", {}, element("summary", {}, summary), ...children);

// Facts as a definition list; facts without a value are left out.
export const facts = (pairs) =>
  element(
    "dl",
    { class: "facts" },
    ...pairs
      .filter(([, value]) => value !== null && value !== undefined && value !== "")
      .map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))),
  );

// An error in the server's words: what, where, found, allowed, how to mend it.
export function failure(error) {
  const facts = ["details", "where", "found", "allowed", "remedy"].filter((name) => error[name]);
  return element(
    "div",
    { class: "failure" },
    element("p", {}, `Not possible: ${error.what}`),
    facts.length ? element("ul", {}, ...facts.map((name) => element("li", {}, name === "details" ? error[name] : `${name}: ${error[name]}`))) : null,
  );
}

export function say(text) {
  byId("said").textContent = text;
}
