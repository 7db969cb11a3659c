"""Runs with a known law, for the tests of the variability model."""

from __future__ import annotations

import numpy as np
import pandas as pd

from manynode.seeds import generator
from phase3_sst.studies.congestion.counters.counter_features import NAMES, NODES

MEANS_S = {"a": 10.0, "b": 3.0, "c": 50.0}


def runs(each: int = 60, noise: float = 0.1, applications: str = "ab", seed: int = 1, nodes: int = 16) -> pd.DataFrame:
    """Runs whose time grows with congestion, by one law for all applications.

    Congestion is uniform. The stall/flit ratio shows the congestion, the host flits per second show the application.
    Half of the other statistics are noisy copies, half are noise. ``noise`` is in standard deviations of the run time.
    """
    parts = []
    for place, name in enumerate(applications):
        draw = generator(seed, "runs", name)
        congestion = draw.uniform(0, 1, each)
        mean = MEANS_S[name]
        slower = congestion + noise * congestion.std() * draw.standard_normal(each)
        frame = pd.DataFrame({"run": [f"{name}-{i:04d}" for i in range(each)], "application": name, NODES: nodes})
        frame["run_time_s"] = mean * (1 + 0.2 * slower)
        for index, statistic in enumerate(NAMES):
            scale = 10.0 ** (index % 9)
            told = congestion + 0.05 * draw.standard_normal(each)
            frame[statistic] = scale * (told if index % 2 == 0 else draw.standard_normal(each))
        frame["network_stall_flit_ratio_p75"] = congestion
        frame["host_flits_per_s_mean"] = 1e9 * (place + 1) * (1 + 0.01 * draw.standard_normal(each))
        parts.append(frame)
    return pd.concat(parts, ignore_index=True)


def spread(values: pd.Series) -> float:
    """Population standard deviation."""
    return float(np.std(values.to_numpy()))
