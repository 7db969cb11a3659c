// Starts the page and keeps it true to its address: the question in it is shown, asked, and compared with its baseline.

import * as api from "./api.js";
import * as axes from "./axes.js";
import * as asking from "./asking.js";
import * as card from "./card.js";
import * as controls from "./controls.js";
import * as costs from "./costs.js";
import * as details from "./details.js";
import * as inverse from "./inverse.js";
import * as link from "./link.js";
import * as maps from "./map.js";
import * as questions from "./questions.js";
import * as running from "./running.js";
import { byId, element, button, say } from "./dom.js";
import { count, duration } from "./format.js";

const VIEWS = ["answer", "map", "inverse", "cost", "questions"];

let base = null; // what the server says of the base, its baseline among it
let turn = 0; // counts what has been shown: an answer to an earlier turn is dropped
let shown = null; // {q, b} of the current turn
let lastKey = null;

async function start() {
  const state = await api.get("/api/state");
  base = state;
  document.title = `${state.base.name} - manynode explore`;
  byId("title").textContent = state.base.title || state.base.name;
  byId("subtitle").textContent = [
    state.base.application,
    count(state.base.ranks_per_node, "rank") + " a node",
    `machine: ${state.base.machine}`,
    `network: ${state.base.network}`,
  ].join(" · ");
  link.begin(state.baseline.question, state.pinned);
  controls.build(state.controls, state.baseline.question, changedQuestion);
  const page = { ask, pin, baselineDigest, state: () => link.read(), write, base: () => base };
  maps.build(page);
  inverse.build(page);
  costs.build(page, state.catalogue);
  questions.build(page);
  buttons();
  link.watch(apply);
  api.listen({
    running: (list) => {
      running.all(list);
      asking.resumed(list);
      maps.resumed();
      inverse.resumed();
      questions.refresh();
    },
    progress: (content) => {
      running.progress(content);
      progressed(content);
    },
    finished: (content) => ended("finished", content),
    failed: (content) => ended("failed", content),
    cancelled: (content) => ended("cancelled", content),
    search: (content) => {
      maps.told(content);
      inverse.told(content);
    },
    questions: () => questions.refresh(),
    lost: () => banner("The server does not answer. Start manynode explore again; this page's state is in its address."),
    back: () => banner(""),
  });
  apply();
  document.documentElement.dataset.ready = "yes";
}

function banner(text) {
  byId("banner").textContent = text;
  byId("banner").hidden = !text;
}

function ended(kind, content) {
  running.over(content.digest);
  asking.told(kind, content);
  questions.refresh();
  if (kind === "finished") costs.refresh();
}

function buttons() {
  byId("undo").addEventListener("click", () => history.back());
  byId("redo").addEventListener("click", () => history.forward());
  byId("reset").addEventListener("click", () => ask(base.baseline.question));
  byId("copy-link").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      say("link copied");
    } catch {
      say("the browser does not let this page copy: copy the address");
    }
  });
  document.querySelector("[data-skip]").addEventListener("click", (event) => {
    event.preventDefault();
    byId("answer-heading").focus();
  });
  VIEWS.forEach((name) => byId(`tab-${name}`).addEventListener("click", () => write({ view: name })));
  byId("views").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = VIEWS[(VIEWS.indexOf(link.read().view) + step + VIEWS.length) % VIEWS.length];
    write({ view: next });
    byId(`tab-${next}`).focus();
  });
}

function write(change) {
  if (link.write(change)) apply();
}

const ask = (question, change = {}) => write({ q: question, ...change });
// The baseline is part of the address; a page that is opened without one begins with what was pinned last.
async function pin(question) {
  write({ b: question });
  try {
    await api.post("/api/pin", { digest: await baselineDigest(question) });
  } catch (error) {
    say(api.facts(error).what);
  }
}

async function baselineDigest(question) {
  if (question === null) return null;
  const got = await api.post("/api/check", { question });
  if (got.state === "refused") throw new api.Refused(got.error, 200);
  return got.digest;
}

function changedQuestion(question, key) {
  lastKey = key;
  if (!link.write({ q: question })) controls.show(question);
  else apply();
}

