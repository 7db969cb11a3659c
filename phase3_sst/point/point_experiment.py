"""What the engines read of an experiment: the application's skeleton, its ranks, the network and phase 3's settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, ValidationError

from manynode.config.network import Network
from manynode.config.quantities import RESOLVED, PositiveInt, Section
from manynode.config.resolved import Resolved, validation_error
from manynode.config.simulate import SimulateSection, SkeletonChoice


class PointExperiment(Section):
    """The part of a resolved experiment from which points are simulated; studies also make their own."""

    application: SkeletonChoice = Field(description="Skeleton of the job under study, with all of its parameters")
    ranks_per_node: PositiveInt = Field(description="MPI ranks on each node")
    seed: Annotated[int, Field(ge=0, lt=2**63)] = Field(description="Root seed, also of placements")
    network: Network = Field(description="Network")
    simulate: SimulateSection = Field(description="Settings of phase 3")

    @classmethod
    def of(cls, experiment: Resolved) -> PointExperiment:
        """Return the part of ``experiment``, which must have a skeleton."""
        application = experiment.application
        assert application.name is not None
        return cls(
            application=SkeletonChoice(name=application.name, parameters=application.parameters),
            ranks_per_node=experiment.ranks_per_node,
            seed=experiment.seed,
            network=experiment.network,
            simulate=experiment.simulate,
        )

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> PointExperiment:
        """Return the part of an experiment's JSON (SI units); its other keys are left out.

        A wrong value is a :class:`UsageError`.
        """
        skeleton = {name: content["application"][name] for name in SkeletonChoice.model_fields}
        own = {name: content[name] for name in cls.model_fields}
        try:
            return cls.model_validate({**own, "application": skeleton}, context=RESOLVED)
        except ValidationError as error:
            raise validation_error(error, cls, "the point of a study", "what the engines read") from None
