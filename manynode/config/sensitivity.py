"""The sensitivity study of an experiment: network parameters, their values and the plan."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from manynode.config.confirm import SensitivityConfirmSection
from manynode.config.quantities import PositiveInt, Section

# Keys that only phase 3 depends on: any other key would need new timing profiles.
VARIED = (
    *("network", "network.", "simulate.collectives.", "simulate.placement.", "simulate.slow_node."),
    *("simulate.persistent", "simulate.tail"),
)
# Columns of the study's table: no parameter may have such a name.
RESERVED = frozenset(
    (
        "variant technique nodes ranks replicas time_s low_s high_s compute_s relative varied parameter others "
        "extrapolated iterations extrapolation_s"
    ).split()
)

Value = int | float | str | bool
ParameterName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9 _-]*$", max_length=40)]


class SensitivityParameter(Section):
    """One parameter of a sensitivity study: one or more keys that change together, and their values."""

    keys: list[str] = Field(
        min_length=1,
        description="Keys of the experiment below network, simulate.collectives, simulate.placement or "
        "simulate.slow_node, or simulate.persistent or simulate.tail. Several keys take the same value: "
        "[network.link.bandwidth, network.host.nic_bandwidth]. The key network takes names of files",
    )
    values: list[Value] = Field(default_factory=list, description="Values, as in the experiment file")
    low: Value | None = Field(default=None, description="Plan sobol: lower end of a range")
    high: Value | None = Field(default=None, description="Plan sobol: upper end of a range")
    scale: Literal["log", "linear"] = Field(default="log", description="Scale of a range and of the axis of figures")

    @model_validator(mode="after")
    def _keys_and_values(self) -> SensitivityParameter:
        for key in self.keys:
            if not any(key == part or (part.endswith(".") and key.startswith(part)) for part in VARIED):
                raise ValueError(
                    f"keys: {key}: cannot be varied; allowed are keys that only phase 3 uses: network (a file), "
                    "network.*, simulate.collectives.*, simulate.placement.*, simulate.slow_node.*, "
                    "simulate.persistent, simulate.tail"
                )
        if (self.low is None) != (self.high is None):
            raise ValueError("a range needs both 'low' and 'high'")
        if bool(self.values) == (self.low is not None):
            raise ValueError("give either 'values' or a range ('low' and 'high')")
        if len(set(map(str, self.values))) != len(self.values):
            raise ValueError(f"values: a value is given twice: {self.values}")
        return self


class SensitivitySection(Section):
    """How the projected time depends on parameters of the network."""

    nodes: list[PositiveInt] = Field(
        default_factory=list, description="Node counts of the study; empty: the experiment's largest"
    )
    techniques: list[Literal["no-ext-const", "no-ext-var", "ext-const", "ext-var"]] = Field(
        default_factory=list, description="Techniques of the study, among the experiment's; empty: all of them"
    )
    plan: Literal["grid", "one-at-a-time", "sobol"] = Field(
        default="grid",
        description="grid: every combination of the values; one-at-a-time: each parameter alone, with the others as "
        "in the experiment; sobol: Saltelli's sample for Sobol indices",
    )
    samples: PositiveInt = Field(
        default=32,
        description="Plan sobol: base sample size, a power of two; samples x (parameters + 2) variants are simulated",
    )
    enough: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.05, description="A value is enough when no better one saves more than this share of the time"
    )
    parameters: dict[ParameterName, SensitivityParameter] = Field(
        min_length=1, description="Parameters to vary, by the names that tables and figures use"
    )
    confirm: SensitivityConfirmSection | None = Field(
        default=None, description="Points to simulate again with another engine: {engine: sst}"
    )

    @model_validator(mode="after")
    def _belongs_together(self) -> SensitivitySection:
        for name, parameter in self.parameters.items():
            if name in RESERVED:
                raise ValueError(f"parameters: {name!r} is a column of the study's table; choose another name")
            if self.plan != "sobol" and not parameter.values:
                raise ValueError(f"parameters: {name}: the plan {self.plan} needs 'values'; ranges need plan: sobol")
            if len(parameter.values) == 1:
                raise ValueError(f"parameters: {name}: one value shows no dependence; give at least two values")
        keys = [key for parameter in self.parameters.values() for key in parameter.keys]
        for key in keys:
            if keys.count(key) > 1:
                raise ValueError(f"parameters: the key {key} is varied twice")
        if self.plan == "sobol" and self.confirm is not None and self.confirm.points == "corners":
            raise ValueError("confirm: points: samples of the plan sobol have no corners; write 'all'")
        if self.plan == "sobol" and self.samples & (self.samples - 1):
            raise ValueError(f"samples: Sobol's sequence needs a power of two (found {self.samples})")
        for name, values in (("nodes", self.nodes), ("techniques", self.techniques)):
            if len(set(values)) != len(values):
                raise ValueError(f"{name}: an entry is given twice: {values}")
        return self
