"""The network file of a calibration: the base's topology, links and latencies, with the fitted host parameters.

In: the base file's mapping and a fit. Out: YAML text without date or path, each value with its unit and its source. The
text is read back with the loader's own model, so an invalid file is never written.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from manynode.config import yaml_text
from manynode.config.network import Network, topology_of
from manynode.config.resolved import validation_error
from manynode.units import render
from phase3_sst.calibration.fit import Base, Fit
from phase3_sst.calibration.pieces import Piece

_DIGITS = 5
_WIDTH = 110


def links_between(network: Mapping[str, Any]) -> int:
    """Return the links between the two nodes that are nearest to each other but not the same."""
    return topology_of(network["topology"]).links_to_nearest(network["host"].get("rails", 1))


def base_of(network: Mapping[str, Any], links: int) -> Base:
    """Return the inputs of a fit from the base ``network`` (SI units), for nodes with ``links`` between them."""
    link, host = network["link"], network["host"]
    classes = network["link_classes"]
    ends = [classes.get(name, link) for name in ("host-up", "host-down")]
    wires = sum(part["latency"] for part in ends) + (links - 2) * link["latency"]
    return Base(
        path_latency_s=wires + (links - 1) * network["switch_latency"],
        nic_latency_s=host["nic_latency"],
        link_bandwidth_Bps=min(part["bandwidth"] for part in (ends if links == 2 else [*ends, link])),
        nic_bandwidth_Bps=host["nic_bandwidth"],
        gap_s=host["gap"],
        eager_limit_bytes=round(host["eager_limit"]),
    )


def read(content: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the network of ``content`` in SI units; invalid content is a usage error."""
    try:
        return Network.model_validate(dict(content)).model_dump(mode="json")
    except ValidationError as error:
        raise validation_error(error, Network, where) from None


def text(
    base: Mapping[str, Any],
    fitted: Fit,
    *,
    name: str,
    description: str,
    fitted_to: str,
    remarks: Sequence[str],
    intranode: tuple[float, float, str, str] | None,
) -> str:
    """Return the file; ``remarks`` are its first lines, ``intranode`` as ``fit.intranode`` returns it."""
    lines = comment(remarks)
    lines.extend([*block("name", name), *block("description", description), *block("fitted_to", fitted_to)])
    for key, value in base.items():
        if key not in ("name", "description", "fitted_to", "host", "intranode"):
            lines.extend(block(key, value))
    lines.extend(_host(base.get("host", {}), fitted))
    if intranode is not None:
        latency, bandwidth, latency_origin, bandwidth_origin = intranode
        lines.append("intranode:")
        lines.extend(_value("latency", render(latency, "time", _DIGITS), latency_origin))
        lines.extend(_value("bandwidth", render(bandwidth, "bandwidth", _DIGITS), bandwidth_origin))
    elif "intranode" in base:
        lines.extend(block("intranode", base["intranode"]))
    result = "\n".join(lines) + "\n"
    read(yaml_text.parse(result), "the calibrated network")
    return result


def _host(base: Mapping[str, Any], fitted: Fit) -> list[str]:
    origin = fitted.origin
    values = {
        "gap": render(fitted.gap_s, "time", _DIGITS),
        "eager_limit": _size(fitted.eager_limit_bytes),
        "nic_bandwidth": render(fitted.nic_bandwidth_Bps, "bandwidth", _DIGITS),
        "nic_latency": render(fitted.base.nic_latency_s, "time", _DIGITS),
    }
    lines = ["host:"]
    for key, pieces in (("overhead_send", fitted.overhead_send), ("overhead_recv", fitted.overhead_recv)):
        lines.extend(comment([origin[key]], indent="  "))
        lines.append(f"  {key}:")
        lines.extend(f"    - {_segment(piece)}" for piece in pieces)
    for key, value in values.items():
        lines.extend(_value(key, value, origin[key]))
    for key, value in base.items():
        if key not in ("overhead_send", "overhead_recv", "overhead_per_byte", *values):
            lines.extend(block(key, value, "  "))
    return lines


def _segment(piece: Piece) -> str:
    base = render(piece.seconds, "time", _DIGITS)
    slope = render(piece.seconds_per_byte, "time_per_size", _DIGITS)
    return f"{{from: {piece.from_bytes} B, time: {base}, per_byte: {slope}}}"


def _size(bytes_: int) -> str:
    return f"{bytes_ // 1024} KiB" if bytes_ % 1024 == 0 and bytes_ else f"{bytes_} B"


def _value(key: str, value: str, origin: str) -> list[str]:
    return [*comment([origin], indent="  "), f"  {key}: {value}"]


def comment(remarks: Sequence[str], indent: str = "") -> list[str]:
    lines: list[str] = []
    for remark in remarks:
        # Tables keep their lines.
        wrapped = [remark] if "\n" in remark or "  " in remark else textwrap.wrap(remark, _WIDTH)
        lines.extend(f"{indent}# {line}".rstrip() for part in wrapped for line in part.splitlines())
    return lines


def block(key: str, value: Any, indent: str = "") -> list[str]:
    """Return ``key: value`` in the style of the shipped files: mappings in blocks, lists in one line, long texts
    folded.
    """
    if isinstance(value, Mapping):
        return [f"{indent}{key}:", *[line for k, v in value.items() for line in block(k, v, indent + "  ")]]
    dumped: str = yaml_text.dump(value, default_flow_style=True, width=10**6, allow_unicode=True)
    dumped = dumped.removesuffix("...\n").strip()
    if isinstance(value, str) and len(dumped) > _WIDTH - len(key):
        # Folding turns each line's end into a space, so hyphenated and long words are not split.
        folded = textwrap.wrap(value, _WIDTH, break_on_hyphens=False, break_long_words=False)
        return [f"{indent}{key}: >-", *[f"{indent}  {line}" for line in folded]]
    return [f"{indent}{key}: {dumped}"]