// Make the page what its address says.
function apply() {
  const state = link.read();
  byId("undo").disabled = !link.canUndo();
  byId("redo").disabled = !link.canRedo();
  const view = VIEWS.includes(state.view) ? state.view : "answer";
  for (const name of VIEWS) {
    const chosen = name === view;
    byId(`view-${name}`).hidden = !chosen;
    byId(`tab-${name}`).setAttribute("aria-selected", String(chosen));
    byId(`tab-${name}`).tabIndex = chosen ? 0 : -1;
  }
  controls.show(state.q);
  refit(state.q);
  byId("controls").dataset.question = link.canonical(state.q);
  if (shown === null || !link.same(shown.q, state.q) || !link.same(shown.b, state.b)) {
    shown = { q: state.q, b: state.b };
    answer(state.q, state.b, (turn += 1));
  }
  maps.show(state);
  inverse.show(state);
  costs.show(state);
  questions.show(state);
}

// Another network has other keys: ask for the controls of the question.
let frame = { changes: {} };
async function refit(question) {
  const wanted = controls.frame(question);
  if (link.same(frame.changes, wanted.changes)) return;
  const before = frame;
  frame = wanted;
  try {
    const got = await api.post("/api/controls", { question: wanted });
    if (frame !== wanted) return;
    if (got.state === "refused") {
      frame = before;
      return;
    }
    controls.fillIn(got.controls);
    axes.refill();
    controls.show(link.read().q);
  } catch {
    // the answer to the question says what is wrong
  }
}

// Ask for the answer and its baseline; whatever comes after the page has gone on is dropped.
async function answer(question, baseline, mine) {
  const stale = () => mine !== turn;
  let waits = null;
  const waiting = (text) => (digest) => {
    if (stale()) return;
    waits = digest;
    byId("card").dataset.waits = digest;
    card.pending(question, text, [button("Cancel", () => running.cancel(waits), { id: "cancel" })]);
    progressed(running.of(digest));
  };
  controls.problem(null);
  details.empty();
  card.pending(question, "asking");
  try {
    let other = null;
    if (baseline !== null) {
      const got = await asking.answerTo(baseline, { role: "b", stale, running: waiting("the baseline first") });
      if (stale()) return;
      other = got.answer.digest;
    }
    const got = await asking.answerTo(question, { role: "q", baseline: other, stale, running: waiting("waiting") });
    if (stale()) return;
    delete byId("card").dataset.waits;
    card.answered(question, got, actions(question, got));
    details.show(got, () => ask({ ...question, losses: true }));
    say(`answer: ${duration(got.answer.time_s)}`);
    questions.refresh();
  } catch (error) {
    if (stale()) return;
    delete byId("card").dataset.waits;
    if (error instanceof asking.Cancelled) {
      card.stopped(question, () => answer(question, baseline, (turn += 1)));
      return;
    }
    const facts = api.facts(error);
    card.refused(question, facts);
    controls.problem(facts, lastKey);
    say(`not possible: ${facts.what}`);
  }
}

function progressed(content) {
  if (content && byId("card").dataset.state === "pending" && byId("card").dataset.waits === content.digest)
    byId("card").querySelector(".words").textContent = running.words(content);
}

function actions(question, { answer: own, baseline }) {
  const same = own.digest === baseline.digest;
  const failed = (error) => say(api.facts(error).what);
  const file = (kind) => () => {
    const query = kind === "page.html" ? `?baseline=${baseline.digest}` : "";
    api.save(`/api/export/${own.digest}/${kind}${query}`, `${own.experiment}.${kind.split(".")[1]}`).catch(failed);
  };
  return [
    button("Pin as baseline", () => pin(question), { id: "pin", disabled: same, class: "strong" }),
    button("Baseline of the base", () => pin(null), { id: "unpin", disabled: link.read().b === null }),
    button("Experiment file", file("experiment.yaml"), { id: "export-experiment" }),
    button("Offline page", file("page.html"), { id: "export-page" }),
    element("code", { title: "the digest of this question" }, own.digest.slice(0, 12)),
  ];
}

start().catch((error) => {
  banner(`This page could not start: ${api.facts(error).what ?? error.message}`);
  if (!(error instanceof api.Refused)) throw error;
});
