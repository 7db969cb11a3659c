// The answer beside the pinned baseline: both are of one reply of the server, so that they belong together.
//
// The card says what it shows in data attributes: data-state, data-question, data-digest, data-time and data-baseline.

import { byId, element, button, failure, facts } from "./dom.js";
import { count, digitsFor, duration, interval, percent, signed, known } from "./format.js";
import { inWords } from "./controls.js";
import { canonical } from "./link.js";

const FLOW_CONTROL = { none: "unlimited buffers (none)", credits: "credits" };

const card = () => byId("card");

function state(name, question, attributes = {}) {
  const place = card();
  for (const key of ["digest", "time", "baseline", "baselineTime"]) delete place.dataset[key];
  Object.assign(place.dataset, { state: name, question: canonical(question), ...attributes });
  return place;
}

export function pending(question, text, actions = []) {
  const place = card();
  const same = place.dataset.state === "pending" && place.dataset.question === canonical(question);
  if (same && actions.length === 0) {
    place.querySelector(".words").textContent = text;
    return;
  }
  state("pending", question).replaceChildren(
    element("p", { class: "pending" }, "Waiting for: ", inWords(question)),
    element("p", { class: "words pending" }, text),
    ...actions,
  );
}

export function refused(question, error) {
  state("refused", question).replaceChildren(failure(error));
}

export function stopped(question, again) {
  state("cancelled", question).replaceChildren(
    element("p", {}, "Cancelled: ", inWords(question)),
    button("Ask again", again, { id: "ask-again" }),
  );
}

export function answered(question, { answer, baseline, paired }, actions) {
  const digits = digitsFor(answer.time_s, answer.low_s, answer.high_s);
  const own = answer.digest === baseline.digest;
  state("answered", question, {
    digest: answer.digest,
    time: String(answer.time_s),
    baseline: baseline.digest,
    baselineTime: String(baseline.time_s),
  }).replaceChildren(
    element(
      "div",
      { class: "beside" },
      side("This question", answer, digits, "shown"),
      own ? null : side("Pinned baseline", baseline, digits, "baseline"),
    ),
    own ? element("p", { class: "difference" }, "This question is the baseline.") : difference(answer, baseline, paired),
    ...(answer.warnings ?? []).map((text) => element("p", { class: "warning" }, `Warning: ${text}`)),
    element("div", { class: "actions" }, ...actions),
  );
}

function side(title, answer, digits, kind) {
  return element(
    "div",
    { class: `answer ${kind}`, "data-digest": answer.digest },
    element("h3", {}, title),
    element("p", { class: "of" }, inWords(answer.question)),
    element("p", { class: "headline" }, duration(answer.time_s, digits)),
    facts([
      ["interval of the draws", interval(answer.low_s, answer.high_s, digits)],
      ["band", band(answer.band)],
      ["efficiency", known(answer.efficiency) ? percent(answer.efficiency) : null],
      ["replicas", String(Object.keys(answer.makespans ?? {}).length || "")],
      ["flow control, by trials", FLOW_CONTROL[answer.flow_control?.flow_control]],
    ]),
    answer.band?.words ? element("p", { class: "bounds" }, answer.band.words) : null,
  );
}

const band = (value) => (value ? interval(value.low_s, value.high_s) : null);

function difference(answer, baseline, paired) {
  if (!paired)
    return element("p", { class: "difference" }, "No paired difference: the two have no replica with the same draws in common.");
  const way = paired.difference_s < 0 ? "faster than" : paired.difference_s > 0 ? "slower than" : "as fast as";
  const share = paired.share;
  const digits = 3;
  return element(
    "div",
    { class: "difference", "data-difference": String(paired.difference_s), "data-verdict": paired.verdict },
    paired.verdict === "irrelevant" ? element("strong", {}, "No difference that matters: ") : null,
    element(paired.verdict === "irrelevant" ? "span" : "strong", {}, `${signed(duration(paired.difference_s, digits), paired.difference_s)} (${signed(percent(share), share)})`),
    ` ${way} the baseline. `,
    facts([
      ["interval of the difference", interval(paired.low_s, paired.high_s, digits)],
      ["verdict", paired.words],
      ["models' paired error (90 %)", known(paired.models) ? percent(paired.models) : "not known"],
      ["probability of being faster", known(paired.probability) ? percent(paired.probability) : null],
      ["replicas paired", count(paired.replicas, "replica")],
    ]),
  );
}
