"""How long measured ranks waited for a core, and the share above which their times do not represent the machine.

A rank that is runnable but does not run waits for a core that another thread uses. On the machine each thread has its
own core: this waiting is not compute time of the machine.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

LIMIT = 0.05
"""Share of the compute time. With k busy threads on c cores, each waits for 1 - c/k of its time: one thread too many on
up to 19 cores exceeds the limit. The system's own threads stay below it on a host that has a core for each rank, and
what they take from a rank is no more than other errors of a timing profile."""


class Waiting(BaseModel):
    """The ``share`` of the ranks' compute time in which a rank was runnable but did not run; null: not known.

    ``counted``: the compute times contain that time (wall time); processor time does not.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    share: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None
    counted: bool

    @property
    def oversubscribed(self) -> bool:
        """Whether the times come from an oversubscribed host."""
        return self.counted and self.share is not None and self.share > LIMIT

    def times(self) -> str:
        """Return whose times these are."""
        if not self.counted:
            return "processor time on this host"
        if self.share is None:
            return "this host's; whether ranks waited for its cores is not known"
        return "this host's, oversubscribed" if self.oversubscribed else "this host's own"
