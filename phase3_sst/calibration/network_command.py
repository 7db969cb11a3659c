"""``manynode network``: writes a network of the right size for a job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from manynode.config.network import Network


def network(
    kind: Annotated[str, typer.Argument(help="topology: fat-tree, dragonfly, hyperx or torus", metavar="KIND")],
    nodes: Annotated[int, typer.Option(min=1, help="nodes that the network must have room for")],
    base: Annotated[
        str, typer.Option(help="network that gives links, hosts and latencies: a name in configs/networks or a file")
    ],
    output: Annotated[Path, typer.Option(help="network file to write")],
    ports: Annotated[
        int | None, typer.Option(min=2, max=256, help="ports of a switch [default: the base's, of the same kind]")
    ] = None,
    taper: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            max=1024,
            help="nodes of a switch for each of its ports to other switches; 2 is a 2:1 taper [default: the base's, of "
            "the same kind, else 1]",
        ),
    ] = None,
    bandwidth: Annotated[
        str | None, typer.Option(help="of links and adapters, such as '200 Gbit/s' [default: the base's]")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="replace the file if it exists")] = False,
) -> None:
    """Write a network with the fewest switches that a number of nodes needs."""
    from manynode import tables
    from manynode.config.network import Network
    from manynode.config.resolved import checked
    from manynode.errors import UsageError
    from phase3_sst.calibration.base_network import read_base
    from phase3_sst.calibration.network_file import block, comment

    if output.exists() and not force:
        raise UsageError("the network file exists", where="--output", found=output, remedy="choose another, or --force")
    content = read_base(base)
    old = checked(Network, content, base, "the base network")
    routing = {key: content["topology"][key] for key in ("routing", "ugal_bias") if key in content["topology"]}
    section = _topology(kind, nodes, old, base, ports, taper)
    content["topology"] = section | (routing if old.topology.kind == kind else {})
    for key in ("slow_links", "node_names", "fitted_to"):  # of the base's own machine
        content.pop(key, None)
    if bandwidth is not None:
        links = [content.setdefault("link", {}), *(content.get("link_classes") or {}).values()]
        for link in links:
            link["bandwidth"] = bandwidth
        content.setdefault("host", {})["nic_bandwidth"] = bandwidth
    content["name"] = output.stem
    content["description"] = f"A {kind} for {nodes} nodes with links and hosts as in {old.name}"
    made = checked(Network, content, f"{kind} of {base}", "the new network")
    asked = [f"--nodes {nodes}", *(f"--{name} {value}" for name, value in _given(ports, taper, bandwidth).items())]
    lines = comment([f"Made by: manynode network {kind} {' '.join(asked)} --base {base}"])
    for key in ("name", "description", *(key for key in content if key not in ("name", "description"))):
        lines.extend(block(key, content[key]))
    with tables.replacing(output) as part:
        part.write_text("\n".join(lines) + "\n", encoding="utf-8")
    typer.echo(f"{output}: {_words(made)}")


def _given(ports: int | None, taper: float | None, bandwidth: str | None) -> dict[str, Any]:
    given = {"ports": ports, "taper": taper and f"{taper:g}", "bandwidth": bandwidth and f"'{bandwidth}'"}
    return {name: value for name, value in given.items() if value is not None}


def _topology(kind: str, nodes: int, old: Network, base: str, ports: int | None, taper: float | None) -> dict[str, Any]:
    """Return the section of the smallest topology."""
    from manynode.config.topology import TOPOLOGIES
    from manynode.errors import UsageError

    chosen = TOPOLOGIES.get(kind)
    own = old.topology.ports_and_taper() if old.topology.kind == kind else None
    if not chosen.is_sized:
        allowed = ", ".join(name for name in TOPOLOGIES.names() if TOPOLOGIES.get(name).is_sized)
        raise UsageError("manynode sizes no network of this kind", where="KIND", found=kind, allowed=allowed)
    ports, taper = ports or (own[0] if own else None), taper or (own[1] if own else 1.0)
    if ports is None:
        raise UsageError(
            "the ports of a switch are not known",
            where="--ports",
            found=f"{base} is a {old.topology.kind}, not a {kind}",
            remedy="give --ports",
        )
    if old.host.rail_stride > 1:
        raise UsageError(
            "manynode sizes no network whose nodes have adapters on several switches",
            where=base,
            found=f"host: rail_stride: {old.host.rail_stride}",
            allowed="1",
            remedy="choose another base, or write the file by hand",
        )
    section = chosen.sized(nodes * old.host.rails, ports, taper, old.host.rails)
    if section is None:
        raise UsageError(
            f"no {kind} that manynode sizes has room for so many nodes",
            where="--nodes",
            found=f"{nodes} nodes, switches of {ports} ports, a taper of {taper:g}",
            remedy="give switches more --ports, choose a larger --taper, or another topology",
        )
    return section


def _words(made: Network) -> str:
    from manynode.report.wording import count

    shape = made.topology.ports_and_taper()
    assert shape is not None
    between = made.topology.links() // 2 - made.topology.cables()["host"]
    return (
        f"{count(made.topology.switch_count(), 'switch', 'switches')} with {shape[0]} ports in use, "
        f"{count(between, 'cable')} between them, taper {shape[1]:.3g}, room for {count(made.room(), 'node')}"
    )
