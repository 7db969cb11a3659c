"""The parameters of phase 1's classification, declared once: name, default, effect.

The configuration's model and the command line take defaults and bounds from here.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from manynode.errors import UsageError

CRITERIA = ("icl", "bic")
DEFAULT_FEATURES = ("instructions", "ipc", "branches", "loads")
# Of a source that counts no events.
TIME_FEATURES = ("seconds",)


@dataclass(frozen=True)
class ClassifyParameters:
    """Parameters for grouping ranks into classes.

    ``features``: the measured quantities that tell ranks apart (Eyerman et al., section 3.3); one that the source of
    the counters cannot tell is left out and named in the result. ``criterion``: how the number of classes is chosen
    (:mod:`phase1_profile.partition`). ``max_classes``: never more classes than this. ``separation``: two classes differ
    by more than this many times the noise in some feature. ``noise_floor``: counts that differ by less than this share
    are equal, whatever the repetitions say. ``timing_noise_floor``: the same for features that contain time (IPC).
    ``coverage``: the share of ranks whose class must be on one of the representative nodes. ``share_tolerance``: by how
    much the share of a class may change between the profiled node counts before the classes are called unstable.
    """

    features: tuple[str, ...] = DEFAULT_FEATURES
    criterion: str = "icl"
    max_classes: int = 8
    separation: float = 4.0
    noise_floor: float = 0.005
    timing_noise_floor: float = 0.02
    coverage: float = 1.0
    share_tolerance: float = 0.1

    def __post_init__(self) -> None:
        for name, holds, allowed in (
            ("features", len(self.features) > 0, "at least one name"),
            ("criterion", self.criterion in CRITERIA, " or ".join(CRITERIA)),
            ("max_classes", self.max_classes >= 1, "1 or more"),
            ("separation", self.separation >= 0, "0 or more"),
            ("noise_floor", 0 <= self.noise_floor < 1, "0 or more, less than 1"),
            ("timing_noise_floor", 0 <= self.timing_noise_floor < 1, "0 or more, less than 1"),
            ("coverage", 0 < self.coverage <= 1, "more than 0, at most 1"),
            ("share_tolerance", 0 <= self.share_tolerance <= 1, "0 to 1"),
        ):
            if not holds:
                raise UsageError(
                    "a parameter of the classification is out of bounds",
                    where=name,
                    found=repr(getattr(self, name)),
                    allowed=allowed,
                    remedy="correct it in the experiment",
                )

    def as_dict(self) -> dict[str, object]:
        """Return the parameters for a result's record."""
        return {
            field.name: list(value) if isinstance(value := getattr(self, field.name), tuple) else value
            for field in fields(self)
        }
