"""Names of real counters -> the port, quantity and unit of the table ``router-counters/1``.

Aries (Cray XC; names as PAPI, LDMS and Darshan's module AutoPerf write them, Cray's document S-0045):

- AR_RTR_r_c_INQ_PRF_INCOMING_FLIT_VCv, AR_RTR_r_c_INQ_PRF_ROWBUS_STALL_CNT: network tile of row r (0 to 4) and column
  c (0 to 7), virtual channels v (0 to 7) added up; Zhang et al., table I
- AR_RTR_PT_r_c_INQ_PRF_INCOMING_FLIT_VC0 and VC4, AR_RTR_PT_r_c_INQ_PRF_REQ_ROWBUS_STALL_CNT and RSP: processor tile
  of row 5, what comes from its NIC; Chunduri et al., section II-D
- AR_NL_PRF_REQ_PTILES_TO_NIC_n_FLITS and _STALLED, RSP likewise: what goes to NIC n (0 to 3); Zhang et al., table I
- AR_NL_PRF_REQ_NIC_n_TO_PTILES_FLITS and _STALLED, RSP likewise: what comes from NIC n

Gemini (Cray XE/XK), as LDMS samples them of Cray's gpcdr (``ldms/src/sampler/cray_system_sampler`` of LDMS; Brandt et
al., 2014, section III), by direction X+, X-, Y+, Y-, Z+, Z-:

- X+_SAMPLE_GEMINI_LINK_CREDIT_STALL, _INQ_STALL, _USED_BW: percent of the last interval, with the unit in the name:
  ``(%)``, or ``(% x1e6)`` for millionths of a percent
- X+_credit_stall (ns), X+_inq_stall (ns) (older: X+_stalled (ns)): cumulative, summed over the tiles of the direction,
  of which Gemini has 8 in X and Z and 4 in Y
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from phase3_sst.studies.congestion.counters.counter_table import HOST, IN, NETWORK, OUT

FLITS, STALLS = "flits", "stalls"
STALLED_PCT, CREDIT_STALLED_PCT, USED_PCT = "stalled_pct", "credit_stalled_pct", "used_pct"

# More than a counter can gain in a second: an Aries tile moves at most a flit per clock, which is below 2 GHz.
MOST_FLITS_PER_S = 4e9
_MOST_NS_PER_S = 1.1e9

# Columns 1 to 6 of row 0 and 2 to 5 of row 1 hold the cables between groups of an XC40 (Zhang et al., figure 1).
_OPTICAL = {(0, column) for column in range(1, 7)} | {(1, column) for column in range(2, 6)}
_GEMINI_TILES = {"X": 8, "Y": 4, "Z": 8}

_PREFIX = re.compile(r"^(?:\w+:::)?(?:apxc_|apss_)?", re.IGNORECASE)
_TILE = re.compile(r"^AR_RTR_(\d)_(\d)_INQ_PRF_(INCOMING_FLIT_VC[0-7]|ROWBUS_STALL_CNT)$")
_PROCESSOR_TILE = re.compile(
    r"^AR_RTR_PT_(\d)_(\d)_INQ_PRF_(INCOMING_FLIT_VC[0-7]|(?:REQ|RSP)_ROWBUS_STALL_CNT|ROWBUS_STALL_CNT)$"
)
_TO_NIC = re.compile(r"^AR_NL_PRF_(?:REQ|RSP)_PTILES_TO_NIC_([0-3])_(FLITS|STALLED)$")
_FROM_NIC = re.compile(r"^AR_NL_PRF_(?:REQ|RSP)_NIC_([0-3])_TO_PTILES_(FLITS|STALLED)$")
_SAMPLED = re.compile(r"^([XYZ])([+-])_SAMPLE_GEMINI_LINK_(CREDIT_STALL|INQ_STALL|USED_BW)[ _(]*%([ _]*x1e6)?[_)]*$")
_GPCDR = re.compile(r"^([XYZ])([+-])_(credit_stall|inq_stall|stalled)[ _]*\(ns\)$")
# What looks like a counter of a network, so that one which is not used can be told from a column that is none.
_FAMILY = re.compile(r"^(?:AR_|GM_|[XYZ][+-]_)")


@dataclass(frozen=True)
class Counter:
    """What a column of a source counts.

    ``scale`` brings a difference (cumulative) or a sample into the table's unit: flits and stalls as they are, percent.
    A cumulative time [ns] becomes a percentage by its interval. ``most_per_s`` is more than it can gain in a second.
    """

    port: str
    port_class: str
    direction: str
    link_class: str
    quantity: str
    cumulative: bool = True
    scale: float = 1.0
    most_per_s: float = MOST_FLITS_PER_S


def plain(name: str) -> str:
    """Return a counter's name without quotes, PAPI's component (before ``:::``), Darshan's prefix and ``.value``."""
    return _PREFIX.sub("", name.strip().strip('"').strip()).removesuffix(".value")


def known(name: str) -> Counter | None:
    """Return what a counter of this name counts; None where the table has no place for it."""
    name = plain(name)
    if match := _TILE.match(name):
        row, column = int(match[1]), int(match[2])
        if row > 4 or column > 7:
            return None
        kind = "optical" if (row, column) in _OPTICAL else "electrical"
        return Counter(f"{row}_{column}", NETWORK, IN, kind, _quantity(match[3]))
    if match := _PROCESSOR_TILE.match(name):
        return Counter(f"pt_{match[1]}_{match[2]}", HOST, IN, "processor", _quantity(match[3]))
    if match := _TO_NIC.match(name):
        return Counter(f"nic_{match[1]}", HOST, OUT, "processor", _quantity(match[2]))
    if match := _FROM_NIC.match(name):
        return Counter(f"nic_{match[1]}", HOST, IN, "processor", _quantity(match[2]))
    if match := _SAMPLED.match(name):
        quantity = {"CREDIT_STALL": CREDIT_STALLED_PCT, "INQ_STALL": STALLED_PCT, "USED_BW": USED_PCT}[match[3]]
        port = match[1] + match[2]
        return Counter(port, NETWORK, IN, match[1], quantity, cumulative=False, scale=1e-6 if match[4] else 1.0)
    if match := _GPCDR.match(name):
        tiles = _GEMINI_TILES[match[1]]
        quantity = CREDIT_STALLED_PCT if match[3] == "credit_stall" else STALLED_PCT
        most = tiles * _MOST_NS_PER_S
        return Counter(match[1] + match[2], NETWORK, IN, match[1], quantity, scale=1e-7 / tiles, most_per_s=most)
    return None


def like_a_counter(name: str) -> bool:
    """Say whether ``name`` looks like a counter of a network, known here or not."""
    return bool(_FAMILY.match(plain(name)))


def _quantity(what: str) -> str:
    return FLITS if "FLIT" in what else STALLS
