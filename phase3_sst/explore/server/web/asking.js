// Asks questions and waits for their answers. A page has one question and one baseline at a time; what was asked before
// and is not answered yet is given up by the server, unless it was marked to run on.

import { post, Refused } from "./api.js";

const TAB = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const MOST_ENDED = 500;

const ended = []; // {kind, digest, error}, as the server told it
let dropped = 0; // so many are no longer in `ended`
const waiting = new Set(); // {digest, end}
let queue = Promise.resolve();

// What the server says of a question: finished, failed, cancelled.
export function told(kind, content) {
  ended.push({ kind, ...content });
  if (ended.length > MOST_ENDED) {
    ended.shift();
    dropped += 1;
  }
  for (const waiter of [...waiting]) if (waiter.digest === content.digest) finish(waiter, { kind, ...content });
}

// After the connection came back: whoever waits for a question that does not run any more asks again.
export function resumed(running) {
  const digests = new Set(running.map(({ digest }) => digest));
  for (const waiter of [...waiting]) if (!digests.has(waiter.digest)) finish(waiter, { kind: "again" });
}

function finish(waiter, end) {
  waiting.delete(waiter);
  waiter.end(end);
}

function ending(digest, mark) {
  const found = ended.slice(Math.max(0, mark - dropped)).find((end) => end.digest === digest);
  if (found) return Promise.resolve(found);
  return new Promise((end) => waiting.add({ digest, end }));
}

export class Cancelled extends Error {}

// The server's answer to `question`, with `role` "q" (the shown question) or "b" (the baseline) and the baseline's digest.
// `running` is called with the digest if the answer has to be waited for, `stale` says whether nobody wants it any more.
export async function answerTo(question, { role, baseline = null, running = () => {}, stale = () => false }) {
  for (;;) {
    const mark = dropped + ended.length;
    const request = queue.then(() => post("/api/ask", { question, tab: TAB + role, baseline }));
    queue = request.catch(() => {});
    const got = await request;
    if (got.state === "refused") throw new Refused(got.error, 200);
    if (got.state === "finished" || stale()) return got;
    running(got.digest);
    const end = await ending(got.digest, mark);
    if (stale()) return got;
    if (end.kind === "failed") throw new Refused(end.error, 200);
    if (end.kind === "cancelled") throw new Cancelled();
  }
}
