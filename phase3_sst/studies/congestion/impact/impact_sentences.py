"""The sentences of the part ``impact``: who suffers, from which congestion, the counters, differences to the paper."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from manynode.report.wording import count, listing, number, percent
from phase3_sst.studies.congestion.impact.evaluate import rank_correlation
from phase3_sst.studies.congestion.impact.paper import MEASURED, SIGNIFICANT, UNCHANGED

# P-value below which a correlation is reported.
_SURE = 0.05
_LEAST = 3
# Ratio of host-port to network-port stalls above which the hosts count as a separate bottleneck.
_NOTICED = 0.1


def sentences(tables: Mapping[str, pd.DataFrame], skeletons: Mapping[str, str]) -> list[str]:
    """Return what the tables (by name, of :mod:`.evaluate`) tell; ``skeletons`` is workload -> skeleton."""
    said = []
    sensitivity, pressure = tables["sensitivity"], tables["pressure"]
    if len(sensitivity):
        said += [_who(sensitivity), _kinds(sensitivity), _compact(sensitivity), *_counters(tables["correlations"])]
        said.append(_bottleneck(tables["correlations"], tables["runs"]))
        said += [_predicted(tables["predictors"]), *_paper(sensitivity, skeletons)]
    if len(pressure):
        said.append(_pressure(pressure))
    return [sentence for sentence in said if sentence]


def _who(table: pd.DataFrame) -> str:
    known = table.dropna(subset=["endpoint"]).sort_values("endpoint", ascending=False)
    if known.empty:
        return "No application has runs both with and without a congestor beside its nodes (settings II and IV)."
    times = listing([f"{row.application} {number(row.endpoint)} times" for row in known.itertuples()])
    suffer = list(known["application"][known["endpoint"] >= SIGNIFICANT])
    unchanged = list(known["application"][known["endpoint"] < UNCHANGED])
    text = f"With a congestor on the nodes between its own (IV against II) an application takes longer: {times}."
    if suffer:
        text += f" Significantly, by at least {percent(SIGNIFICANT - 1)}: {listing(suffer)}."
    if unchanged:
        text += f" Within {percent(UNCHANGED - 1)}: {listing(unchanged)}."
    return text


def _kinds(table: pd.DataFrame) -> str:
    known = table.dropna(subset=["endpoint", "intermediate"])
    if known.empty:
        return ""
    worse = known[known["endpoint"] > known["intermediate"]]
    medians = f"{number(known['endpoint'].median())} against {number(known['intermediate'].median())} times"
    text = (
        f"Congestion at the endpoints (IV against II) hurts more than on the way (III against I) for {len(worse)} of "
        f"{count(len(known), 'application')}; the medians over the applications are {medians}."
    )
    others = known[known["endpoint"] <= known["intermediate"]]
    if len(others):
        close = [name for name in others["application"] if _overlap(others[others["application"] == name].iloc[0])]
        text += f" Not for {listing(list(others['application']))}"
        text += f" (within the intervals for {listing(close)})." if close else "."
    return text


def _overlap(row: pd.Series) -> bool:
    return bool(row["endpoint_high"] >= row["intermediate_low"])


def _compact(table: pd.DataFrame) -> str:
    known = table.dropna(subset=["spacing", "spacing_congested"])
    if known.empty:
        return ""
    better = int((known["spacing_congested"] > 1).sum())
    every, congested = count(len(known), "application"), number(known["spacing_congested"].median())
    return (
        f"With a congestor {better} of {every} run faster on consecutive nodes than on every other one; spaced, they "
        f"take {congested} times as long (median, IV against III), without a congestor "
        f"{number(known['spacing'].median())} times (II against I)."
    )


def _counters(table: pd.DataFrame) -> list[str]:
    said = []
    for metric, name, paper in (
        ("stall_flit_ratio", "the stall/flit ratio of network ports", "positive in the paper"),
        ("host_stalls_per_s", "the stalls per second of host ports", "negative in the paper"),
        ("host_flits_per_s", "the flits per second of host ports", "negative in the paper's explanation"),
    ):
        known = table[(table["metric"] == metric)].dropna(subset=["r"])
        if known.empty:
            if metric == "host_stalls_per_s":
                said.append(f"Run time and {name} ({paper}): these values do not differ, and there is no correlation.")
            continue
        positive, negative = known[known["r"] > 0], known[known["r"] < 0]
        sure = int((known["p"] < _SURE).sum())
        said.append(
            f"Run time and {name} ({paper}): r is positive for {len(positive)} and negative for {len(negative)} of "
            f"{count(len(known), 'application')}, {number(known['r'].min())} to {number(known['r'].max())}; p is below "
            f"{_SURE} for {sure}."
        )
    return said


def _bottleneck(table: pd.DataFrame, runs: pd.DataFrame) -> str:
    """Return why host ports' stalls rise with the run time, where they do: the paper says that they fall.

    They fall where links between routers hold the traffic back before it reaches the hosts (Zhang et al., IV-B).
    """
    own = table[(table["metric"] == "host_stalls_per_s") & (table["r"] > 0)]
    known = runs[runs["application"].isin(own["application"]) & (runs["setting"] == "IV")]
    network = float(known["network_stalls_per_s"].median())
    if known.empty or network <= 0:
        return ""
    ratio = float(known["host_stalls_per_s"].median()) / network
    text = f"Where it is positive ({listing(list(own['application']))}), unlike in the paper, "
    much = (
        f"in setting IV ports to the application's nodes stall {number(ratio)} times as much as network ports (medians)"
    )
    if ratio < _NOTICED:
        return f"{text}it is so on few stalls: {much}, so that network ports are the bottleneck, as in the paper."
    return f"{text}the last link to a node is a bottleneck beside those between routers: {much}."


def _predicted(table: pd.DataFrame) -> str:
    own = table[table["sensitivity"] == "endpoint"].dropna(subset=["rho"]).set_index("predictor")
    if own.empty:
        return "Too few applications differ to say whether their share of MPI predicts the slowdown."
    names = {"mpi_share": "in MPI", "collective_share": "in collectives", "allreduce_share": "in MPI_Allreduce"}
    parts = [f"{names[name]} {number(row.rho)} (p = {number(row.p)})" for name, row in own.iterrows()]
    return (
        f"The rank correlation of the slowdown by endpoint congestion with the share of time that an application "
        f"spends, without congestor, is {listing(parts)}, over {count(int(own['n'].max()), 'application')}."
    )


def _paper(table: pd.DataFrame, skeletons: Mapping[str, str]) -> list[str]:
    """Return where the simulation agrees with the paper, and the reason the data give where it does not."""
    said, agree = [], []
    for row in table.dropna(subset=["endpoint"]).itertuples():
        measured = MEASURED.get(skeletons.get(row.application, ""))
        if measured is None:
            continue
        suffers = row.endpoint >= SIGNIFICANT
        if suffers == measured.suffers or (not measured.suffers and row.endpoint < UNCHANGED):
            agree.append(row.application)
            continue
        expected = "suffers" if measured.suffers else "hardly changes"
        here = f"{number(row.endpoint)} times here"
        text = f"{row.application} differs from the paper, where {measured.name} {expected}: {here}."
        shares = f"{percent(row.mpi_share)} of its time in MPI here, {percent(measured.mpi_share)} there"
        if (row.mpi_share < measured.mpi_share) == measured.suffers:
            text += f" A reason in the data: it spends {shares}."
        elif (row.allreduce_share < measured.allreduce_share) == measured.suffers:
            allreduce = (
                f"{percent(row.allreduce_share)} in MPI_Allreduce here, {percent(measured.allreduce_share)} there"
            )
            text += f" A reason in the data: {allreduce}."
        else:
            text += f" Its shares do not explain it ({shares})."
        said.append(text)
    if agree:
        said.insert(0, f"As in the paper: {listing(agree)}.")
    order = _order(table.dropna(subset=["endpoint"]), skeletons)
    return [order, *said] if order else said


def _order(table: pd.DataFrame, skeletons: Mapping[str, str]) -> str:
    """Return whether those that suffer in the paper suffer more than those that do not, pair by pair."""
    measured = {row.application: MEASURED.get(skeletons.get(row.application, "")) for row in table.itertuples()}
    slowdown = dict(zip(table["application"], table["endpoint"], strict=True))
    suffer = [name for name, known in measured.items() if known is not None and known.suffers]
    others = [name for name, known in measured.items() if known is not None and not known.suffers]
    pairs = [(more, less) for more in suffer for less in others]
    if not pairs:
        return ""
    right = [pair for pair in pairs if slowdown[pair[0]] > slowdown[pair[1]]]
    text = (
        f"In {len(right)} of {count(len(pairs), 'pair')} of an application that suffers in the paper and one that does "
        "not, the first one is slowed down more here, too"
    )
    wrong = [f"{more} less than {less}" for more, less in pairs if (more, less) not in right]
    return text + (f"; not {listing(wrong)}." if wrong else ".")


def _pressure(table: pd.DataFrame) -> str:
    text = (
        f"The congestor alone slows its canary {number(table['impact'].min())} to {number(table['impact'].max())} "
        "times "
        f"(99th percentile {number(table['impact_p99'].min())} to {number(table['impact_p99'].max())}) on "
        f"{table['nodes'].min()} to {table['nodes'].max()} nodes"
    )
    known = table[["impact", "stall_flit_ratio"]].dropna()
    if len(known) >= _LEAST and (known.nunique() > 1).all():
        rho, p = rank_correlation(known["impact"], known["stall_flit_ratio"])
        text += (
            f"; the rank correlation of that factor with the stall/flit ratio is {number(rho)} "
            f"(p = {number(p)}, {count(len(known), 'run')})"
        )
    return text + "."
