"""How sure: the meaning of the interval, the difference of the techniques, the reliability of each phase's results."""

from __future__ import annotations

from manynode.config.application import REPLAY
from manynode.config.own_times import machine_of
from manynode.report.band import band_words, paired_words
from manynode.report.communication import communication
from manynode.report.draws import draws_words
from manynode.report.extrapolation import extrapolation
from manynode.report.flow_control import flow_control_words
from manynode.report.interval_parts import parts_words
from manynode.report.load import Inputs, at_point
from manynode.report.order import order_words
from manynode.report.persistence import persistence_words, variance_split
from manynode.report.scaling_kind import scaling_kind, work_per_rank
from manynode.report.slowest import tail_words
from manynode.report.validation import validated
from manynode.report.waiting import native_words
from manynode.report.wording import count, duration, engine, listing, number, percent


def sureness(inputs: Inputs) -> list[tuple[str, str]]:
    """Return (heading, sentences) on the reliability of the results."""
    statements = [
        ("Band of known errors", band_words(inputs)),
        ("Comparisons", paired_words(inputs)),
        ("Interval", _interval(inputs)),
        ("Iterations", extrapolation(inputs)),
        ("Parts of the interval", parts_words(inputs)),
        ("Flow control", flow_control_words(inputs)),
        ("Techniques", _techniques(inputs)),
        ("Measurements", validated(inputs)),
        ("Communication", communication(inputs)),
        ("Rank classes", _stability(inputs)),
        ("Weak or strong", _scaling(inputs)),
        ("Unlabelled gaps", _gaps(inputs)),
        ("Variability", _variance(inputs)),
        ("Draws", draws_words(inputs.draws)),
        ("Order of times", order_words(inputs.profiles.get(inputs.mode or ""), inputs.phase_labels.labels)),
        ("Persistent differences", persistence_words(inputs)),
        ("Slowest ranks", tail_words(inputs)),
        ("Node model" if inputs.own_times is None else "Compute times", _engine(inputs)),
        (
            "Known limits",
            "docs/limits.md lists what the method and the engines leave out. docs/validation.md says how each part was "
            "checked. Both are in the checkout of manynode.",
        ),
    ]
    unsaid = () if inputs.own_times is None else _OF_MEASURED_TIMES
    return [(heading, text) for heading, text in statements if text and heading not in unsaid]


# What phases 1 and 2 would say of the times that they measure.
_OF_MEASURED_TIMES = (
    *("Parts of the interval", "Rank classes", "Unlabelled gaps", "Variability", "Persistent differences"),
    *("Slowest ranks", "Order of times"),
)


def _largest(inputs: Inputs) -> tuple[str, int] | None:
    if inputs.technique is None or inputs.projection is None:
        return None
    own = inputs.projection[inputs.projection["technique"] == inputs.technique]
    return inputs.technique, int(own["nodes"].max())


def _interval(inputs: Inputs) -> str:
    point = _largest(inputs)
    if point is None or inputs.projection is None:
        return ""
    technique, nodes = point
    row = at_point(inputs.projection, technique, nodes).iloc[0]
    replicas = int(row["replicas"])
    confidence = percent(inputs.experiment.simulate.confidence)
    text = (
        f"The interval is a {confidence} bootstrap interval of the mean over {count(replicas, 'replica')}, "
        "simulations that differ only in the compute times drawn. It covers the chance in the mean, not the error of "
        "the models."
    )
    if replicas < 2:
        return text + " With one replica it has no width: raise simulate: replicas to get one."
    if inputs.makespans is not None:
        times = at_point(inputs.makespans, technique, nodes)["makespan_s"]
        if len(times) and float(times.mean()) > 0:
            low, high = float(times.min()), float(times.max())
            text += (
                f" Single replicas at {count(nodes, 'node')} took {duration(low, 4)} to {duration(high, 4)}, "
                f"a spread of {percent((high - low) / float(times.mean()))}."
            )
    return text


def _techniques(inputs: Inputs) -> str:
    point = _largest(inputs)
    if point is None or inputs.projection is None:
        return ""
    technique, nodes = point
    at = inputs.projection[inputs.projection["nodes"] == nodes].sort_values("time_s", kind="stable")
    if len(at) < 2:
        ranks = " and of external ranks" if inputs.own_times is None else ""
        text = f"Only {technique} was projected: the influence of variability{ranks} is not known here."
    else:
        low, high = at.iloc[0], at.iloc[-1]
        spread = percent(float(high["time_s"]) / float(low["time_s"]) - 1) if float(low["time_s"]) > 0 else "unknown"
        text = (
            f"At {count(nodes, 'node')} the {len(at)} techniques project {duration(float(low['time_s']))} "
            f"({low['technique']}) to {duration(float(high['time_s']))} ({high['technique']}), {spread} apart."
        )
    planned = [name for name in inputs.experiment.techniques if name not in set(inputs.projection["technique"])]
    return text + (f" Not yet projected: {listing(planned)}." if planned else "")


