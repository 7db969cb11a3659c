// What runs: each question with its progress, and how to stop it or to let it run on.

import { post } from "./api.js";
import { byId, element, button, say } from "./dom.js";
import { inWords } from "./controls.js";
import { percent } from "./format.js";

const running = new Map(); // digest -> what the server said last
const rows = new Map();

export function progress(content) {
  running.set(content.digest, content);
  draw(content);
  byId("running").hidden = false;
}

export function over(digest) {
  running.delete(digest);
  rows.get(digest)?.line.remove();
  rows.delete(digest);
  byId("running").hidden = running.size === 0;
}

export function all(list) {
  const now = new Set(list.map(({ digest }) => digest));
  for (const digest of [...running.keys()]) if (!now.has(digest)) over(digest);
  list.forEach(progress);
}

export const of = (digest) => running.get(digest);

export const words = ({ state, step, words: text, share }) =>
  [state, step, text, share === null || share === undefined ? "" : percent(share, 2)].filter(Boolean).join(", ");

function draw(content) {
  const { digest, question } = content;
  let row = rows.get(digest);
  if (!row) {
    const bar = element("progress", { max: "1", "aria-label": `Progress: ${inWords(question)}` });
    const text = element("span", {});
    const keep = button("Run on", () => post("/api/keep", { digest }).catch(() => {}), {
      class: "small",
      "aria-label": `Run on when I ask something else: ${inWords(question)}`,
    });
    const stop = button("Cancel", () => cancel(digest), { class: "small", "aria-label": `Cancel: ${inWords(question)}` });
    const line = element(
      "li",
      { "data-digest": digest },
      element("span", { class: "what" }, inWords(question)),
      bar,
      text,
      keep,
      stop,
    );
    byId("running-list").append(line);
    row = { line, bar, text, keep };
    rows.set(digest, row);
  }
  if (typeof content.share === "number") row.bar.value = content.share;
  row.text.textContent = words(content);
  row.keep.hidden = Boolean(content.kept);
}

export async function cancel(digest) {
  try {
    await post("/api/cancel", { digest });
    say("cancelled");
  } catch {
    say("the server does not answer");
  }
}
