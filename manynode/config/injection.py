"""Injection control: how a job's NICs hold its chunks back (engine fast; the paper is Netscope, equations 13 to 15)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from manynode.config.quantities import Duration, Section, written

Share = Annotated[float, Field(gt=0, le=1)]


class NoInjectionControl(Section):
    """NICs send as fast as they can."""

    kind: Literal["none"] = Field(default="none", description="no control")


class StaticInjectionControl(Section):
    """NICs send at most at a fixed share of the line rate."""

    kind: Literal["static"] = Field(description="a fixed rate")
    share: Share = Field(description="of the line rate, which is the lower one of NIC and host link")


class AimdInjectionControl(Section):
    """Every NIC lowers its rate while its link is stalled and raises it again; needs flow_control: credits."""

    kind: Literal["aimd"] = Field(description="additive increase, multiplicative decrease by stalls of the NIC's link")
    window: Duration = Field(default=written("10 us"), description="between two changes of the rate; some round trips")
    gain: Share = Field(
        default=1 / 16, description="weight of the last window's stalled share in their running average"
    )
    sensitivity: float = Field(
        default=0.0,
        ge=0,
        le=1e6,
        description="delay sensitivity of the job: the higher, the less it is held back; 0: as DCQCN does",
    )
    threshold: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.01, description="average share stalled above which the rate falls; at or below it, it rises"
    )
    increase: Share = Field(default=0.01, description="of the line rate, added after each window without stalls")
    least: Share = Field(default=0.01, description="of the line rate, which the rate does not fall below")


InjectionControl = Annotated[
    NoInjectionControl | StaticInjectionControl | AimdInjectionControl, Field(discriminator="kind")
]