def _stability(inputs: Inputs) -> str:
    classes = inputs.classes
    if classes is None:
        return ""
    text = (
        f"Phase 1 found {count(len(classes.classes), 'class', 'classes')} of ranks; its representative nodes cover "
        f"{percent(classes.coverage)} of the ranks."
    )
    if classes.stability is not None:
        profiled = listing([str(n) for n in sorted(classes.nodes_profiled)])
        where = f" over the profiled job sizes ({profiled} nodes)" if profiled else ""
        verdict = {True: "are stable", False: "are NOT stable", None: "were not checked"}[classes.stability.stable]
        text += f" The classes {verdict}{where}"
        reasons = "; ".join(reason.rstrip(".") for reason in classes.stability.reasons)
        text += f": {reasons}." if reasons else "."
    if classes.source:
        reason = f" ({classes.source_reason})" if classes.source_reason else ""
        text += f" Counters came from {classes.source}{reason}."
    if classes.noise is not None and classes.noise.relative:
        parts = [f"{name} {percent(value)}" for name, value in classes.noise.relative.items()]
        text += f" Differences below the noise are ignored: {listing(parts)}."
    return text


def _scaling(inputs: Inputs) -> str:
    if inputs.counters is None or inputs.projection is None:
        return ""
    measured = int(inputs.resolved["nodesim"]["nodes"])
    return scaling_kind(work_per_rank(inputs.counters), set(inputs.projection["nodes"]), measured).words


def _gaps(inputs: Inputs) -> str:
    profile = inputs.profiles.get(inputs.mode or "")
    if profile is None or profile.compute_s <= 0:
        return ""
    skipped = percent(profile.skipped_s / profile.compute_s)
    segments = inputs.segments.get(inputs.mode or "")
    if segments is not None and "labelled" in segments and not segments["labelled"].any():
        return (
            "No compute phase has a name of its own; all are listed by their call sites below. MPI_Pcontrol(1, "
            f'"name") in the application names a phase. The warm-up, which is left out, has {skipped} of the compute '
            "time."
        )
    if inputs.experiment.application.name == REPLAY:
        return ""  # the replay has all phases of the recorded run
    return (
        f"{skipped} of the simulated node's compute time lies in warm-up and in unlabelled gaps between MPI calls. No "
        "skeleton replays it, and the projection does not contain it."
    )


def _variance(inputs: Inputs) -> str:
    profile = inputs.profiles.get(inputs.mode or "")
    if profile is None:
        return ""
    split = variance_split(profile)
    if split.total <= 0:
        return "The compute times of the simulated node do not vary within their phases."
    text = "Compute times vary around the mean of their cluster."
    repeated = split.between + split.within
    shares = (
        f"{percent(split.between / repeated)} lies between ranks and {percent(split.within / repeated)} within a rank. "
        "The first share says how the ranks' mean times differ, the second how the executions of one rank differ."
        if repeated > 0
        else ""
    )
    if split.once > 0:
        text += (
            f" {percent(split.once / split.total)} of this variance lies in phases that a rank executes once, where a "
            "slow rank and a slow moment look alike."
        )
        if shares:
            text += f" The other {percent(repeated / split.total)} lies in phases that a rank executes several times."
            text += f" In that part, {shares}"
    else:
        text += f" In this variance, {shares}"
    phases = [phase for part in profile.classes for phase in part.phases]
    ways = sum(len(phase.clusters) > 1 for phase in phases)
    patterns = sum(phase.pattern.kind == "sequence" for phase in phases)
    return (
        f"{text} {number(ways)} of {count(len(phases), 'phase')} (each class counted) have several clusters of times, "
        f"and {number(patterns)} follow a repeated pattern."
    )


def _engine(inputs: Inputs) -> str:
    profile = inputs.profiles.get(inputs.mode or "")
    if profile is None:
        return ""
    if inputs.own_times is not None:
        return (
            f"Compute times are the user's own, from {inputs.own_times.source}, of the machine "
            f"{machine_of(inputs.resolved)}. Nothing was measured or simulated here for them. Within a phase they are "
            "drawn from a log-normal distribution with the given mean and spread; a rank keeps its share of the spread."
        )
    simulated = len(profile.simulated_ranks)
    how = (
        f"beside {count(profile.ranks - simulated, 'external rank')} that ran natively"
        if profile.external
        else "without external ranks"
    )
    words = {
        "native": native_words(inputs) if profile.engine == "native" else "",
        "valgrind": " They are an approximation: the interval model (docs/concepts/interval-model.md) turns counts of "
        "instructions, cache misses and branch misses into times.",
        "qemu": " They are those of a model of the node's cores, shared caches and memory "
        "(docs/concepts/node-model.md).",
    }
    return (
        f"Compute times come from the engine {engine(profile.engine, profile.engine_version)}: "
        f"{count(simulated, 'rank')} simulated {how}.{words.get(profile.engine, '')}"
    )


def missing(inputs: Inputs) -> list[str]:
    """Return a sentence for each part that the results do not have: what, why, how to get it."""
    again = f"'manynode run' with the experiment {inputs.experiment.name}"
    sentences = []
    if inputs.classes is None:
        sentences.append(f"There are no rank classes: phase 1 has not ended. Run {again}; finished steps are kept.")
    if not inputs.profiles:
        sentences.append(f"There is no timing profile: phase 2 has not ended. Run {again}; finished steps are kept.")
    if inputs.projection is None and inputs.experiment.application.name is None:
        sentences.append(
            "There is no projection: the application was given by its command alone, and phase 3 needs a skeleton of "
            "its communication. Write one (docs/tutorial.md, skeletons/) and set application: name. The results below "
            "stay valid."
        )
    elif inputs.projection is None:
        sentences.append(f"There is no projection: phase 3 has not ended. Run {again}; finished steps are kept.")
    elif inputs.breakdown is None:
        sentences.append(f"There is no breakdown into operations: breakdown.parquet is missing. Run {again}.")
    return sentences
