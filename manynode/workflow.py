"""The configuration for the Snakemake rules: paths, digests, the command of a step.

The parameters of a rule contain the digests of its sections and of its code: Snakemake repeats exactly the steps that a
change affects.
"""

from __future__ import annotations

import hashlib
import math
import shlex
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snakemake.utils import update_config

from manynode.config.application import DERIVED, REPLAY
from manynode.config.loader import resolve
from manynode.config.resolved import Resolved, read_yaml, write_resolved
from manynode.config.skeleton_files import SUFFIX
from manynode.config.studies import Study, studies
from manynode.errors import ManynodeError, UsageError
from manynode.provenance import code_digest
from manynode.qemu.choice import uses_qemu
from manynode.steps import CONTROL, Steps
from manynode.tables import read_json


class Plan:
    """A checked experiment, as the rules use it."""

    def __init__(self, config: Mapping[str, Any], configfiles: list[Any]) -> None:
        """Check the experiment in ``configfiles``, with the values of ``config`` in place of theirs."""
        where = str(configfiles[-1]) if configfiles else "the experiment"
        if not config and not configfiles:
            # Snakemake parses the workflow for --lint and --help without a configuration as well.
            raise SystemExit(
                _say(
                    UsageError(
                        "no experiment was given", where="snakemake", remedy="add --configfile configs/demo.yaml"
                    )
                )
            )
        try:
            base = Path(str(configfiles[-1])).resolve().parent if configfiles else Path.cwd()
            content: dict[str, Any] = {}
            for given in (*(read_yaml(Path(str(file)), "the experiment") for file in configfiles), config):
                update_config(content, given)
            self.experiment: Resolved = resolve(content, where=where, base=base)
        except ManynodeError as error:
            raise SystemExit(_say(error)) from None
        self.root = f"results/{self.experiment.name}"
        self.shell_prefix = f"set -euo pipefail; export PATH={shlex.quote(sysconfig.get_path('scripts'))}:$PATH; "
        self.has_skeleton = self.experiment.application.name is not None
        self.has_own_times = self.experiment.own_times is not None
        self.steps = Steps(self.experiment.content)
        self.studies = studies()
        self.modes = sorted({"ext" if name.startswith("ext") else "no-ext" for name in self.experiment.techniques})

    def path(self, *parts: str) -> str:
        """Return a path below the experiment's results."""
        return "/".join([self.root, *parts])

    def digest(self, step: str) -> str:
        """Return the digest of the sections that ``step`` depends on."""
        return self.steps.digest(step)

    def code(self, *folders: str) -> str:
        """Return the digest of the code in ``folders``."""
        return code_digest(*folders)

    def processes(self, nodes: int, cores: int | None) -> int:
        """Return the number of cores of a point for parallel replicas: its share of the cores is its share of the work.

        Large points then do not continue alone after all others have ended, and small ones start one process.
        """
        share = nodes / (len(self.experiment.techniques) * sum(self.experiment.nodes))
        each = self.cores_of_a_replica
        beside = max(1, math.ceil((cores or 1) * share) // each)
        return each * min(self.experiment.simulate.replicas, beside)

    @property
    def cores_of_a_replica(self) -> int:
        """Return the number of cores that one replica's simulation uses."""
        return self.experiment.simulate.cores_of_replica()

    def cores_of_a_replica_of(self, engine: str | None) -> int:
        """Return the number of cores that one replica's simulation with another engine uses."""
        return self.experiment.simulate.model_copy(update={"engine": engine}).cores_of_replica()

    def study_inputs(self, study: Study) -> list[str]:
        """Return the results that a study's conclusion reads; none if the experiment does not ask for the study."""
        asked = study.asked(self.experiment)
        return [self.path(name) for name in study.inputs(self.experiment)] if asked else []

    def study_cores(self, study: Study, cores: int | None) -> int:
        """Return the number of cores of a study's conclusion: for all its simulations, or as many as there are."""
        wanted = study.processes(self.experiment) if study.asked(self.experiment) else 1
        each = self.cores_of_a_replica if wanted > 1 else 1
        return each * max(1, min(wanted, (cores or wanted * each) // each))

    def study_files(self) -> list[str]:
        """Return the file of each study that the experiment asks for which stands for all of its files."""
        return [self.path(study.files[0].name) for study in self.studies if study.asked(self.experiment)]

    def resampled_results(self) -> list[str]:
        """Return the tables of all points with resampled timing profiles; none without resamples."""
        if not self.experiment.simulate.profile_bootstrap:
            return []
        return [
            self.path(f"resamples/{technique}/nodes-{nodes}.parquet")
            for technique in self.experiment.techniques
            for nodes in self.experiment.nodes
        ]

    def preflight_verdict(self) -> list[str]:
        """Return the verdict of the pre-flight check; none where nothing is projected or checked."""
        checked = self.has_skeleton and self.experiment.simulate.preflight.enabled
        return [self.path("simulate/preflight.json")] if checked else []

    def draw_comparisons(self) -> list[str]:
        """Return the comparisons of drawn times with the simulated node's own, where a skeleton replays such times."""
        simulated = self.has_skeleton and not self.has_own_times and self.experiment.application.name != REPLAY
        return [self.path(f"simulate/draws-{mode}.json") for mode in self.modes] if simulated else []

    def skeleton_verdicts(self) -> list[str]:
        """Return what a derived skeleton is worth at the node counts; none for other applications."""
        derived = self.experiment.application.name == DERIVED
        return [self.path("nodesim/skeleton-verdicts.json")] if derived else []

    def evidence(self) -> str:
        """Return the digest of the derived skeleton's file, an empty text for other applications."""
        if self.experiment.application.name != DERIVED:
            return ""
        path = Path(str(self.experiment.application.parameters["file"])).with_suffix(SUFFIX)
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]

    @property
    def has_control(self) -> bool:
        """Return whether a node is simulated again without sharing: asked for, and by an engine that can share."""
        if self.has_own_times:
            return False
        return self.experiment.nodesim.qemu.control and uses_qemu(self.experiment)[0]

    def control_segments(self, classes: str) -> list[str]:
        """Return the segments of the node that is simulated again; ``classes`` is phase 1's file."""
        mode = self.modes[0]
        node = self.representative_nodes(classes)[0] if mode == "ext" else 0
        return [self.path(f"nodesim/{mode}{CONTROL}/node-{node}/segments.parquet")]

    def job_profiles(self) -> list[str]:
        """Return the timing profiles of the other jobs."""
        return [job.timing_profile for job in self.experiment.simulate.jobs if job.timing_profile]

    def write(self) -> None:
        """Write the resolved experiment, the input of the steps."""
        write_resolved(Path(self.path("experiment.json")), self.experiment)

    def representative_nodes(self, path: str) -> list[int]:
        """Return the nodes that phase 1 chose, from its rank-classes file."""
        return [int(node) for node in read_json(Path(path), "rank-classes/1")["representative_nodes"]]


def _say(error: ManynodeError) -> int:
    print(f"manynode: {error.render()}", file=sys.stderr)
    return error.exit_code
