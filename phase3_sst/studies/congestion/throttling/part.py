"""The part ``throttling``: static, DCQCN-like and delay-sensitivity aware injection (Netscope, section 5)."""

from __future__ import annotations

from collections.abc import Sequence

from manynode.config.quantities import Section
from phase3_sst.studies.congestion.contract import Findings, Machine, parts
from phase3_sst.studies.congestion.situation import Situation
from phase3_sst.studies.congestion.throttling import throttling_findings, throttling_settings
from phase3_sst.studies.congestion.throttling.throttling_settings import ThrottlingSection


class Throttling:
    """Jobs alone, then side by side under each controller."""

    title = "Holding back what jobs inject"
    section: type[Section] = ThrottlingSection

    def check(self, machine: Machine, settings: ThrottlingSection) -> None:
        """Refuse settings that do not fit the machine."""
        throttling_settings.check(machine, settings)

    def situations(self, machine: Machine, settings: ThrottlingSection, round_number: int) -> Sequence[Situation]:
        """Return the jobs alone, then lengthened congestors, then both together."""
        return throttling_findings.situations(machine, settings, round_number)

    def conclude(self, machine: Machine, settings: ThrottlingSection) -> Findings:
        """Return tails, node-seconds, latency and traffic, and the cost of wrong sensitivities."""
        return throttling_findings.conclude(machine, settings)


parts.register("throttling")(Throttling())
