"""Injection control: how a job's NICs delay its chunks (engine fast; Netscope paper, equations 13 to 15)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from manynode.config.quantities import Duration, Section, written

Share = Annotated[float, Field(gt=0, le=1)]


class NoInjectionControl(Section):
    """NICs send as fast as they can."""

    kind: Literal["none"] = Field(default="none", description="No control")


class StaticInjectionControl(Section):
    """NICs send at no more than a fixed share of the line rate."""

    kind: Literal["static"] = Field(description="Fixed injection rate")
    share: Share = Field(
        description="Largest injection rate as a share of the line rate (the lower rate of NIC and host link)"
    )


class AimdInjectionControl(Section):
    """Each NIC lowers its rate while its link stalls, then raises it again; needs flow_control: credits."""

    kind: Literal["aimd"] = Field(
        description="Additive increase, multiplicative decrease, driven by stalls of the NIC's link"
    )
    window: Duration = Field(
        default=written("10 us"), description="Time between two rate changes; choose a few round trips"
    )
    gain: Share = Field(
        default=1 / 16, description="Weight of the last window in the running average of the stalled share"
    )
    sensitivity: float = Field(
        default=0.0,
        ge=0,
        le=1e6,
        description="Delay sensitivity of the job: a higher value lowers the rate less; 0 behaves as DCQCN",
    )
    threshold: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.01, description="The rate falls while the average stalled share is above this, and rises otherwise"
    )
    increase: Share = Field(
        default=0.01, description="Rate increase after each window without stalls, as a share of the line rate"
    )
    least: Share = Field(default=0.01, description="Lowest rate, as a share of the line rate")


InjectionControl = Annotated[
    NoInjectionControl | StaticInjectionControl | AimdInjectionControl, Field(discriminator="kind")
]
