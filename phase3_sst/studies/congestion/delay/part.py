"""The part ``delay``: latency of messages from stalled links, and delay sensitivity (Netscope, section 4)."""

from __future__ import annotations

from collections.abc import Sequence

from manynode.config.quantities import Section
from phase3_sst.studies.congestion.contract import Findings, Machine, parts
from phase3_sst.studies.congestion.delay import delay_findings, delay_settings
from phase3_sst.studies.congestion.delay.delay_settings import DelaySection
from phase3_sst.studies.congestion.situation import Situation


class Delay:
    """Ping-pongs and applications under drawn congestion, all in one round."""

    title = "Delay of messages, and sensitivity to it"
    section: type[Section] = DelaySection

    def check(self, machine: Machine, settings: DelaySection) -> None:
        """Refuse settings that do not fit the machine."""
        delay_settings.check(machine, settings)

    def situations(self, machine: Machine, settings: DelaySection, round_number: int) -> Sequence[Situation]:
        """Return all situations in the first round."""
        if round_number > 0:
            return []
        return [one.situation for one in situations_of(machine, settings)]

    def conclude(self, machine: Machine, settings: DelaySection) -> Findings:
        """Return the latency model's errors and the sensitivities."""
        return delay_findings.conclude(machine, settings)


def situations_of(machine: Machine, settings: DelaySection) -> list[delay_settings.Drawn]:
    """Return the situations of the part with the draws of each."""
    return [*delay_settings.round_trips(machine, settings), *delay_settings.application_runs(machine, settings)]


parts.register("delay")(Delay())
