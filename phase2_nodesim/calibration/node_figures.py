"""Figures of the node: how many cores, sockets and memory domains it has, and which cores it is."""

from __future__ import annotations

from collections.abc import Mapping

from phase2_nodesim.calibration.figures import Figure, plural
from phase2_nodesim.calibration.host import Host


def cores_of_node(host: Host, asked: int | None, quota: int, notes: list[str]) -> int:
    """Return the number of cores that are the node: those ``asked`` for, or all that the process may keep busy.

    ``quota`` is the number of cores that the process may keep busy. A control group can allow less processor time than
    the cores have; ``notes`` then say so.
    """
    if asked is not None:
        if asked > quota:
            notes.append(
                f"a control group allows the time of {plural(quota)}: {asked} at the same time are slowed down"
            )
        return asked
    if quota < host.cores:
        notes.append(f"a control group allows the time of {plural(quota)}, so only these of {host.cores} are the node")
    return min(host.cores, quota)


def node_figures(host: Host, cores: int) -> dict[str, Figure]:
    """Return sockets, cores and memory domains by key, of a node that is ``cores`` cores of the host."""
    if cores < host.cores:
        return {
            "sockets": Figure(1, "assumed, because only some cores are the node"),
            "cores_per_socket": Figure(cores, f"of {plural(host.cores)} of the host"),
            "memory.domains": Figure(1, "assumed, because only some of the host's cores are the node"),
        }
    domains = Figure(host.domains, "host: its memory nodes with cores of the node")
    if cores % host.domains:
        domains = Figure(1, f"assumed, because {plural(cores)} cannot be divided equally among {host.domains} domains")
    return {
        "sockets": Figure(host.sockets, "host"),
        "cores_per_socket": Figure(cores // host.sockets, "host"),
        "memory.domains": domains,
    }


def inclusion_figure(host: Host, inclusive: bool | None) -> dict[str, Figure]:
    """Return the last level's inclusion by key, from what the processor says; a single cache level has none."""
    if inclusive is None or "l2" not in host.caches:
        return {}
    if inclusive:
        return {"caches.last_level.inclusion": Figure("inclusive", "host: the processor says so")}
    words = "assumed, because the processor says that it is not inclusive: like those of the catalogue"
    return {"caches.last_level.inclusion": Figure("victim", words)}


def within_node(figures: Mapping[str, Figure], cores: int) -> dict[str, Figure]:
    """Return the figures with no cache shared by more than the ``cores`` of the node."""
    return {
        key: Figure(cores, f"host: {figure.value}, but the node has {plural(cores)}")
        if key.endswith(".shared_by") and int(figure.value) > cores
        else figure
        for key, figure in figures.items()
    }
