"""The parameters of phase 2's analysis with their defaults, declared once."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from manynode.config.quantities import Section
from phase2_nodesim.cache_geometry import LastLevel

Share = Annotated[float, Field(ge=0, le=1)]


class FitParameters(Section):
    """Parameters from segments to timing profile."""

    warmup: Annotated[int, Field(ge=0)] = Field(
        default=0, description="executions of each compute phase that are left out at the start, per rank"
    )
    separation: Annotated[float, Field(gt=0, le=10)] = Field(
        default=0.15, description="clusters whose mean times differ by less than this share are one"
    )
    valley: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.5,
        description="two modes are two clusters only where the density between them falls below this share of the "
        "lower mode's",
    )
    dip_significance: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.05, description="the dip test calls times multimodal below this p-value"
    )
    clear_gap: Annotated[float, Field(gt=0)] = Field(
        default=4.0,
        description="where the dip test cannot tell (few times), an empty gap of so many standard deviations within "
        "the clusters splits as well",
    )
    min_samples: Annotated[int, Field(ge=4)] = Field(default=10, description="a phase with fewer times is one cluster")
    min_cluster_share: Share = Field(default=0.01, description="a cluster with a smaller share joins its neighbour")
    min_cluster_count: Annotated[int, Field(ge=1)] = Field(
        default=3, description="a cluster with fewer times joins its neighbour"
    )
    max_clusters: Annotated[int, Field(ge=1, le=32)] = Field(default=8, description="components of the mixture")
    bins: Annotated[int, Field(ge=1, le=100)] = Field(
        default=100, description="of each cluster's cumulative distribution"
    )
    tolerance: Share = Field(
        default=0.05, description="share of executions that may differ from a pattern that is still one"
    )
    min_repeats: Annotated[int, Field(ge=2)] = Field(default=2, description="a pattern is repeated at least so often")
    max_prefix: Annotated[int, Field(ge=0)] = Field(
        default=16, description="executions before a pattern begins (initialisation), at most"
    )
    max_sequence: Annotated[int, Field(ge=1)] = Field(
        default=10_000, description="executions of a series that all ranks have in common, at most"
    )
    least_common: Share = Field(
        default=0.1,
        description="least share of the variance within ranks that all ranks have in common at an execution, and that "
        "no repeated pattern explains, to be replayed as levels",
    )
    left_common: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.002, description="share of the common variance that may be left within the levels"
    )
    max_levels: Annotated[int, Field(ge=1, le=64)] = Field(default=32, description="levels of a common series, at most")
    least_order: Share = Field(
        default=0.1,
        description="least share of the variance within levels that an earlier execution of the rank explains, for a "
        "replayed rank to take the order of a simulated one",
    )
    significance: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=1e-4, description="chance below which a repetition in a random series would have to be, to be a pattern"
    )
    tail: Annotated[float, Field(ge=0.5, lt=1)] | None = Field(
        default=None, description="share of a cluster's times above which a tail is fitted; none: no tails"
    )
    min_exceedances: Annotated[int, Field(ge=10)] = Field(
        default=30, description="a cluster with fewer times above that has no tail"
    )
    goodness_resamples: Annotated[int, Field(ge=0)] = Field(
        default=199, description="samples of a fitted tail for the p-value of its goodness of fit"
    )


class NodeParameters(Section):
    """Parameters from marker files to segments."""

    last_level: LastLevel = Field(
        default="shared",
        description="what callgrind's LL stands for: the rank's share of the last-level cache (shared), or the second "
        "level (private)",
    )
