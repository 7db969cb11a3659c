// What is behind an answer: where the time goes, the links' load, what the time is lost to.

import { byId, element, button } from "./dom.js";
import { clear, figure, COLOURS, TIME_LABEL } from "./figures.js";
import { duration, percent, number, size } from "./format.js";

export function show({ answer, baseline }, asksLosses) {
  const place = byId("details");
  clear(place);
  place.dataset.digest = answer.digest;
  const own = answer.digest === baseline.digest;
  place.append(
    // the card has the words of the band
    ...(answer.sentences ?? []).filter((sentence) => !answer.band?.words || !sentence.startsWith(answer.band.words)).map((sentence) => element("p", {}, sentence)),
    element("h3", {}, "Where the time goes"),
    breakdown(answer, own ? null : baseline),
    element("h3", {}, "Load of the links"),
    links(answer),
    element("h3", {}, "What the time is lost to"),
    answer.losses?.length
      ? losses(answer)
      : element(
          "p",
          {},
          "The waterfall needs simulations on an ideal network, too. ",
          button("Ask for the losses", asksLosses, { id: "ask-losses" }),
        ),
  );
}

export function empty() {
  const place = byId("details");
  clear(place);
  delete place.dataset.digest;
}

function breakdown(answer, baseline) {
  const rows = [
    ...answer.breakdown.map((row) => ({ of: "this question", ...row })),
    ...(baseline?.breakdown ?? []).map((row) => ({ of: "baseline", ...row })),
  ];
  const totals = new Map();
  for (const row of rows) totals.set(row.operation, (totals.get(row.operation) ?? 0) + row.seconds);
  const operations = [...totals.keys()].sort((a, b) => (b === "compute") - (a === "compute") || totals.get(b) - totals.get(a));
  rows.forEach((row) => (row.position = operations.indexOf(row.operation)));
  const spec = {
    data: { name: "table" },
    height: { step: 46 },
    mark: { type: "bar", stroke: "white", strokeWidth: 0.6 },
    encoding: {
      y: { field: "of", type: "nominal", title: null, sort: ["this question", "baseline"] },
      x: { field: "seconds", type: "quantitative", stack: "zero", title: "mean time per rank", axis: { labelExpr: TIME_LABEL, tickCount: 5 } },
      color: {
        field: "operation",
        type: "nominal",
        legend: { title: null },
        scale: { domain: operations, range: operations.map((_, index) => ["#8a94a0", ...COLOURS][index % (COLOURS.length + 1)]) },
      },
      order: { field: "position", type: "quantitative" },
      tooltip: [
        { field: "of", type: "nominal" },
        { field: "operation", type: "nominal" },
        { field: "seconds", type: "quantitative", title: "mean per rank [s]", format: ".4~g" },
        { field: "share", type: "quantitative", format: ".1%" },
      ],
    },
  };
  return figure("breakdown", "Seconds in computation and in each MPI operation, mean over ranks and replicas; waiting included.", spec, rows, [
    ["of", (row) => row.of],
    ["operation", (row) => row.operation],
    ["mean per rank", (row) => duration(row.seconds), { class: "n" }],
    ["share", (row) => percent(row.share), { class: "n" }],
  ]);
}

function links(answer) {
  if (!answer.links?.length) return element("p", {}, "No link was used: this question has one node.");
  const rows = answer.links;
  const spec = {
    data: { name: "table" },
    height: { step: 26 },
    mark: { type: "bar", color: COLOURS[0] },
    encoding: {
      y: { field: "class", type: "nominal", title: null, sort: null },
      x: { field: "busy_share_max", type: "quantitative", title: "busiest link: share of the time that it is busy", axis: { format: "%" } },
      tooltip: [
        { field: "class", type: "nominal" },
        { field: "busy_share_max", type: "quantitative", title: "busiest link", format: ".2%" },
        { field: "links", type: "quantitative", title: "links with traffic", format: ",.0f" },
      ],
    },
  };
  return figure("links", "How busy the links are, by class; mean over replicas, the busiest link of any.", spec, rows, [
    ["links", (row) => row.class],
    ["with traffic", (row) => number(row.links), { class: "n" }],
    ["busiest link", (row) => percent(row.busy_share_max), { class: "n" }],
    ["bytes", (row) => size(row.bytes), { class: "n" }],
    ["busy time", (row) => duration(row.busy_s), { class: "n" }],
    ["stall time", (row) => duration(row.stall_s), { class: "n" }],
    ["chunks waiting, mean", (row) => number(row.queue_mean_chunks), { class: "n" }],
  ]);
}

function losses(answer) {
  let from = 0;
  const rows = answer.losses.map((row, index) => {
    const start = from;
    from += row.seconds;
    return { ...row, start, end: from, index };
  });
  const spec = {
    data: { name: "table" },
    height: { step: 26 },
    mark: { type: "bar" },
    encoding: {
      y: { field: "part", type: "nominal", title: null, sort: { field: "index" } },
      x: { field: "start", type: "quantitative", title: "time", axis: { labelExpr: TIME_LABEL } },
      x2: { field: "end" },
      color: { condition: { test: "datum.index == 0", value: "#8a94a0" }, value: COLOURS[5] },
      tooltip: [
        { field: "part", type: "nominal" },
        { field: "seconds", type: "quantitative", title: "time [s]", format: ".4~g" },
        { field: "share", type: "quantitative", format: ".1%" },
      ],
    },
  };
  return figure("losses", "The time of this question, part by part.", spec, rows, [
    ["part", (row) => row.part],
    ["time", (row) => duration(row.seconds), { class: "n" }],
    ["share", (row) => percent(row.share), { class: "n" }],
  ]);
}

